// Measures how much later heads read of what earlier heads write (Elhage et al. 2021): ‖A B‖ / (‖A‖ ‖B‖) by
// Frobenius norms, of the writer's OV circuit and the matrix that the reader reads with.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attention/shown.h"
#include "io/numbers.h"

namespace headlight {

/// Names an input of the later head: its queries, its keys, its values.
enum class CompositionKind { q, k, v };
inline constexpr int kCompositionKinds = 3;
inline constexpr const char* kCompositionNames[] = {"Q", "K", "V"};

struct ComposedPair {
    CompositionKind kind = CompositionKind::q;
    int writer = 0, reader = 0;  // ModelConfig::head_index
    float value = 0;
};

/// Bounds how many pairs of a kind are ranked, for users of the strongest.
inline constexpr int kRankedCompositions = 400;

struct Composition {
    /// [reading heads, writing heads] (ModelConfig::head_index); NaN: no path, or not requested
    Matrix of[kCompositionKinds];
    float random = 0;                                     // value of unrelated matrices: 1 / √d_model
    std::string refusal;                                  // why there is none, or ""
    std::vector<ComposedPair> ranked[kCompositionKinds];  // the strongest of each kind, if ranked
    const Matrix& operator[](CompositionKind kind) const { return of[static_cast<int>(kind)]; }
};

/// Returns the strongest of one kind, or of all.
std::vector<ComposedPair> strongest_compositions(const Composition& composition, int count,
                                                 std::optional<CompositionKind> kind = std::nullopt);
/// Returns the strongest ranked ones of the requested kinds.
std::vector<ComposedPair> strongest_ranked(const Composition& composition, int count,
                                           const std::array<bool, kCompositionKinds>& kinds);

/// Computes all pairs of heads, or (`with`) those of one head with all others, block by block; exactly, in
/// products of width d_head: ‖W_V W_O W_Q W_Kᵀ‖² is a trace of d_head × d_head. Includes the weights of norms
/// in the matrices that read through them; ignores post-norms between heads. Requires weights. Calls `step`
/// (or null) composition_steps() times, with the pairs so far.
using CompositionStep = std::function<void(const Composition& so_far)>;
Result<Composition> composition(const Model& model, std::optional<AttentionHead> with, ThreadPool& pool,
                                const CancelFlag* cancel = nullptr, const CompositionStep& step = nullptr);
int composition_steps(const ModelConfig& config, std::optional<AttentionHead> with);
/// Counts the multiplications and additions of all pairs.
double composition_cost(const ModelConfig& config);

/// Says how long to wait for all pairs: some seconds, as a window does, or some minutes.
enum class Patience { some_seconds, long_wait };
bool composes_within(const ModelConfig& config, Patience patience);

/// Requests all pairs, ranked, if that takes no longer; else the answer is a refusal with a remedy.
struct CompositionRequest {
    using Answer = Composition;
    Patience patience = Patience::some_seconds;
    bool operator==(const CompositionRequest&) const = default;
};
Result<Composition> model_composition(const Model& model, ThreadPool& pool, const CancelFlag* cancel,
                                      Patience patience = Patience::some_seconds,
                                      const CompositionStep& step = nullptr);
/// Ranks the strongest pairs of each kind.
void rank_pairs(Composition& composition);
Result<Composition> answer_composition(const Trace& trace, const CompositionRequest& request,
                                       ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// Makes a table for each kind; rows read, columns write.
std::vector<NumberTable> composition_numbers(const Composition& composition, const ModelConfig& config);

}  // namespace headlight

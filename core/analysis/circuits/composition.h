// How much later heads read of what earlier heads write (Elhage et al. 2021): ‖A B‖ / (‖A‖ ‖B‖) by Frobenius
// norms, of the OV circuit of the one and what the other reads with.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attention/shown.h"
#include "io/numbers.h"

namespace headlight {

/// Which reading of the later head: its queries, its keys, its values.
enum class CompositionKind { q, k, v };
inline constexpr int kCompositionKinds = 3;
inline constexpr const char* kCompositionNames[] = {"Q", "K", "V"};

/// A pair of heads, and how it composes.
struct ComposedPair {
    CompositionKind kind = CompositionKind::q;
    int writer = 0, reader = 0;  // ModelConfig::head_index
    float value = 0;
};

/// How many of a kind are ranked for who looks at the strongest.
inline constexpr int kRankedCompositions = 400;

struct Composition {
    Matrix of[kCompositionKinds];  // [heads that read, heads that write] (ModelConfig::head_index); NaN: no
                                   // way leads from the one to the other, or it was not asked for
    float random = 0;     // what matrices that have nothing to do with each other give: 1 / √d_model
    std::string refusal;  // why there is none, or ""
    std::vector<ComposedPair>
        ranked[kCompositionKinds];  // the strongest of each kind, where they were ranked
    const Matrix& operator[](CompositionKind kind) const { return of[static_cast<int>(kind)]; }
};

/// The strongest of one kind, or of all.
std::vector<ComposedPair> strongest_compositions(const Composition& composition, int count,
                                                 std::optional<CompositionKind> kind = std::nullopt);
/// The strongest of those that were ranked, of the kinds that are wanted.
std::vector<ComposedPair> strongest_ranked(const Composition& composition, int count,
                                           const std::array<bool, kCompositionKinds>& kinds);

/// All pairs of heads, or (`with`) those of one head with all others, block by block; in products of d_head
/// width, which are exact: ‖W_V W_O W_Q W_Kᵀ‖² is a trace of d_head × d_head. The gains of norms are in the
/// matrices that read through them; of post-norm models norms stand between heads and are left out. The
/// model must have weights. `step` (or null) is called composition_steps() times.
Result<Composition> composition(const Model& model, std::optional<AttentionHead> with, ThreadPool& pool,
                                const CancelFlag* cancel = nullptr,
                                const std::function<void()>& step = nullptr);
int composition_steps(const ModelConfig& config, std::optional<AttentionHead> with);
/// Multiplications and additions that all pairs take.
double composition_cost(const ModelConfig& config);

/// How long someone waits for all pairs: some seconds, as a window does, or some minutes.
enum class Patience { some_seconds, long_wait };
bool composes_within(const ModelConfig& config, Patience patience);

/// All pairs, ranked, where that takes no longer; else a refusal that says what helps.
struct CompositionRequest {
    using Answer = Composition;
    Patience patience = Patience::some_seconds;
    bool operator==(const CompositionRequest&) const = default;
};
Result<Composition> model_composition(const Model& model, ThreadPool& pool, const CancelFlag* cancel,
                                      Patience patience = Patience::some_seconds,
                                      const std::function<void()>& step = nullptr);
Result<Composition> answer_composition(const Trace& trace, const CompositionRequest& request,
                                       ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// A table for each kind; rows read, columns write.
std::vector<NumberTable> composition_numbers(const Composition& composition, const ModelConfig& config);

}  // namespace headlight

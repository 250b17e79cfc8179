// How much later heads read of what earlier heads write (Elhage et al. 2021): ‖A B‖ / (‖A‖ ‖B‖) by Frobenius
// norms, of the OV circuit of the one and what the other reads with.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/shown.h"
#include "io/numbers.h"

namespace headlight {

/// Which reading of the later head: its queries, its keys, its values.
enum class CompositionKind { q, k, v };
inline constexpr int kCompositionKinds = 3;
inline constexpr const char* kCompositionNames[] = {"Q", "K", "V"};

struct Composition {
    Matrix of[kCompositionKinds];  // [heads that read, heads that write] (ModelConfig::head_index); NaN: no
                                   // way leads from the one to the other, or it was not asked for
    float random = 0;     // what matrices that have nothing to do with each other give: 1 / √d_model
    std::string refusal;  // why there is none, or ""
    const Matrix& operator[](CompositionKind kind) const { return of[static_cast<int>(kind)]; }
};

/// A pair of heads, and how it composes.
struct ComposedPair {
    CompositionKind kind = CompositionKind::q;
    int writer = 0, reader = 0;  // ModelConfig::head_index
    float value = 0;
};
/// The strongest of one kind, or of all.
std::vector<ComposedPair> strongest_compositions(const Composition& composition, int count,
                                                 std::optional<CompositionKind> kind = std::nullopt);

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

/// All pairs, where that takes a window no more than some seconds; else a refusal that says what helps.
struct CompositionWanted {
    using Answer = Composition;
    bool operator==(const CompositionWanted&) const = default;
};
Result<Composition> model_composition(const Model& model, ThreadPool& pool, const CancelFlag* cancel);
Result<Composition> answer(const Trace& trace, const CompositionWanted& wanted, ThreadPool& pool,
                           const CancelFlag* cancel = nullptr);

/// A table for each kind; rows read, columns write.
std::vector<NumberTable> composition_numbers(const Composition& composition, const ModelConfig& config);

}  // namespace headlight

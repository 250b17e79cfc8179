// Path patching (Wang et al. 2022, "Interpretability in the Wild", section 3.1; Goldowsky-Dill et al. 2023):
// cuts one path of a run and keeps all others. An effect is metric(clean) − metric(cut), in the metric's
// unit; `metric` is resolved. Every function fails where `cancel` was set.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analysis/prediction/metric.h"

namespace headlight {

/// Whether a receiver is computed after a sender, in the same stack: only then is there a path.
bool reads_later(const ModelConfig& config, AttentionHead sender, AttentionHead receiver);

/// Cuts the path of each head straight to the answer: its z is 0, every later attention block still adds its
/// clean output, and the MLPs between are recomputed.
Result<std::vector<float>> direct_effects(const Trace& clean, const Metric& metric,
                                          std::span<const AttentionHead> senders, ThreadPool& pool,
                                          const CancelFlag* cancel = nullptr);

/// Ablates each head: its z is 0, and all that follows is recomputed.
Result<std::vector<float>> ablation_effects(const Trace& clean, const Metric& metric,
                                            std::span<const AttentionHead> heads, ThreadPool& pool,
                                            const CancelFlag* cancel = nullptr);

/// What a receiver reads from the residual stream that lacks the sender.
enum class ReadPart { all, queries, keys, values };
struct PathReceiver {
    AttentionHead head;
    ReadPart part = ReadPart::all;
};
/// Cuts the path from one head into others, one at a time: the receiver reads a residual stream that lacks
/// the sender (later attention as in the clean run, MLPs recomputed), and all that follows the receiver is
/// recomputed.
Result<std::vector<float>> effects_through(const Trace& clean, const Metric& metric, AttentionHead sender,
                                           std::span<const PathReceiver> receivers, ThreadPool& pool,
                                           const CancelFlag* cancel = nullptr);

/// Cuts the path from a token into a head: the head may not attend to it.
struct TokenPath {
    int token = 0;  // of the head's keys
    AttentionHead head;
};
Result<std::vector<float>> token_effects(const Trace& clean, const Metric& metric,
                                         std::span<const TokenPath> paths, ThreadPool& pool,
                                         const CancelFlag* cancel = nullptr);

/// The clean run with heads' z set to 0: the listed ones, or all others.
enum class Ablate { listed, others };
Result<std::shared_ptr<const Trace>> without_heads(const Trace& clean, std::span<const AttentionHead> heads,
                                                   Ablate which, ThreadPool& pool,
                                                   const CancelFlag* cancel = nullptr);

}  // namespace headlight

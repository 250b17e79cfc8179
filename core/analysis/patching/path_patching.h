// Path patching (Wang et al. 2022, "Interpretability in the Wild", section 3.1; Goldowsky-Dill et al. 2023):
// cuts one path of a run and keeps all others.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analysis/prediction/metric.h"

namespace headlight {

/// Whether a receiver is computed after a sender, in the same stack: only then is there a path.
bool reads_later(const ModelConfig& config, AttentionHead sender, AttentionHead receiver);

/// Selects which of a receiver's inputs lack the sender.
enum class ReadPart { all, queries, keys, values };
struct PathReceiver {
    AttentionHead head;
    ReadPart part = ReadPart::all;
};

/// A token that a head may not attend to.
struct TokenPath {
    int token = 0;  // of the head's keys
    AttentionHead head;
};

/// The heads to ablate: the listed ones, or all others.
enum class Ablate { listed, others };

/// Cuts paths of one run. An effect is metric(clean) − metric(cut), in the unit of `metric`, which is
/// resolved. Every function fails where `cancel` was set.
class PathCuts {
public:
    /// `clean`, `metric`, `pool` and `cancel` outlive this.
    PathCuts(const Trace& clean, const Metric& metric, ThreadPool& pool, const CancelFlag* cancel = nullptr);

    const MetricValues& clean_values() const { return values_; }

    /// Cuts the path of each head straight to the answer: its z is 0, every later attention block still adds
    /// its clean output, and the MLPs between are recomputed.
    Result<std::vector<float>> direct_effects(std::span<const AttentionHead> senders);

    /// Cuts the path from one head into others, one at a time: the receiver reads a residual stream that
    /// lacks the sender (later attention as in the clean run, MLPs recomputed), and all that follows the
    /// receiver is recomputed.
    Result<std::vector<float>> effects_through(AttentionHead sender, std::span<const PathReceiver> receivers);

    /// Cuts the path from a token into a head by masking it there.
    Result<std::vector<float>> token_effects(std::span<const TokenPath> paths);

    Result<MetricValues> without_heads(std::span<const AttentionHead> heads, Ablate which);

private:
    using Changes = std::vector<Change>;
    const std::shared_ptr<const Matrix>& clean_output(int block);
    void cut(AttentionHead sender, Changes& changes);
    Matrix received(const Trace& cut, const PathReceiver& to);
    template <class Make>
    Result<std::vector<float>> effects_of(int count, const Make& make);

    const Trace& clean_;
    const Metric& metric_;
    ThreadPool& pool_;
    const CancelFlag* cancel_;
    MetricValues values_;
    std::vector<std::shared_ptr<const Matrix>> outputs_;  // of each attention block, once it was asked for
};

}  // namespace headlight

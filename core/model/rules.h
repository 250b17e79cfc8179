// The attention rules of one stack: the model's own, with a mask and a person's changes laid over them.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "model/forward.h"

namespace headlight {

/// Made anew for each pass. Self-attention blocks with the same window and scale share what they have in common.
class Rules {
public:
    /// `first_site`: number of the stack's first self-attention block; `source_rows`: tokens that cross-attention reads.
    Rules(const ModelConfig& config, const StackConfig& stack, const StackWeights& weights, const Sequence& input, const Intervention& intervention, int first_site, int source_rows);

    std::shared_ptr<const AttentionRule> self(int layer);
    std::shared_ptr<const AttentionRule> cross(int layer);

private:
    /// Cells of the grid that are allowed or forbidden by hand: query, key, allowed.
    using Painted = std::vector<std::tuple<int, int, bool>>;
    std::shared_ptr<const AttentionRule> with_changes(const std::shared_ptr<const AttentionRule>& rule, int site) const;
    Painted painted(const MaskPlan& mask, int site, int head) const;

    const ModelConfig& config_;
    const StackConfig& stack_;
    const Intervention& intervention_;
    int first_site_, queries_, source_rows_;
    std::vector<int> sentences_;
    PositionBias bias_;
    std::map<std::pair<int, float>, std::shared_ptr<const AttentionRule>> rules_;
    std::shared_ptr<const AttentionRule> cross_;
};

}  // namespace headlight

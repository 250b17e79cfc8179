// Builds the rules of attention of a pass: the model's own, the mask and the user's changes.
#include "model/interventions/rules.h"

#include <algorithm>
#include <map>

#include "base/cast.h"
#include "base/draws.h"
#include "model/interventions/check_changes.h"
#include "model/interventions/patch_change.h"

namespace headlight {

namespace {

class AttentionRuleBuilder {
public:
    AttentionRuleBuilder(const Model& model, size_t stack, std::span<const Sequence> inputs,
                         const Intervention& intervention, const CancelFlag* cancel)
        : config_(model.config),
          stack_(config_.stacks[stack]),
          intervention_(intervention),
          cancel_(cancel),
          first_block_(stack == 0 ? 0 : config_.stacks[0].layers),
          queries_(inputs[stack].size()),
          source_rows_(stack_.cross ? inputs[stack - 1].size() : 0),
          sentences_(sentence_numbers(inputs[stack].tokens, inputs[stack].types, queries_)) {
        const std::vector<int>& ids = inputs[stack].ids;
        for (size_t i = 0; i < ids.size(); ++i)
            if (ids[i] == config_.pad_id && (i > 0 || ids[i] != config_.start_id || !stack_.causal))
                sentences_[i] = kPadding;
        positions_ = changed_positions();
        bias_ = position_bias(model.weights.stacks[stack].relative_bias);
    }

    LayerRules of_layer(int layer) {
        return {self(layer), stack_.cross ? cross(layer) : nullptr, changes_of(first_block_ + layer)};
    }

private:
    using Shared = std::shared_ptr<const AttentionRule>;
    static constexpr int kCross = -1;  // selects cross-attention's own mask instead of a window

    /// Collects the changes outside attention of the layer whose first block is `block`.
    LayerChanges changes_of(int block) const {
        LayerChanges out;
        for (const Change& c : intervention_.changes) {
            if (c.block != block) continue;
            out.no_mlp = out.no_mlp || change_row(c.kind).target == ChangeTarget::mlp;
            if (c.kind == ChangeKind::patch_mlp) out.mlp_out.parts.push_back(given_part(c));
            if (c.kind == ChangeKind::patch_resid || c.kind == ChangeKind::noise)
                out.resid_pre.parts.push_back(given_part(c));
        }
        return out;
    }
    /// Returns the last change of this stack's positions.
    PositionIds changed_positions() const {
        PositionIds out;
        for (const Change& change : intervention_.changes) {
            if (change_row(change.kind).target != ChangeTarget::positions) continue;
            if (!change.concerns(config_, first_block_)) continue;
            out = {change.value == kNoPositions, {}};
            if (!out.off) out.shuffled = shuffled_as_it_grows(queries_, static_cast<uint32_t>(change.value));
        }
        return out;
    }
    /// Builds the position bias; table: of T5's buckets, or null.
    PositionBias position_bias(const float* table) const {
        PositionBias out;
        if (positions_.off) return out;
        if (config_.positions == PositionScheme::alibi) {
            out = alibi_bias(stack_.heads, queries_);
            if (!positions_.own()) out.by_key = Matrix(out.by_key(Eigen::all, positions_.shuffled));
        }
        if (!table) return out;
        out = bucket_bias(config_.buckets, table, stack_.causal, stack_.heads, queries_);
        out.positions = positions_.shuffled;
        return out;
    }
    Shared self(int layer) {
        const int window = stack_.window(layer);
        const float scale = config_.score_scale(stack_, layer);
        auto& rule = rules_[{window, scale}];
        if (!rule)
            rule = make(MaskPlan::make(intervention_.mask, {stack_.causal, window}, sentences_, cancel_),
                        positions_, bias_, scale);
        return with_changes(rule, first_block_ + layer, window);
    }
    Shared cross(int layer) {
        auto& rule = rules_[{kCross, 0.0f}];
        if (!rule)
            rule = make(MaskPlan::full(queries_, source_rows_), {}, {}, config_.score_scale(stack_, 0));
        return with_changes(rule, first_block_ + stack_.layers + layer, kCross);
    }
    Shared make(MaskPlan mask, const PositionIds& positions, const PositionBias& bias, float scale) const {
        AttentionRule rule;
        rule.mask = std::move(mask);
        rule.positions = positions;
        rule.bias = bias;
        rule.scale = scale;
        rule.cap = config_.score_cap;
        rule.heads = stack_.heads;
        rule.kv_heads = stack_.kv_heads;
        return std::make_shared<const AttentionRule>(std::move(rule));
    }
    Shared with_changes(const Shared& rule, int block, int window);
    std::shared_ptr<const MaskPlan> painted(const MaskPlan& mask, int block, int head, int window);

    const ModelConfig& config_;
    const StackConfig& stack_;
    const Intervention& intervention_;
    const CancelFlag* cancel_;
    int first_block_, queries_, source_rows_;
    std::vector<int> sentences_;
    PositionIds positions_;
    PositionBias bias_;
    std::map<std::pair<int, float>, Shared> rules_;  // by window and scale
    std::map<std::pair<int, std::vector<size_t>>, std::shared_ptr<const MaskPlan>>
        masks_;  // by window and painted cells
};

/// Applies one change to one head; called in the user's order.
void apply(const Change& change, const MaskPlan& mask, HeadRule& head) {
    const ChangeRow& row = change_row(change.kind);
    if (!row.apply) return;  // painted cells and skipped blocks are handled elsewhere
    const HeadRule::Z before = head.z;
    row.apply(change, mask, head);
    if (head.z != before) head.depends_on_every_query = row.depends_on_every_query;
}

/// Paints the rectangles that apply to one head over its mask, in order; null if there are none.
std::shared_ptr<const MaskPlan> AttentionRuleBuilder::painted(const MaskPlan& mask, int block, int head,
                                                              int window) {
    std::vector<size_t> rectangles;
    for (size_t i = 0; i < intervention_.changes.size(); ++i)
        if (intervention_.changes[i].paints() && intervention_.changes[i].concerns(config_, block, head))
            rectangles.push_back(i);
    if (rectangles.empty()) return nullptr;
    auto& plan = masks_[{window, rectangles}];
    if (plan) return plan;
    auto made = std::make_shared<MaskPlan>(mask);
    for (const size_t i : rectangles) {
        if (stopped(cancel_)) break;
        const Change& c = intervention_.changes[i];
        made->set({c.query, c.key, c.queries, c.keys}, c.kind == ChangeKind::unmask);
    }
    return plan = std::move(made);
}

/// Copies the rule of a block and applies the user's changes to it and its heads.
AttentionRuleBuilder::Shared AttentionRuleBuilder::with_changes(const Shared& rule, int block, int window) {
    const auto& changes = intervention_.changes;
    const auto skips = [&](const Change& c) {
        return change_row(c.kind).target == ChangeTarget::attention && c.block == block;
    };
    const auto concerned = [&](const Change& c) {
        return (change_row(c.kind).apply || c.paints()) && c.concerns(config_, block);
    };
    GivenRows given;
    for (const Change& c : changes)
        if (c.kind == ChangeKind::patch_attention && c.block == block) given.parts.push_back(given_part(c));
    const bool skipped = std::any_of(changes.begin(), changes.end(), skips),
               heads = std::any_of(changes.begin(), changes.end(), concerned);
    if (!skipped && !heads && given.empty()) return rule;
    auto own = std::make_shared<AttentionRule>(*rule);
    own->skipped = skipped;
    own->given_out = std::move(given);
    if (heads) own->changed.resize(rule->heads);
    for (int head = 0; head < isize(own->changed) && !stopped(cancel_); ++head) {
        HeadRule& mine = own->changed[head];
        for (const Change& change : changes)
            if (change.concerns(config_, block, head)) apply(change, rule->mask, mine);
        mine.mask = painted(rule->mask, block, head, window);
    }
    return own;
}

}  // namespace

Result<std::vector<std::vector<LayerRules>>> attention_rules(const Model& model,
                                                             std::span<const Sequence> inputs,
                                                             const Intervention& intervention,
                                                             const CancelFlag* cancel) {
    TRY_STATUS(check_changes(model, intervention));
    std::vector<std::vector<LayerRules>> out;
    for (size_t stack = 0; stack < model.config.stacks.size(); ++stack) {
        AttentionRuleBuilder rules(model, stack, inputs, intervention, cancel);
        out.emplace_back();
        for (int layer = 0; layer < model.config.stacks[stack].layers; ++layer) {
            out.back().push_back(rules.of_layer(layer));
            if (stopped(cancel)) return cancelled();
        }
    }
    return out;
}

}  // namespace headlight

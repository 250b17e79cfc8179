// Builds the rules of attention of a pass: the model's own, the mask and the user's changes.
#include "model/interventions/rules.h"

#include <algorithm>
#include <map>
#include <tuple>

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
          weights_(model.weights.stacks.empty() ? std::span<const LayerWeights>()
                                                : model.weights.stacks[stack].layers),
          intervention_(intervention),
          cancel_(cancel),
          first_block_(config_.blocks_of(narrow<int>(stack), 0).front()),
          queries_(inputs[stack].size()),
          source_rows_(stack_.cross() ? inputs[stack_.source].size() : 0),
          sentences_(sentence_numbers(inputs[stack].tokens, inputs[stack].types, queries_)) {
        const std::vector<int>& ids = inputs[stack].ids;
        for (size_t i = 0; i < ids.size(); ++i)
            if (ids[i] == config_.pad_id && (i > 0 || ids[i] != config_.start_id || !stack_.causal))
                sentences_[i] = kPadding;
        positions_ = changed_positions();
    }

    LayerRules of_layer(int layer) {
        const int block = first_block_ + layer;
        return {self(block),
                stack_.cross()    ? cross(layer)
                : stack_.beside() ? self(block + stack_.depth())
                                  : nullptr,
                changes_of(block)};
    }

private:
    using Shared = std::shared_ptr<const AttentionRule>;
    /// Selects a block's own mask by window and chunk; kCross: cross-attention's.
    using OwnMask = std::pair<int, int>;
    static constexpr OwnMask kCross{-1, 0};

    /// Collects the changes outside attention of the layer whose first block is `block`.
    LayerChanges changes_of(int block) const {
        LayerChanges out;
        out.no_mlp = config_.layer_of(block).mlp.none();
        for (const Change& c : intervention_.changes) {
            if (c.block != block) continue;
            out.no_mlp = out.no_mlp || change_row(c.kind).target == ChangeTarget::mlp;
            if (c.kind == ChangeKind::ablate_expert) out.experts_off.push_back(int(c.value));
            if (c.kind == ChangeKind::patch_mlp) out.mlp_out.parts.push_back(given_part(c));
            if (c.kind == ChangeKind::patch_resid || c.kind == ChangeKind::noise)
                out.resid_pre.parts.push_back(given_part(c));
        }
        std::sort(out.experts_off.begin(), out.experts_off.end());
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
    const LayerWeights& weights_of(int layer) const {
        static const LayerWeights none;
        return weights_.empty() ? none : weights_[static_cast<size_t>(layer)];
    }
    /// Builds the position bias of a layer.
    PositionBias position_bias(int layer) const {
        PositionBias out;
        if (positions_.off) return out;
        if (config_.positions == PositionScheme::alibi) {
            out = alibi_bias(config_.alibi, stack_.layers[layer].attention.heads, queries_);
            if (!positions_.own()) out.by_key = Matrix(out.by_key(Eigen::all, positions_.shuffled));
        }
        const float* table = weights_of(layer).relative_bias;
        if (!table) return out;
        out = bucket_bias(config_.buckets, table, stack_.causal, stack_.layers[layer].attention.heads,
                          queries_);
        out.positions = positions_.shuffled;
        return out;
    }
    /// Returns the terms of a block's scores that read distances.
    DisentangledBias disentangled(const AttentionSpec& attention, const AttentionWeights& w) const {
        const auto& spec = attention.disentangled;
        if (!spec || positions_.off) return {};
        return disentangled_bias(*spec, w, queries_, positions_.shuffled);
    }
    /// Builds the rule of a block that reads its own stack.
    Shared self(int block) {
        const int layer = config_.block(block).layer;
        const bool second = config_.block(block).is_second();
        const AttentionSpec& spec = config_.attention(block);
        const AttentionWeights& w = second ? weights_of(layer).second : weights_of(layer).self;
        const OwnMask own{spec.window, spec.chunk};
        const float* sinks = w.sinks;
        const void* table = second ? nullptr : weights_of(layer).relative_bias;
        if (spec.disentangled || spec.recurrence) table = &w;
        auto& rule = rules_[{own, spec.score_scale(), spec.cap, spec.heads, spec.kv_heads, table, sinks}];
        if (!rule) {
            auto& mask = plans_[own];
            if (mask.visible.empty())
                mask = MaskPlan::make(intervention_.mask, {stack_.causal, spec.window, spec.chunk},
                                      sentences_, cancel_);
            rule = make(spec, mask, positions_, second ? PositionBias{} : position_bias(layer),
                        disentangled(spec, w), sinks, w.recurrence);
        }
        return with_changes(rule, block, own);
    }
    Shared cross(int layer) {
        const AttentionSpec& spec = *stack_.layers[layer].second;
        auto& rule =
            rules_[{kCross, spec.score_scale(), spec.cap, spec.heads, spec.kv_heads, nullptr, nullptr}];
        if (!rule) rule = make(spec, MaskPlan::full(queries_, source_rows_), {}, {}, {}, nullptr, {});
        return with_changes(rule, first_block_ + stack_.depth() + layer, kCross);
    }
    static Shared make(const AttentionSpec& spec, MaskPlan mask, const PositionIds& positions,
                       const PositionBias& bias, DisentangledBias disentangled, const float* sinks,
                       const RecurrenceWeights& recurrence) {
        AttentionRule rule;
        rule.mask = std::move(mask);
        rule.positions = positions;
        rule.bias = bias;
        rule.disentangled = std::move(disentangled);
        rule.scale = spec.score_scale();
        rule.cap = spec.cap;
        rule.heads = spec.heads;
        rule.kv_heads = spec.kv_heads;
        if (sinks) rule.sinks.assign(sinks, sinks + spec.heads);
        if (spec.recurrence) rule.recurrence = AttentionRule::Recurrence{.kind = spec.recurrence->kind};
        if (const float* skip = recurrence.skip) rule.recurrence->skip.assign(skip, skip + spec.heads);
        if (rule.shares_vectors())
            rule.recurrence->rates.assign(recurrence.decay_rate,
                                          recurrence.decay_rate + Index{spec.heads} * spec.d_head);
        return std::make_shared<const AttentionRule>(std::move(rule));
    }
    Shared with_changes(const Shared& rule, int block, OwnMask own);
    std::shared_ptr<const MaskPlan> painted(const MaskPlan& mask, int block, int head, OwnMask own);

    const ModelConfig& config_;
    const StackConfig& stack_;
    std::span<const LayerWeights> weights_;  // empty: they are elsewhere (Model::engine)
    const Intervention& intervention_;
    const CancelFlag* cancel_;
    int first_block_, queries_, source_rows_;
    std::vector<int> sentences_;
    PositionIds positions_;
    std::map<OwnMask, MaskPlan> plans_;
    /// By own mask, scale, cap, heads, what holds the layer's own vectors or biases of distances, and sinks.
    std::map<std::tuple<OwnMask, float, float, int, int, const void*, const float*>, Shared> rules_;
    std::map<std::pair<OwnMask, std::vector<size_t>>, std::shared_ptr<const MaskPlan>>
        masks_;  // by own mask and painted cells
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
                                                              OwnMask own) {
    std::vector<size_t> rectangles;
    for (size_t i = 0; i < intervention_.changes.size(); ++i)
        if (intervention_.changes[i].paints() && intervention_.changes[i].concerns(config_, block, head))
            rectangles.push_back(i);
    if (rectangles.empty()) return nullptr;
    auto& plan = masks_[{own, rectangles}];
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
AttentionRuleBuilder::Shared AttentionRuleBuilder::with_changes(const Shared& rule, int block,
                                                                OwnMask model_mask) {
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
        mine.mask = painted(rule->mask, block, head, model_mask);
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
        for (int layer = 0; layer < model.config.stacks[stack].depth(); ++layer) {
            out.back().push_back(rules.of_layer(layer));
            if (stopped(cancel)) return cancelled();
        }
    }
    return out;
}

}  // namespace headlight

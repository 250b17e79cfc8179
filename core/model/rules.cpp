#include "model/rules.h"

#include <algorithm>
#include <limits>

namespace headlight {

Rules::Rules(const ModelConfig& config, const StackConfig& stack, const StackWeights& weights, const Sequence& input, const Intervention& intervention, int first_site, int source_rows)
    : config_(config), stack_(stack), intervention_(intervention), first_site_(first_site), queries_(input.size()), source_rows_(source_rows), sentences_(sentence_numbers(input.tokens, input.types, input.size())) {
    for (size_t i = 0; i < input.ids.size(); ++i)
        if (input.ids[i] == config.pad_id && (i > 0 || input.ids[i] != config.start_id || !stack.causal)) sentences_[i] = kPadding;
    if (config.alibi) bias_ = alibi_bias(stack.heads, queries_);
    if (weights.relative_bias) bias_ = bucket_bias(config.buckets, weights.relative_bias, stack.causal, stack.heads, queries_);
}

std::shared_ptr<const AttentionRule> Rules::self(int layer) {
    const int window = stack_.window(layer);
    const float scale = config_.score_scale(stack_, layer);
    auto& rule = rules_[{window, scale}];
    if (!rule)
        rule = std::make_shared<const AttentionRule>(
            AttentionRule{MaskPlan::make(intervention_.mask, {stack_.causal, window}, sentences_), bias_, scale, config_.score_cap, stack_.heads, stack_.kv_heads, {}});
    return with_changes(rule, first_site_ + layer);
}

std::shared_ptr<const AttentionRule> Rules::cross(int layer) {
    if (!cross_)
        cross_ = std::make_shared<const AttentionRule>(AttentionRule{MaskPlan::open(queries_, source_rows_), {}, config_.score_scale(stack_, 0), config_.score_cap, stack_.heads, stack_.kv_heads, {}});
    return with_changes(cross_, first_site_ + stack_.layers + layer);
}

namespace {

bool on_grid(const MaskPlan& mask, const Change& c) { return c.query >= 0 && c.query < static_cast<int>(mask.seen.size()) && c.key >= 0 && c.key < mask.keys; }

void apply(const Change& change, const MaskPlan& mask, HeadRule& head) {
    switch (change.kind) {
        case ChangeKind::keep: [[fallthrough]];  // of another head
        case ChangeKind::zero: head.z = HeadRule::Z::zero; break;
        case ChangeKind::mean: head.z = HeadRule::Z::mean; break;
        case ChangeKind::uniform: head.temperature = std::numeric_limits<float>::infinity(); break;
        case ChangeKind::hard: head.temperature = 0; break;
        case ChangeKind::temperature: head.temperature = change.value; break;
        case ChangeKind::freeze: head.frozen = change.pattern; break;
        case ChangeKind::score:
            if (on_grid(mask, change)) head.scores.push_back({change.query, change.key, change.value});
            break;
        default: break;  // painted cells and skipped blocks are seen to elsewhere
    }
}

}  // namespace

Rules::Painted Rules::painted(const MaskPlan& mask, int site, int head) const {
    Painted out;
    for (const Change& c : intervention_.changes) {
        if (!c.paints() || !c.concerns(config_, site, head) || c.query < 0 || c.key < 0) continue;
        const int queries = std::min(c.queries, static_cast<int>(mask.seen.size()) - c.query), keys = std::min(c.keys, mask.keys - c.key);
        for (int q = 0; q < queries; ++q)
            for (int k = 0; k < keys; ++k) out.emplace_back(c.query + q, c.key + k, c.kind == ChangeKind::allow);
    }
    return out;
}

/// The rule of one block with what a person changed of its heads; heads that were painted alike share a mask.
std::shared_ptr<const AttentionRule> Rules::with_changes(const std::shared_ptr<const AttentionRule>& rule, int site) const {
    const auto concerned = [&](const Change& c) { return c.kind != ChangeKind::skip_attention && c.kind != ChangeKind::skip_mlp && c.concerns(config_, site); };
    if (std::none_of(intervention_.changes.begin(), intervention_.changes.end(), concerned)) return rule;
    auto own = std::make_shared<AttentionRule>(*rule);
    own->changed.resize(static_cast<size_t>(rule->heads));
    std::map<Painted, std::shared_ptr<const MaskPlan>> masks;
    for (int head = 0; head < rule->heads; ++head) {
        HeadRule& mine = own->changed[static_cast<size_t>(head)];
        for (const Change& change : intervention_.changes)
            if (change.concerns(config_, site, head)) apply(change, rule->mask, mine);
        const Painted cells = painted(rule->mask, site, head);
        if (cells.empty()) continue;
        auto& mask = masks[cells];
        if (!mask) {
            auto plan = std::make_shared<MaskPlan>(rule->mask);
            for (const auto& [query, key, allowed] : cells) plan->set(query, key, allowed);
            mask = std::move(plan);
        }
        mine.mask = mask;
    }
    return own;
}

}  // namespace headlight

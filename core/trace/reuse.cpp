// Decides which rows and layers of an earlier pass stay valid.
#include "trace/reuse.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/cast.h"
#include "model/engine.h"

namespace headlight {

namespace {

constexpr int kDiffers = std::numeric_limits<int>::max();

/// Holds one past the last row that each query depends on in a stack, or kDiffers if the passes differ.
using Extents = std::vector<int>;

void all_differ(Extents& extents) { std::fill(extents.begin(), extents.end(), kDiffers); }

/// Returns the scores edited in one row, in order.
std::vector<HeadRule::Score> edited(const HeadRule& rule, int query) {
    std::vector<HeadRule::Score> out;
    for (const HeadRule::Score& s : rule.scores)
        if (s.query == query) out.push_back(s);
    return out;
}

/// Returns whether a row is frozen to the same weights; weights beyond the shorter one count as 0.
bool same_frozen(const ConstMatrixMap& a, const ConstMatrixMap& b, Index row) {
    const Index common = std::min(a.cols(), b.cols());
    return a.row(row).head(common) == b.row(row).head(common) &&
           a.row(row).tail(a.cols() - common).isZero(0) && b.row(row).tail(b.cols() - common).isZero(0);
}

struct HeadPair {
    const AttentionRule &before, &now;
    int head;
    HeadRule changed_before, changed_now;

    HeadPair(const AttentionRule& b, const AttentionRule& n, int h)
        : before(b),
          now(n),
          head(h),
          changed_before(b.change(h) ? *b.change(h) : HeadRule{}),
          changed_now(n.change(h) ? *n.change(h) : HeadRule{}) {}

    bool same_row(int query) const {
        if (!changed_before.given_z.same_row(changed_now.given_z, query)) return false;
        const bool frozen = now.is_given(head, query);
        if (frozen != before.is_given(head, query)) return false;
        if (frozen) {
            const auto a = before.given_pattern(head), b = now.given_pattern(head);
            return a->data() == b->data() || same_frozen(*a, *b, query);
        }
        const bool scored = !changed_before.scores.empty() || !changed_now.scores.empty();
        return before.mask_of(head).same_row(now.mask_of(head), query) &&
               (!scored || edited(changed_before, query) == edited(changed_now, query));
    }
    /// Returns one past the last key with weight for the query in either pass.
    int last_key(int query) const {
        if (!now.is_given(head, query))
            return std::max(before.weight_range(head, query).end, now.weight_range(head, query).end);
        const auto given = now.given_pattern(head);
        const auto row = given->row(query);
        Index end = row.size();
        while (end > 0 && row[end - 1] == 0) --end;
        return narrow<int>(end);
    }
};

/// `own_keys`: the block's keys are rows of the same stack, as in self-attention.
void note_head(const HeadPair& pair, bool own_keys, Extents& extents) {
    if (pair.changed_before.temperature != pair.changed_now.temperature ||
        pair.changed_before.z != pair.changed_now.z)
        return all_differ(extents);
    const int queries = std::max(isize(pair.before.mask.visible), isize(pair.now.mask.visible));
    const int min = pair.changed_now.depends_on_every_query ? queries : 0;
    for (int q = 0; q < isize(extents); ++q) {
        int& extent = extents[q];
        extent = pair.same_row(q) ? std::max({extent, min, own_keys ? pair.last_key(q) : 0}) : kDiffers;
    }
}

/// Marks rows that are given in one pass and computed in the other, or given differently.
void note_given(const GivenRows& before, const GivenRows& now, Extents& extents) {
    if (before.empty() && now.empty()) return;
    for (int q = 0; q < isize(extents); ++q)
        if (!before.same_row(now, q)) extents[q] = kDiffers;
}

/// Recomputes a token whose position changed, both as a query and as a key.
void note_positions(const PositionIds& before, const PositionIds& now, Extents& extents) {
    if (before.off != now.off) return all_differ(extents);
    for (int q = 0; q < isize(extents); ++q)
        if (before.of(q) != now.of(q)) extents[q] = kDiffers;
}

/// Compares only the changes: the model's part of a rule (bias, scale, cap) is the same in every pass.
void note_block(const AttentionRule& before, const AttentionRule& now, bool own_keys, Extents& extents) {
    if (before.skipped != now.skipped) return all_differ(extents);
    if (own_keys) note_positions(before.positions, now.positions, extents);
    note_given(before.given_out, now.given_out, extents);
    const int heads = before.changed.empty() && now.changed.empty() ? 1 : now.heads;
    for (int head = 0; head < heads; ++head) note_head({before, now, head}, own_keys, extents);
}

int common_tokens(const Sequence& before, const Sequence& now) {
    if (before.picture != now.picture || before.types.empty() != now.types.empty()) return 0;
    const auto type = [](const Sequence& s, int i) { return i < isize(s.types) ? s.types[i] : 0; };
    int i = 0;
    while (i < before.size() && i < now.size() && before.ids[i] == now.ids[i] &&
           type(before, i) == type(now, i))
        ++i;
    return i;
}

/// Counts the leading rows that depend only on one another: extents[i] ≤ count for all of them.
int closed_rows(const Extents& extents) {
    int closed = 0, furthest = 0;
    for (int rows = 1; rows <= isize(extents); ++rows) {
        furthest = std::max(furthest, extents[rows - 1]);
        if (furthest <= rows) closed = rows;
    }
    return closed;
}

/// Returns whether rows also depend on their neighbors, which no mask takes from them.
bool convolves(const ModelConfig& c) {
    const auto& layers = c.stacks[0].layers;
    return std::any_of(layers.begin(), layers.end(),
                       [](const LayerSpec& l) { return l.convolution.has_value(); });
}

/// Compares a stack whose source is the same as before.
StackReuse reusable_stack(const ModelConfig& c, bool crosses, const StackActivations& past,
                          const Sequence& before, const Sequence& now, std::span<const LayerRules> rules) {
    const int longest = std::max(before.size(), now.size());
    if (before.size() != now.size() && c.positions_depend_on_length(longest)) return {};
    const int common = common_tokens(before, now), layers = isize(rules);
    const bool same_tokens = common == now.size() && common == before.size();
    Extents extents(common);
    std::set<std::pair<const AttentionRule*, const AttentionRule*>> noted;  // layers share their rules
    int same_layers = 0;
    for (int l = 0; l < isize(rules); ++l) {
        const LayerRules then = past.layers[l]->rules();
        note_given(then.changed.resid_pre, rules[l].changed.resid_pre, extents);
        if (noted.emplace(then.self.get(), rules[l].self.get()).second)
            note_block(*then.self, *rules[l].self, true, extents);
        if (rules[l].second && noted.emplace(then.second.get(), rules[l].second.get()).second)
            note_block(*then.second, *rules[l].second, !crosses, extents);
        if (then.changed.no_mlp != rules[l].changed.no_mlp ||
            then.changed.experts_off != rules[l].changed.experts_off)
            all_differ(extents);
        note_given(then.changed.mlp_out, rules[l].changed.mlp_out, extents);
        if (same_tokens && !contains(extents, kDiffers)) same_layers = l + 1;
    }
    if (same_layers == layers) return {true, 0, 0};
    const int rows = convolves(c) ? 0 : closed_rows(extents);
    if (int64_t{rows} * layers >= int64_t{same_layers} * now.size()) return {false, rows, 0};
    return {false, 0, same_layers};
}

}  // namespace

Reuse reusable(const Trace* past, const Model& model, const ForwardRequest& request,
               std::span<const std::vector<LayerRules>> rules) {
    if (!past || past->model.get() != &model) return {};
    Reuse reuse{&past->activations, {}};
    for (int s = 0; s < isize(request.inputs); ++s) {
        StackReuse kept;
        const bool same_source = s == 0 || reuse.stacks[s - 1].whole;
        if (same_source)
            kept = reusable_stack(model.config, model.config.stacks[s].cross(), past->stack(s),
                                  past->request.inputs[s], request.inputs[s], rules[s]);
        reuse.stacks.push_back(kept);
    }
    return reuse;
}

Reuse reusable(const Trace& past, const Trace& now) {
    const Engine* elsewhere = past.model->engine.get();
    if (!past.has_weights() && !elsewhere) return {};  // a recorded trace
    if (elsewhere && !(elsewhere->keeps_rows() && past.request.intervention == now.request.intervention))
        return {};  // values that it put in are not known here
    std::vector<std::vector<LayerRules>> rules;
    for (const auto& stack : now.activations.stacks) {
        rules.emplace_back();
        for (const auto& layer : stack->layers) rules.back().push_back(layer->rules());
    }
    return reusable(&past, *now.model, now.request, rules);
}

}  // namespace headlight

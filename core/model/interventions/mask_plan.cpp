// Lays out a mask for a block: which keys each query may attend to.
#include <algorithm>

#include "base/cast.h"
#include "model/interventions/mask.h"

namespace headlight {

namespace {

/// Fills one row of a plan by testing every key.
void fill_row(const Mask& mask, MaskPair pair, MaskPlan& plan) {
    KeyRange& visible = plan.visible[pair.query];
    visible = {plan.keys, 0};
    int count = 0;
    std::vector<bool> hidden(plan.keys);
    for (pair.key = 0; pair.key < plan.keys; ++pair.key) {
        const bool allowed = mask.allowed(pair);
        hidden[pair.key] = !allowed;
        if (!allowed) continue;
        visible = {std::min(visible.begin, pair.key), pair.key + 1};
        ++count;
    }
    if (count == 0) visible = {0, 0};
    if (count < visible.size()) {
        plan.masked.resize(plan.visible.size());
        plan.masked[pair.query] = std::move(hidden);
    }
}

}  // namespace

KeyRange MaskParams::visible(int query, int n) const {
    const int reach = window > 0 ? std::min(window, n) : n,
              chunk_begin = chunk > 0 ? query - query % chunk : 0,
              chunk_end = chunk > 0 && chunk < n - chunk_begin ? chunk_begin + chunk : n;
    return {std::max(chunk_begin, query - reach + 1),
            std::min(chunk_end, causal ? query + 1 : std::min(n, query + reach))};
}

MaskPlan MaskPlan::make(const Mask& mask, const MaskParams& own, std::span<const int> sentences,
                        const CancelFlag* cancel) {
    const int n = isize(sentences);
    MaskPlan plan{std::vector(sentences.size(), KeyRange{}), n, {}};
    for (int q = 0; q < n && !stopped(cancel); ++q) {
        if (!mask.is_own()) {
            fill_row(mask, {q, 0, own, sentences}, plan);
            continue;
        }
        plan.visible[q] = own.visible(q, n);
    }
    return plan;
}

MaskPlan MaskPlan::full(int queries, int keys) { return {std::vector(queries, KeyRange{0, keys}), keys, {}}; }

bool MaskPlan::same_row(const MaskPlan& other, int q) const {
    if (visible[q] != other.visible[q] || has_masked(q) != other.has_masked(q)) return false;
    if (!has_masked(q)) return true;
    const KeyRange& range = visible[q];
    return std::equal(masked[q].begin() + range.begin, masked[q].begin() + range.end,
                      other.masked[q].begin() + range.begin);
}

namespace {

/// Unmasks or masks the keys [begin, end) of one row.
void set_row(MaskPlan& plan, size_t q, int begin, int end, bool allowed) {
    KeyRange& range = plan.visible[q];
    std::vector<bool> hidden = plan.masked[q];
    if (hidden.empty()) {
        hidden.assign(plan.keys, true);
        std::fill(hidden.begin() + range.begin, hidden.begin() + range.end, false);
    }
    std::fill(hidden.begin() + begin, hidden.begin() + end, !allowed);
    const auto first = std::find(hidden.begin(), hidden.end(), false);
    const auto last = std::find(hidden.rbegin(), hidden.rend(), false);
    range = first == hidden.end()
                ? KeyRange{}
                : KeyRange{narrow<int>(first - hidden.begin()), narrow<int>(hidden.rend() - last)};
    const bool masked = std::find(hidden.begin() + range.begin, hidden.begin() + range.end, true) !=
                        hidden.begin() + range.end;
    plan.masked[q] = masked ? std::move(hidden) : std::vector<bool>();
}

}  // namespace

void MaskPlan::set(const Rectangle& cells, bool allowed) {
    const int end = cells.key + std::min(cells.keys, keys - cells.key);
    const int last = cells.query + std::min(cells.queries, isize(visible) - cells.query);
    if (cells.key < 0 || cells.query < 0 || end <= cells.key) return;
    masked.resize(visible.size());
    for (int q = cells.query; q < last; ++q) set_row(*this, q, cells.key, end, allowed);
}

bool MaskPlan::hides_any() const {
    return std::any_of(visible.begin(), visible.end(), [&](const KeyRange& r) { return r.size() < keys; }) ||
           std::any_of(masked.begin(), masked.end(), [](const auto& row) { return !row.empty(); });
}

KeyRange MaskPlan::weight_range(int first, int last) const {
    KeyRange all{keys, 0};
    for (int q = first; q < last; ++q) {
        const KeyRange row = weight_range(q);
        all = {std::min(all.begin, row.begin), std::max(all.end, row.end)};
    }
    return all;
}

}  // namespace headlight

// Combines the patterns of several heads.
#include "trace/head_group.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/memory.h"
#include "model/heads.h"
#include "trace/large_pattern.h"

namespace headlight {

namespace {

constexpr int kRowsAtOnce = 64;
constexpr size_t kMaxNamed = 4;

/// Combines another head's weights with those so far.
void join(Matrix& known, const Matrix& weights, Combine by) {
    for (Index i = 0; i < known.size(); ++i) {
        float& a = known.data()[i];
        const float b = weights.data()[i];
        if (by == Combine::max)
            a = stronger(a, b);
        else
            a = is_masked(a) ? b : is_masked(b) ? a : a + b;
    }
}

std::string with_capital(Combine by) { return by == Combine::mean ? "Mean of " : "Max of "; }

}  // namespace

bool read_alike(const ModelConfig& c, int a, int b) {
    return c.block(a).stack == c.block(b).stack && c.block(a).key_stack == c.block(b).key_stack &&
           c.attention(a).recurrence.has_value() == c.attention(b).recurrence.has_value();
}

std::vector<AttentionHead> heads_of_block(const ModelConfig& c, int block) {
    std::vector<AttentionHead> out;
    for (int head = 0; head < c.heads(block); ++head) out.push_back({block, head});
    return out;
}

std::vector<AttentionHead> heads_alike(const ModelConfig& c, int block) {
    std::vector<AttentionHead> out;
    for (int i = 0; i < c.head_count(); ++i)
        if (const AttentionHead head = c.head_at(i); read_alike(c, head.block, block)) out.push_back(head);
    return out;
}

std::optional<HeadGroup> fitted(const std::optional<HeadGroup>& group, const ModelConfig& c, int block) {
    if (!group) return std::nullopt;
    std::set<AttentionHead> kept;
    for (const AttentionHead head : group->heads)
        if (c.has_head(head) && read_alike(c, head.block, block)) kept.insert(head);
    if (kept.empty()) return std::nullopt;
    return HeadGroup{group->by, {kept.begin(), kept.end()}};
}

std::string group_title(const ModelConfig& c, const HeadGroup& group) {
    const auto& heads = group.heads;
    const std::string what = with_capital(group.by), count = std::to_string(heads.size());
    if (heads == heads_of_block(c, heads[0].block))
        return what + count + " heads, layer " + block_name(c, heads[0].block);
    if (heads == heads_alike(c, heads[0].block)) return what + "all " + count + " heads";
    if (heads.size() > kMaxNamed) return what + count + " heads";
    std::string names;
    for (const AttentionHead head : heads) names += (names.empty() ? "" : ", ") + head_name(c, head);
    return what + (heads.size() == 1 ? "head " : "heads ") + names;
}

Matrix combined_pattern_rows(const Trace& trace, const HeadGroup& group, int first, int rows,
                             bool drop_sink) {
    HEADLIGHT_CHECK(!group.heads.empty());
    Matrix out;
    for (const AttentionHead head : group.heads) {
        Matrix weights = masked_pattern_rows(trace, head.block, head.head, first, rows);
        if (drop_sink) weights = without_first_key(std::move(weights), trace.is_mixing(head.block));
        if (out.size() == 0)
            out = std::move(weights);
        else
            join(out, weights, group.by);
    }
    if (group.by == Combine::mean)
        out = (out.array() <= kMasked).select(out, out / static_cast<float>(group.heads.size())).eval();
    return out;
}

Matrix combined_pattern(const Trace& trace, const HeadGroup& group, bool drop_sink) {
    const int block = group.heads[0].block, queries = trace.query_count(block), keys = trace.key_count(block);
    check_fits(int64_t{queries} * keys * static_cast<int64_t>(sizeof(float)));
    Matrix out(queries, keys);
    for (int first = 0; first < queries; first += kRowsAtOnce) {
        const int rows = std::min(kRowsAtOnce, queries - first);
        out.middleRows(first, rows) = combined_pattern_rows(trace, group, first, rows, drop_sink);
    }
    return out;
}

Matrix mean_pattern(const Trace& trace, int block, const std::vector<int>& heads) {
    HeadGroup group;
    for (const int head : heads) group.heads.push_back({block, head});
    if (heads.empty()) group.heads = heads_of_block(trace.config(), block);
    return combined_pattern(trace, group);
}

}  // namespace headlight

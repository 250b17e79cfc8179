// Finds which rows of a gradient can be nonzero.
#include "model/backward/gradient_rows.h"

#include <algorithm>

#include "base/check.h"
#include "base/spare.h"

namespace headlight {

namespace {

bool averages_queries(const AttentionRule& rule) {
    return std::any_of(rule.changed.begin(), rule.changed.end(),
                       [](const HeadRule& head) { return head.z == HeadRule::Z::mean; });
}

/// Returns the range of keys that any head may weigh for some queries.
KeyRange keys_of(const AttentionRule& rule, const KeyRange& queries) {
    KeyRange out;
    // else all heads are alike
    const int heads = rule.changed.empty() && !rule.is_recorded() ? 1 : rule.heads;
    for (int head = 0; head < heads; ++head)
        out = joined(out, rule.given_pattern(head)
                              ? KeyRange{0, rule.mask.keys}
                              : rule.mask_of(head).weight_range(queries.begin, queries.end));
    return out;
}

}  // namespace

KeyRange joined(const KeyRange& a, const KeyRange& b) {
    if (a.size() <= 0) return b;
    if (b.size() <= 0) return a;
    return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

GradientRows::GradientRows(int n, std::span<const KeyRange> tokens) : n_(n) {
    Index at = 0;
    for (const KeyRange& range : tokens) {
        HEADLIGHT_CHECK(range.size() <= 0 || (range.begin >= 0 && range.end <= n));
        parts_.push_back({range.size() > 0 ? range : KeyRange{}, at});
        at += parts_.back().tokens.size();
    }
    token_of_.reserve(static_cast<size_t>(at));
    for (const Part& part : parts_)
        for (int token = part.tokens.begin; token < part.tokens.end; ++token) token_of_.push_back(token);
}

GradientRows GradientRows::none(int n, int outputs) {
    return GradientRows(n, std::vector<KeyRange>(static_cast<size_t>(outputs)));
}

GradientRows GradientRows::whole(int n, int outputs) {
    return GradientRows(n, std::vector<KeyRange>(static_cast<size_t>(outputs), KeyRange{0, n}));
}

KeyRange GradientRows::hull() const {
    KeyRange out;
    for (const Part& part : parts_) out = joined(out, part.tokens);
    return out;
}

GradientRows GradientRows::with(std::span<const KeyRange> tokens) const {
    HEADLIGHT_CHECK(tokens.size() == parts_.size());
    std::vector<KeyRange> both;
    for (size_t i = 0; i < parts_.size(); ++i) both.push_back(joined(parts_[i].tokens, tokens[i]));
    return GradientRows(n_, both);
}

Matrix GradientRows::widened(Matrix gradient, const GradientRows& wider) const {
    HEADLIGHT_CHECK(gradient.rows() == rows() && wider.outputs() == outputs());
    if (wider == *this) return gradient;
    Matrix out = spare_matrix(wider.rows(), gradient.cols());
    out.setZero();
    for (int i = 0; i < outputs(); ++i) {
        const Part &from = part(i), &to = wider.part(i);
        if (from.tokens.size() == 0) continue;
        HEADLIGHT_CHECK(to.tokens.begin <= from.tokens.begin && from.tokens.end <= to.tokens.end);
        out.middleRows(to.at + from.tokens.begin - to.tokens.begin, from.tokens.size()) =
            gradient.middleRows(from.at, from.tokens.size());
    }
    leave_spare(std::move(gradient));
    return out;
}

void GradientSum::add(const GradientRows& of, Matrix gradient) {
    if (!values.size()) {
        rows = of;
        values = std::move(gradient);
        return;
    }
    std::vector<KeyRange> tokens;
    for (int output = 0; output < of.outputs(); ++output) tokens.push_back(of.part(output).tokens);
    const GradientRows all = rows.with(tokens);
    values = rows.widened(std::move(values), all);
    values += of.widened(std::move(gradient), all);
    rows = all;
}

GradientRows query_rows(const AttentionRule& rule, const GradientRows& rows) {
    if (!averages_queries(rule)) return rows;
    std::vector<KeyRange> tokens;
    for (int i = 0; i < rows.outputs(); ++i)
        tokens.push_back(rows.part(i).tokens.size() ? KeyRange{0, rows.tokens()} : KeyRange{});
    return GradientRows(rows.tokens(), tokens);
}

GradientRows entering_rows(const AttentionRule& rule, const GradientRows& queries) {
    std::vector<KeyRange> tokens;
    for (int i = 0; i < queries.outputs(); ++i) {
        const KeyRange& own = queries.part(i).tokens;
        tokens.push_back(own.size() ? keys_of(rule, own) : KeyRange{});
    }
    return queries.with(tokens);
}

}  // namespace headlight

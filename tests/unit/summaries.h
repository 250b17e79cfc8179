// Compares summaries of heads, and makes requests with a change.
#pragma once

#include <cmath>

#include "analysis/attention/head_summary.h"
#include "base/cast.h"
#include "helpers.h"

namespace headlight {

inline ForwardRequest with_change(ForwardRequest request, const Model& model, const std::string& change) {
    request.intervention.changes.push_back(*parse_change(model.config, change));
    return request;
}

inline bool same_bits(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Returns the first head whose summaries differ; −1: none.
inline int first_difference(const PerHead<HeadSummary>& one, const PerHead<HeadSummary>& two) {
    for (int i = 0; i < isize(one); ++i) {
        const HeadSummary &a = one[i], &b = two[i];
        if (!std::equal(a.statistics.begin(), a.statistics.end(), b.statistics.begin(), same_bits) ||
            a.thumbnail.rows() != b.thumbnail.rows() || (a.thumbnail.array() != b.thumbnail.array()).any() ||
            a.entries.rows() != b.entries.rows() || (a.entries.array() != b.entries.array()).any())
            return i;
    }
    return -1;
}

/// Returns the first head whose summary differs when it reuses an earlier pass; −1: none.
inline int summary_that_differs(const Trace& now, const Trace& past, int thumbnail, ThreadPool& pool) {
    const auto before = *summarize_heads(past, thumbnail, pool);
    return first_difference(*summarize_heads(now, thumbnail, pool, nullptr, {&past, &before}),
                            *summarize_heads(now, thumbnail, pool));
}

}  // namespace headlight

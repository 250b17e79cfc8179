// Chooses the first head of a station.
#include "learn/stations/first_head.h"

#include <algorithm>

#include "learn/normalizers.h"
#include "learn/score_function_table.h"
#include "learn/stations/qkv_heads.h"
#include "learn/stations/query_key.h"
#include "learn/stations/small_vectors.h"

namespace headlight::learn {

namespace {

/// Returns the head with the largest number; none if no number is above 0, if the model is an
/// encoder–decoder, or if the scores are unknown.
template <class Number>
std::optional<AttentionHead> largest_head(const Trace& trace, ThreadPool& pool, const Number& number) {
    const ModelConfig& config = trace.config();
    if (isize(config.stacks) > 1 || !trace.has_weights()) return std::nullopt;
    std::vector<float> numbers(config.head_count());
    pool.run(isize(numbers), [&](int i) {
        const AttentionHead head = config.head_at(i);
        if (trace.has_scores(head.block)) numbers[i] = number(head);
    });
    const auto largest = std::max_element(numbers.begin(), numbers.end());
    if (largest == numbers.end() || !(*largest > 0)) return std::nullopt;
    return config.head_at(narrow<int>(largest - numbers.begin()));
}

}  // namespace

std::optional<AttentionHead> most_moved_head(const Trace& trace, ThreadPool& pool) {
    const NormalizerKind& softmax = normalizers()[static_cast<int>(RowNormalizer::softmax)];
    return largest_head(trace, pool, [&](AttentionHead head) {
        StationInput in;
        in.trace = &trace;
        in.block = head.block;
        in.head = head.head;
        const QueryKey x = head_query_key(in);
        return moved_weight(normalize_rows(softmax, x.masked(dot_scores(x.q, x.k))),
                            normalize_rows(softmax, x.masked(scaled_dot_scores(x.q, x.k))));
    });
}

std::optional<AttentionHead> previous_token_head(const Trace& trace, ThreadPool& pool) {
    return largest_head(trace, pool, [&](AttentionHead head) {
        const int rows = std::min(kMaxWords, trace.query_count(head.block));
        const Matrix weights = trace.pattern_rows(head.block, head.head, 0, rows);
        return rows < 2 ? 0.0f : weights.diagonal(-1).head(rows - 1).mean();
    });
}

}  // namespace headlight::learn

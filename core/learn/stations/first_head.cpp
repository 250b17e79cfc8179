// Chooses the first head and query of a station.
#include "learn/stations/first_head.h"

#include <algorithm>
#include <cmath>

#include "analysis/prediction/predict.h"
#include "base/utf8.h"
#include "learn/normalizers.h"
#include "learn/page_parts.h"
#include "learn/score_function_table.h"
#include "learn/stations/query_key.h"
#include "learn/stations/small_vectors.h"
#include "tokenizer/unicode_forms.h"

namespace headlight::learn {

namespace {

constexpr float kBits = 32;  // more than a row of weights can decide

struct RatedQuery {
    float rate = 0;  // 0: tells nothing
    int query = -1;

    void offer(float rate_of, int at) {
        if (rate_of > rate) *this = {rate_of, at};
    }
};

bool may_be_first(const Trace& trace, AttentionHead head) {
    const bool two = isize(trace.config().stacks) > 1;
    return trace.has_scores(head.block) &&
           (!two || trace.config().block(head.block).kind == AttentionKind::encoder);
}

/// Returns the head and query with the largest rate; none if no rate is above 0.
template <class Rate>
std::optional<TellingCell> best_cell(const Trace& trace, std::optional<AttentionHead> chosen,
                                     ThreadPool& pool, const Rate& rate) {
    const ModelConfig& config = trace.config();
    if (!trace.has_weights()) return std::nullopt;
    std::vector<RatedQuery> rated(config.head_count());
    pool.run(isize(rated), [&](int i) {
        const AttentionHead head = config.head_at(i);
        if (may_be_first(trace, head) && (!chosen || *chosen == head)) rated[i] = rate(head);
    });
    const auto best = std::max_element(rated.begin(), rated.end(),
                                       [](const auto& a, const auto& b) { return a.rate < b.rate; });
    if (best == rated.end() || !(best->rate > 0)) return std::nullopt;
    return TellingCell{config.head_at(narrow<int>(best - rated.begin())), best->query};
}

/// Holds the first rows of a head's pattern, and what its tokens are.
struct HeadRows {
    Matrix weights;                   // [queries, keys]
    std::vector<std::string> labels;  // of the tokens, which are queries and keys
    std::vector<int> seen;            // per query: how many keys it may attend to

    HeadRows(const Trace& trace, AttentionHead head) {
        const int rows = std::min(kMaxWords, trace.query_count(head.block));
        weights = masked_pattern_rows(trace, head.block, head.head, 0, rows);
        labels = token_labels(trace, trace.config().block(head.block).stack);
        for (Index q = 0; q < weights.rows(); ++q)
            seen.push_back(narrow<int>((weights.row(q).array() >= 0).count()));
    }
    int queries() const { return narrow<int>(weights.rows()); }
    int strongest(int query) const {
        Index best = 0;
        weights.row(query).maxCoeff(&best);
        return narrow<int>(best);
    }
    bool word(int token) const { return is_word(labels[token]); }
    /// Returns whether a weight stands out from an even share among the keys.
    bool stands_out(int query, float weight) const {
        return weight >= std::max(0.3f, std::min(0.9f, 2.0f / float(seen[query])));
    }
};

StationInput input_of(const Trace& trace, AttentionHead head) {
    StationInput in;
    in.trace = &trace;
    in.block = head.block;
    in.head = head.head;
    return in;
}

/// Returns the best of the looks that stand out: each query's at its strongest key.
template <class Rate>
std::optional<TellingCell> best_look(const Trace& trace, std::optional<AttentionHead> chosen,
                                     ThreadPool& pool, const Rate& rate) {
    return best_cell(trace, chosen, pool, [&](AttentionHead head) {
        const HeadRows rows(trace, head);
        RatedQuery out;
        for (int q = 1; q < rows.queries(); ++q) {
            const int key = rows.strongest(q);
            const float weight = rows.weights(q, key);
            if (rows.stands_out(q, weight)) out.offer(rate(rows, q, key, weight), q);
        }
        return out;
    });
}

/// ½ Σ |a − b| of one query.
float moved(const Matrix& a, const Matrix& b, int query) {
    return (a.row(query) - b.row(query)).cwiseAbs().sum() / 2;
}

/// Rates a word's weights with later keys as without a mask: how much of them later words get, if the rest
/// is not spread evenly.
RatedQuery rate_hidden(const Trace& trace, AttentionHead head, const HeadRows& rows) {
    RatedQuery out;
    const int n = rows.queries();
    for (int q = n / 4; q < n - 1; ++q) {
        if (!rows.word(q)) continue;
        const std::vector<float> scores = head_scores(input_of(trace, head), q);
        const Vector weights = softmax_weights(Eigen::Map<const Vector>(scores.data(), isize(scores)));
        const float hidden = weights.tail(weights.size() - q - 1).sum(),
                    most = weights.head(q + 1).maxCoeff() / std::max(1 - hidden, 1e-6f);
        if (hidden <= 0.15f || hidden >= 0.85f || most < 0.3f) continue;
        const bool sink = rows.strongest(q) == 0;  // says less than a look at a word
        out.offer(hidden * (1 - hidden) * most * (sink ? 0.25f : 1.0f), q);
    }
    return out;
}

}  // namespace

bool is_word(const std::string& label) {
    return !label.empty() && is_letter_or_digit(decode_utf8(label, 0).value);
}

std::optional<TellingCell> telling_look(const Trace& trace, std::optional<AttentionHead> chosen,
                                        ThreadPool& pool) {
    return best_look(trace, chosen, pool, [](const HeadRows& rows, int q, int key, float weight) {
        const bool apart = key > 0 && std::abs(key - q) > 1 && rows.word(key) && rows.word(q) &&
                           rows.labels[key] != rows.labels[q];
        const float decides = weight * std::log2(float(rows.seen[q]));  // among many keys it says more
        return decides + float(apart ? 2 : key != q ? 1 : 0) * kBits;
    });
}

std::optional<TellingCell> telling_scale(const Trace& trace, std::optional<AttentionHead> chosen,
                                         ThreadPool& pool) {
    const NormalizerKind& softmax = normalizers()[static_cast<int>(RowNormalizer::softmax)];
    return best_cell(trace, chosen, pool, [&](AttentionHead head) {
        const HeadRows rows(trace, head);
        const QueryKey x = head_query_key(input_of(trace, head));
        const Matrix plain = normalize_rows(softmax, x.masked(dot_scores(x.q, x.k))),
                     divided = normalize_rows(softmax, x.masked(scaled_dot_scores(x.q, x.k)));
        RatedQuery out;
        for (int q = 1; q < rows.queries(); ++q)
            if (rows.word(q) && rows.stands_out(q, divided.row(q).maxCoeff()))
                out.offer(moved(plain, divided, q), q);
        return out;
    });
}

std::optional<TellingCell> telling_mask(const Trace& trace, std::optional<AttentionHead> chosen,
                                        ThreadPool& pool) {
    return best_cell(trace, chosen, pool,
                     [&](AttentionHead head) { return rate_hidden(trace, head, HeadRows(trace, head)); });
}

std::optional<TellingCell> telling_previous(const Trace& trace, std::optional<AttentionHead> chosen,
                                            ThreadPool& pool) {
    return best_cell(trace, chosen, pool, [&](AttentionHead head) {
        const HeadRows rows(trace, head);
        if (rows.queries() < 2) return RatedQuery();
        RatedQuery sharpest;
        for (int q = 1; q < rows.queries(); ++q)
            if (rows.word(q)) sharpest.offer(rows.weights(q, q - 1), q);
        return RatedQuery{rows.weights.diagonal(-1).head(rows.queries() - 1).cwiseMax(0).mean(),
                          sharpest.query};
    });
}

std::optional<TellingCell> telling_choice(const Trace& trace, std::optional<AttentionHead> chosen,
                                          ThreadPool& pool) {
    return best_look(trace, chosen, pool, [](const HeadRows& rows, int q, int key, float weight) {
        const bool at_another = key != q && key > 0 && rows.word(q);
        return at_another ? weight * (1 - weight) * (rows.word(key) ? 2.0f : 1.0f) : 0.0f;
    });
}

}  // namespace headlight::learn

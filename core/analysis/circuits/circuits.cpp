// Finds the strongest pairs of a head's circuits and scores them.
#include "analysis/circuits/circuits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "analysis/circuits/circuit_factors.h"
#include "analysis/circuits/reserved_tokens.h"
#include "analysis/prediction/predict.h"
#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"
#include "base/spectrum.h"
#include "model/heads.h"

namespace headlight {

namespace {

constexpr float kNoScore = std::numeric_limits<float>::quiet_NaN();
constexpr Index kPairRows = 256, kPairColumns = 4096;  // products that a thread holds at once

bool comes_before(const CircuitPair& a, const CircuitPair& b) {
    return a.value != b.value ? a.value > b.value : std::pair(a.from, a.to) < std::pair(b.from, b.to);
}

/// Keeps the `count` largest of a row in a heap, the smallest in front; row[i] is column first + i.
void keep_largest(const Eigen::Ref<const Eigen::RowVectorXf>& row, int from, int first, int count,
                  std::vector<CircuitPair>& kept) {
    for (int i = 0; i < row.size(); ++i) {
        const CircuitPair pair{from, first + i, row[i]};
        if (!std::isfinite(pair.value)) continue;  // no pass has checked these weights
        if (isize(kept) == count) {
            if (!comes_before(pair, kept.front())) continue;
            std::pop_heap(kept.begin(), kept.end(), comes_before);
            kept.pop_back();
        }
        kept.push_back(pair);
        std::push_heap(kept.begin(), kept.end(), comes_before);
    }
}

}  // namespace

/// Each pick removes a row and a column, so that the `count` largest of each row suffice.
std::vector<CircuitPair> strongest_pairs(const Matrix& left, const Matrix& right, int count, ThreadPool& pool,
                                         const std::function<void()>& step) {
    HEADLIGHT_CHECK(left.cols() == right.cols());
    const Index of_row = std::min<Index>(count, right.rows());
    check_fits(left.rows() * of_row * int64_t{2 * sizeof(CircuitPair)});  // for sorting them all
    std::vector<std::vector<CircuitPair>> by_row(left.rows());
    pool.run(narrow<int>((left.rows() + kPairRows - 1) / kPairRows), [&](int tile) {
        const Index first = tile * kPairRows, rows = std::min(kPairRows, left.rows() - first);
        Matrix products(rows, std::min(kPairColumns, right.rows()));
        for (Index i = 0; i < rows; ++i) by_row[first + i].reserve(size_t(of_row));
        for (Index c = 0; c < right.rows(); c += kPairColumns) {
            if (pool.stopped()) return;
            const Index columns = std::min(kPairColumns, right.rows() - c);
            products.leftCols(columns).noalias() =
                left.middleRows(first, rows) * right.middleRows(c, columns).transpose();
            for (Index i = 0; i < rows; ++i)
                keep_largest(products.row(i).head(columns), narrow<int>(first + i), narrow<int>(c), count,
                             by_row[first + i]);
        }
        if (step) step();
    });
    std::vector<CircuitPair> all, out;
    for (auto& row : by_row) all.insert(all.end(), row.begin(), row.end());
    std::sort(all.begin(), all.end(), comes_before);
    std::vector<bool> taken_from(left.rows()), taken_to(right.rows());
    for (const CircuitPair& pair : all) {
        if (isize(out) == count) break;
        if (taken_from[pair.from] || taken_to[pair.to]) continue;
        taken_from[pair.from] = taken_to[pair.to] = true;
        out.push_back(pair);
    }
    return out;
}

namespace {

constexpr Index kScoreRows = 1024;  // rows of the vocabulary per thread and step

/// Sums of(first, count) over blocks of rows on all threads, in the order of the blocks.
template <class Sum, class Of>
Sum sum_over_rows(Index rows, ThreadPool& pool, const Of& of) {
    std::vector<Sum> parts(size_t((rows + kScoreRows - 1) / kScoreRows));
    pool.run(isize(parts), [&](int i) {
        const Index first = i * kScoreRows;
        parts[size_t(i)] = of(first, std::min(kScoreRows, rows - first));
    });
    Sum sum = parts.front();
    for (size_t i = 1; i < parts.size(); ++i) sum += parts[i];
    return sum;
}

/// aᵀ b of as many rows.
Eigen::MatrixXd product_of_columns(const Matrix& a, const Matrix& b, Index rows, ThreadPool& pool) {
    return sum_over_rows<Eigen::MatrixXd>(rows, pool, [&](Index first, Index count) -> Eigen::MatrixXd {
        return (a.middleRows(first, count).transpose() * b.middleRows(first, count)).cast<double>();
    });
}

/// Σ λ / Σ |λ| of left · right [vocab, vocab], from right · left, which has the same nonzero eigenvalues.
float copying_score(const Matrix& values, const Matrix& logits, ThreadPool& pool) {
    const Eigen::MatrixXd small =
        product_of_columns(logits, values, std::min(values.rows(), logits.rows()), pool);  // [d_head, d_head]
    if (!small.allFinite()) return kNoScore;
    const Eigen::VectorXcd of = eigenvalues(small);
    const double sizes = of.cwiseAbs().sum();
    return sizes > 0 ? float(of.real().sum() / sizes) : kNoScore;
}

/// Averages (own score − mean score) / deviation over tokens; a token's variance over keys is qᵀ Cov(k) q.
float duplicate_score(const Matrix& queries, const Matrix& centered_keys, ThreadPool& pool) {
    const Eigen::MatrixXd covariance =
        product_of_columns(centered_keys, centered_keys, centered_keys.rows(), pool) /
        double(centered_keys.rows());
    const double sum = sum_over_rows<double>(queries.rows(), pool, [&](Index first, Index count) {
        const Eigen::MatrixXd q = queries.middleRows(first, count).cast<double>(),
                              k = centered_keys.middleRows(first, count).cast<double>();
        const Eigen::VectorXd variance = (q * covariance).cwiseProduct(q).rowwise().sum(),
                              own = q.cwiseProduct(k).rowwise().sum();
        return (variance.array() > 0).select(own.array() / variance.array().sqrt(), 0.0).sum();
    });
    return float(sum / double(queries.rows()));
}

void center_rows(Matrix& m) { m.rowwise() -= m.colwise().mean().eval(); }

/// Holds scores and factors of one head; factors are empty if a circuit is undefined.
struct Factored {
    Matrix queries, keys;   // [vocab, d_head]; keys minus their mean, times the scale
    Matrix values, logits;  // [vocab, d_head]; logits minus their mean
    HeadCircuits out;
};

Factored factored(const Model& model, AttentionHead head, AverageText& average, ThreadPool& pool) {
    Factored f;
    HeadCircuits& out = f.out;
    const bool self = model.config.block(head.block).kind != AttentionKind::cross;
    out.copying = out.duplicate = kNoScore;
    out.qk.refusal = missing_qk(model, head);
    out.ov.refusal = missing_ov(model, head);
    const AttentionBlock at = model.config.block(head.block);
    out.qk.from_stack = at.stack;
    out.qk.to_stack = out.ov.from_stack = at.key_stack;
    out.ov.to_stack = isize(model.config.stacks) - 1;
    TokenSides sides = token_sides(
        model, head,
        (out.qk.refusal.empty() ? kQueries | kKeys : 0u) | (out.ov.refusal.empty() ? unsigned{kValues} : 0u),
        pool);
    if (out.qk.refusal.empty()) {
        f.queries = std::move(sides.queries);
        f.keys = std::move(sides.keys);
        center_rows(f.keys);
        if (self) out.duplicate = duplicate_score(f.queries, f.keys, pool);
    }
    if (out.ov.refusal.empty()) {
        f.values = std::move(sides.values);
        f.logits = output_logits(model, head, pool);
        center_rows(f.logits);
        if (self || model.config.shared_embedding) out.copying = copying_score(f.values, f.logits, pool);
    }
    const bool scored = !model.config.attention(head.block).recurrence;
    out.previous = scored ? average.previous_token_score(head, pool) : kNoScore;
    return f;
}

/// Returns the first rows, with NaN in those of tokens that no text has: they make no pairs.
Matrix looked_at(const Matrix& of, int tokens, const std::vector<bool>& reserved) {
    Matrix out = of.topRows(tokens > 0 ? std::min<Index>(tokens, of.rows()) : of.rows());
    for (Index i = 0; i < std::min<Index>(out.rows(), isize(reserved)); ++i)
        if (reserved[i]) out.row(i).setConstant(kNoScore);
    return out;
}

}  // namespace

HeadCircuits circuit_scores(const Model& model, AttentionHead head, AverageText& average, ThreadPool& pool) {
    return factored(model, head, average, pool).out;
}

int circuit_steps(const Model& model, const CircuitsRequest& request) {
    const ModelConfig& c = model.config;
    const AttentionHead head{request.block, request.head};
    const AttentionBlock at = c.block(request.block);
    const auto blocks = [&](int stack) {
        const int vocab = c.stacks[stack].vocab,
                  tokens = request.tokens ? std::min(request.tokens, vocab) : vocab;
        return narrow<int>((tokens + kPairRows - 1) / kPairRows);
    };
    return (missing_qk(model, head).empty() ? blocks(at.stack) : 0) +
           (missing_ov(model, head).empty() ? blocks(at.key_stack) : 0);
}

Result<HeadCircuits> head_circuits(const Model& model, const CircuitsRequest& w, ThreadPool& pool,
                                   const CancelFlag* cancel, const std::function<void()>& step) {
    return guarded([&]() -> Result<HeadCircuits> {
        const CancelScope scope(pool, cancel);
        AverageText average(model);
        Factored f = factored(model, {w.block, w.head}, average, pool);
        HeadCircuits& out = f.out;
        const auto find = [&](const Matrix& left, const Matrix& right, CircuitPairs& found) {
            const auto from = reserved_tokens(model, found.from_stack),
                       to = reserved_tokens(model, found.to_stack);
            const Matrix looked = looked_at(left, w.tokens, from);
            out.tokens = narrow<int>(looked.rows());
            out.reserved = narrow<int>(std::count(from.begin(), from.begin() + out.tokens, true));
            found.pairs = strongest_pairs(looked, looked_at(right, w.tokens, to), w.pairs, pool, step);
        };
        if (out.ov.refusal.empty()) find(f.values, f.logits, out.ov);
        if (out.qk.refusal.empty()) find(f.queries, f.keys, out.qk);
        return std::move(out);
    });
}

Result<HeadCircuits> answer_circuits(const Trace& trace, const CircuitsRequest& request, ThreadPool& pool,
                                     const CancelFlag* cancel) {
    trace.weights(0);  // fails if the trace holds none
    return head_circuits(*trace.model, request, pool, cancel);
}

void CircuitsRequest::clamp_to(const ModelConfig& c) {
    block = nearest(block, c.blocks());
    head = nearest(head, c.heads(block));
}

std::vector<NumberTable> circuit_numbers(const HeadCircuits& circuits, const Model& model,
                                         AttentionHead head) {
    std::vector<NumberTable> out;
    const std::string of = " of head " + head_name(model.config, head);
    const auto add = [&](const std::string& name, const char* from, const char* to,
                         const CircuitPairs& found) {
        const std::vector<CircuitPair>& pairs = found.pairs;
        NumberTable table;
        table.name = name + of;
        table.rows_are = "pair";
        table.columns = {from, to, "value"};
        table.values.resize(isize(pairs), 3);
        for (int i = 0; i < isize(pairs); ++i) {
            table.rows.push_back(listed_label(model, pairs[i].from, found.from_stack) + " → " +
                                 listed_label(model, pairs[i].to, found.to_stack));
            table.values.row(i) << float(pairs[i].from), float(pairs[i].to), pairs[i].value;
        }
        if (!pairs.empty()) out.push_back(std::move(table));
    };
    add("QK", "query id", "key id", circuits.qk);
    add("OV", "attended id", "promoted id", circuits.ov);
    Matrix scores(3, 1);
    scores << circuits.copying, circuits.previous, circuits.duplicate;
    out.push_back({.name = "scores" + of,
                   .rows_are = "score",
                   .columns_are = "",
                   .rows = {"copying", "previous token", "duplicate token"},
                   .columns = {"score"},
                   .values = scores,
                   .beside = !out.empty()});
    return out;
}

}  // namespace headlight

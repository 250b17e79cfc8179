// Compares patterns and predictions of two runs.
#include "analysis/comparison/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/cast.h"

namespace headlight {

namespace {

constexpr size_t kQueriesTogether = 64;
constexpr Index kRowsTogether = 32;  // rows multiplied by the unembedding at once

/// Returns whether both models were read from the same files: they have the same tokens, and differ by the
/// strength of an adapter at most.
bool same_files(const Trace& a, const Trace& b) {
    return a.model == b.model || (a.model->adapter && a.model->store == b.model->store);
}

/// Σ p log2(p / m).
double divergence_from(float p, float m) {
    return p > 0 ? double(p) * std::log2(double(p) / double(m)) : 0.0;
}

/// Returns a head's rows at some pairs of queries, along the pairs of keys.
Matrix rows_along(const Trace& t, int block, int head, std::span<const TokenPair> queries,
                  const TokenPairs& keys, Side side) {
    const auto token = [side](const TokenPair& p) { return side == Side::a ? p.a : p.b; };
    const auto [low, high] =
        std::minmax_element(queries.begin(), queries.end(),
                            [&](const TokenPair& x, const TokenPair& y) { return token(x) < token(y); });
    const int first = token(*low);
    const Matrix rows = t.pattern_rows(block, head, first, token(*high) - first + 1);
    Matrix out = Matrix::Zero(queries.size(), keys.size());
    for (int r = 0; r < isize(queries); ++r)
        for (int c = 0; c < isize(keys); ++c)
            if (token(keys[c]) >= 0) out(r, c) = rows(token(queries[r]) - first, token(keys[c]));
    return out;
}

}  // namespace

float divergence(const Eigen::Ref<const Eigen::RowVectorXf>& a,
                 const Eigen::Ref<const Eigen::RowVectorXf>& b) {
    double sum = 0;
    for (Index i = 0; i < a.size(); ++i) {
        const float middle = 0.5f * (a[i] + b[i]);
        sum += divergence_from(a[i], middle) + divergence_from(b[i], middle);
    }
    return float(std::max(0.0, sum / 2));
}

float mixing_distance(const Eigen::Ref<const Eigen::RowVectorXf>& a,
                      const Eigen::Ref<const Eigen::RowVectorXf>& b) {
    const float sizes = a.cwiseAbs().sum() + b.cwiseAbs().sum();
    return sizes > 0 ? (a - b).cwiseAbs().sum() / sizes : 0.0f;
}

float relative_entropy(const Vector& p, const Vector& q) {
    double sum = 0;
    for (Index i = 0; i < p.size(); ++i) sum += divergence_from(p[i], std::max(q[i], 1e-30f));
    return float(std::max(0.0, sum));
}

TokenPairs align_stacks(const Alignment& how, const Trace& a, int stack_a, const Trace& b, int stack_b) {
    const Alignment mine = how.of_stack(stack_a);
    const Sequence &x = a.request.inputs[stack_a], &y = b.request.inputs[stack_b];
    const bool same = same_files(a, b) && stack_a == stack_b && x == y && mine.by_hand.empty();
    return same ? paired_with_itself(x.size())
                : align(mine, token_labels(a, stack_a), token_labels(b, stack_b));
}

bool reads_same(const ModelConfig& a, int block_a, const ModelConfig& b, int block_b) {
    const AttentionBlock x = a.block(block_a), y = b.block(block_b);
    return x.stack == y.stack && x.key_stack == y.key_stack &&
           a.attention(block_a).recurrence.has_value() == b.attention(block_b).recurrence.has_value();
}

BlockPairs align_blocks(const Alignment& how, const Trace& a, int block_a, const Trace& b, int block_b) {
    HEADLIGHT_CHECK(reads_same(a.config(), block_a, b.config(), block_b));
    const AttentionBlock x = a.config().block(block_a), y = b.config().block(block_b);
    return {align_stacks(how, a, x.stack, b, y.stack), align_stacks(how, a, x.key_stack, b, y.key_stack)};
}

float head_distance(const Trace& a, int block_a, int head_a, const Trace& b, int block_b, int head_b,
                    const BlockPairs& pairs, const CancelFlag* cancel) {
    std::vector<TokenPair> queries;
    std::copy_if(pairs.queries.begin(), pairs.queries.end(), std::back_inserter(queries),
                 [](const TokenPair& p) { return p.both(); });
    double sum = 0;
    for (size_t first = 0; first < queries.size() && !stopped(cancel); first += kQueriesTogether) {
        const std::span<const TokenPair> block =
            std::span(queries).subspan(first, std::min(kQueriesTogether, queries.size() - first));
        const Matrix x = rows_along(a, block_a, head_a, block, pairs.keys, Side::a),
                     y = rows_along(b, block_b, head_b, block, pairs.keys, Side::b);
        const auto distance = a.is_mixing(block_a) ? mixing_distance : divergence;
        for (Index r = 0; r < x.rows(); ++r) sum += double(distance(x.row(r), y.row(r)));
    }
    return queries.empty() ? 0.0f : float(sum / double(queries.size()));
}

bool same_heads(const ModelConfig& a, const ModelConfig& b) { return a.block_table == b.block_table; }

Result<PerHead<float>> head_distances(const Trace& a, const Trace& b, const Alignment& how, ThreadPool& pool,
                                      const CancelFlag* cancel) {
    const ModelConfig& c = a.config();
    if (!same_heads(c, b.config()))
        return Error{
            a.model->name + " and " + b.model->name +
            " have different numbers of layers or heads, so their heads cannot be compared one by one."};
    std::map<std::pair<int, int>, BlockPairs> pairs;  // by stacks of queries and keys
    for (int block = 0; block < c.blocks(); ++block)
        if (auto& p = pairs[{c.block(block).stack, c.block(block).key_stack}]; p.queries.empty())
            p = align_blocks(how, a, block, b, block);
    PerHead<float> out(c);
    const CancelScope scope(pool, cancel);
    for_heads(c, pool, [&](AttentionHead h) {
        const BlockPairs& tokens = pairs.at({c.block(h.block).stack, c.block(h.block).key_stack});
        out[h] = head_distance(a, h.block, h.head, b, h.block, h.head, tokens, cancel);
    });
    return out;
}

namespace {

/// Indexes a vocabulary by label, with the first id of each.
std::map<std::string, int> ids_by_label(const Model& model) {
    std::map<std::string, int> out;
    for (int id = 0; id < model.config.vocab; ++id) out.emplace(prediction_label(model, id), id);
    return out;
}

}  // namespace

std::vector<ProbabilityChange> probability_changes(const Trace& a, int position_a, const Trace& b,
                                                   int position_b, int count, ThreadPool& pool) {
    const Vector logits_a = logits_at(a, position_a, pool), logits_b = logits_at(b, position_b, pool),
                 before = probabilities(logits_a), after = probabilities(logits_b);
    const float sums = log_sum_exp(logits_b) - log_sum_exp(logits_a);
    const bool shared = same_files(a, b);
    const auto ids_a = shared ? std::map<std::string, int>() : ids_by_label(*a.model),
               ids_b = shared ? std::map<std::string, int>() : ids_by_label(*b.model);
    const auto id_of = [](const std::map<std::string, int>& ids, const std::string& label) {
        const auto it = ids.find(label);
        return it == ids.end() ? -1 : it->second;
    };
    std::vector<ProbabilityChange> out;
    const auto add = [&](int id, int id_b) {
        const std::string label = id >= 0 ? prediction_label(*a.model, id) : prediction_label(*b.model, id_b);
        if (std::any_of(out.begin(), out.end(), [&](const ProbabilityChange& p) {
                return p.label == label && (id < 0 || p.id == id);
            }))
            return;
        const float logit =
            id >= 0 && id_b >= 0 ? logits_b[id_b] - logits_a[id] : std::numeric_limits<float>::quiet_NaN();
        out.push_back(
            {id, label, id >= 0 ? before[id] : 0.0f, id_b >= 0 ? after[id_b] : 0.0f, logit, logit - sums});
    };
    for (const int id : ranked_ids(before, count))
        add(id, shared ? id : id_of(ids_b, prediction_label(*a.model, id)));
    for (const int id : ranked_ids(after, count))
        add(shared ? id : id_of(ids_a, prediction_label(*b.model, id)), id);
    std::stable_sort(out.begin(), out.end(), [](const ProbabilityChange& x, const ProbabilityChange& y) {
        return std::abs(x.b - x.a) > std::abs(y.b - y.a);
    });
    return out;
}

Result<std::vector<float>> prediction_divergence(const Trace& a, const Trace& b, const TokenPairs& pairs,
                                                 ThreadPool& pool, const CancelFlag* cancel) {
    std::vector<float> out(pairs.size(), std::numeric_limits<float>::quiet_NaN());
    std::vector<size_t> differ;
    for (size_t i = 0; i < pairs.size(); ++i) {
        if (!pairs[i].both()) continue;
        const bool alike =
            a.model == b.model &&
            (a.normalized().row(pairs[i].a).array() == b.normalized().row(pairs[i].b).array()).all();
        if (alike)
            out[i] = 0;
        else
            differ.push_back(i);
    }
    for (size_t first = 0; first < differ.size(); first += kRowsTogether) {
        if (stopped(cancel)) return cancelled();
        const Index rows = std::min<Index>(kRowsTogether, differ.size() - first);
        Matrix x(rows, a.normalized().cols()), y(rows, b.normalized().cols());
        for (Index r = 0; r < rows; ++r) {
            x.row(r) = a.normalized().row(pairs[differ[first + r]].a);
            y.row(r) = b.normalized().row(pairs[differ[first + r]].b);
        }
        const Matrix p = unembed(*a.model, x, pool), q = unembed(*b.model, y, pool);
        for (Index r = 0; r < rows; ++r)
            out[differ[first + r]] =
                relative_entropy(probabilities(p.row(r).transpose()), probabilities(q.row(r).transpose()));
    }
    return out;
}

}  // namespace headlight

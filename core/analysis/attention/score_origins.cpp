// Splits attention scores by what wrote the query's and the key's vector.
#include "analysis/attention/score_origins.h"

#include <algorithm>
#include <numeric>

#include "analysis/attention/score_steps.h"
#include "base/cast.h"
#include "base/check.h"
#include "model/head_weights.h"

namespace headlight {

namespace {

/// Rotates the parts of q (k) by the token's position, which also scales q.
void turn_parts(const Trace& trace, const ScoreOriginsRequest& at, bool keys, int token, Matrix& y,
                ThreadPool& pool) {
    const AttentionBlock block = trace.config().block(at.block);
    if (block.kind == AttentionKind::cross) return;
    const AttentionSpec& spec = trace.config().attention(at.block);
    const int n = trace.request.inputs[block.stack].size(),
              position = trace.rule(at.block).positions.of(token);
    if (spec.rope.dims) {
        RopeTable table = make_rope_table(spec.rope, n, position, 1);
        table = {table.cosine.replicate(y.rows(), 1), table.sine.replicate(y.rows(), 1)};
        apply_rope(spec.rope, table, 1, pool, y);
    }
    if (!keys) y *= spec.query_scale(position);
}

/// Projects the parts of the stream to q (k) of one head: [parts, d_head], as scores read them.
Matrix project_parts(const Trace& trace, const ScoreOriginsRequest& at, bool keys, int token,
                     const Matrix& rows, ThreadPool& pool) {
    const AttentionSpec& spec = trace.config().attention(at.block);
    const HeadWeights w(*trace.model, {at.block, at.head});
    const HeadPart which = keys ? HeadPart::k : HeadPart::q;
    Matrix y = w.project_parts(which, rows, pool);
    if (spec.norm_rotated) turn_parts(trace, at, keys, token, y, pool);
    if (const Norm norm = w.norm(which)) {
        Eigen::RowVectorXf over = y.colwise().sum();
        if (spec.qk_norm == QkNorm::whole)  // the norm is of all heads together
            over = w.normed_over(which, rows.colwise().sum(), pool).transpose();
        apply_fixed_norm(trace.config(), norm, over, y);
    }
    if (!spec.norm_rotated) turn_parts(trace, at, keys, token, y, pool);
    return y;
}

/// Returns the parts of one side as q or k, without the biases if the model has none.
StreamParts head_vectors(const Trace& trace, const ScoreOriginsRequest& at, bool keys, int token,
                         ThreadPool& pool) {
    StreamParts out = parts_read(trace, at.block, keys, token, pool);
    out.rows = project_parts(trace, at, keys, token, out.rows, pool);
    if (out.rows.row(0).isZero(0)) {
        out.parts.erase(out.parts.begin());
        out.rows = out.rows.bottomRows(out.rows.rows() - 1).eval();
    }
    return out;
}

/// Adds the vectors of the distance as a part of each side: a row scale · Qr·k and a column scale · q·Kr,
/// whose corner is empty (He et al. 2021).
void add_distance(const Trace& trace, const ScoreOriginsRequest& at, const Matrix& q, const Matrix& k,
                  ScoreOrigins& out) {
    const AttentionRule& rule = trace.rule(at.block);
    const DisentangledBias& bias = rule.disentangled;
    if (!bias) return;
    out.disentangled = true;
    const Index rows = out.values.rows(), columns = out.values.cols();
    out.values.conservativeResize(rows + 1, columns + 1);
    out.values.row(rows).setZero();
    out.values.col(columns).setZero();
    const auto vector = [&](const Rows& of_distance, Index width) {
        return of_distance.columns(at.head * width, width).row(bias.row(at.query, at.key));
    };
    if (bias.keys.size())
        out.values.col(columns).head(rows) = rule.scale * (q * vector(bias.keys, q.cols()).transpose());
    if (bias.queries.size())
        out.values.row(rows).head(columns) = rule.scale * (vector(bias.queries, k.cols()) * k.transpose());
    out.queries.push_back({StreamPart::Kind::distance});
    out.keys.push_back({StreamPart::Kind::distance});
}

void fill_score(const Trace& trace, const ScoreOriginsRequest& at, ScoreOrigins& out) {
    const ScoreSteps steps = score_steps(trace, {at.block, at.head}, at.query, at.key, 1).front();
    out.sum = float(out.values.cast<double>().sum());
    out.scaled = steps.scaled;
    out.to_position = steps.to_position;
    out.from_position = steps.from_position;
    out.cap = trace.rule(at.block).cap;
    out.capped = steps.capped;
    out.bias = steps.bias;
    out.before = steps.before;
    out.given = steps.edited;
    out.score = steps.score;
}

}  // namespace

Result<ScoreOrigins> answer_score_origins(const Trace& trace, const ScoreOriginsRequest& at, ThreadPool& pool,
                                          const CancelFlag* cancel) {
    if (trace.is_mixing(at.block)) return no_scores(trace.config(), {at.block, at.head});
    if (const std::string missing = missing_parts(trace.config()); !missing.empty())
        return Error{missing + "; trace the token by its gradients."};
    const CancelScope scope(pool, cancel);
    HEADLIGHT_CHECK(at.query < trace.query_count(at.block) && at.key < trace.key_count(at.block));
    const StreamParts q = head_vectors(trace, at, false, at.query, pool),
                      k = head_vectors(trace, at, true, at.key, pool);
    ScoreOrigins out;
    out.queries = q.parts;
    out.keys = k.parts;
    out.values = trace.rule(at.block).scale * (q.rows * k.rows.transpose());
    add_distance(trace, at, q.rows, k.rows, out);
    fill_score(trace, at, out);
    return out;
}

void ScoreOriginsRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    head = nearest_head(t, block, head);
    query = nearest(query, t.query_count(block));
    key = nearest(key, t.key_count(block));
}

namespace {

/// Says which parts are listed on their own, and which row of the smaller matrix each part goes to.
struct Gathering {
    std::vector<StreamPart> parts;
    Matrix to;  // [fewer, all]: 1 where a part goes into a row
};

Gathering gathered(const std::vector<StreamPart>& parts, const Vector& strength, int count) {
    std::vector<int> order(parts.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return strength[a] > strength[b]; });
    const int kept = std::min(count, isize(parts)), others = isize(parts) - kept;
    std::vector<int> alone(order.begin(), order.begin() + kept);
    std::sort(alone.begin(), alone.end());
    Gathering out;
    out.to = Matrix::Zero(kept + (others ? 1 : 0), isize(parts));
    for (int i = 0; i < kept; ++i) {
        out.parts.push_back(parts[alone[i]]);
        out.to(i, alone[i]) = 1;
    }
    for (auto it = order.begin() + kept; it != order.end(); ++it) out.to(kept, *it) = 1;
    if (others) out.parts.push_back({StreamPart::Kind::others, -1, -1, others});
    return out;
}

}  // namespace

ScoreOrigins strongest_origins(const ScoreOrigins& all, int count) {
    if (count <= 0) return all;
    ScoreOrigins out = all;
    const Matrix sizes = all.values.cwiseAbs();
    const Gathering rows = gathered(all.queries, sizes.rowwise().sum(), count),
                    columns = gathered(all.keys, sizes.colwise().sum().transpose(), count);
    out.queries = rows.parts;
    out.keys = columns.parts;
    out.values = rows.to * all.values * columns.to.transpose();
    return out;
}

std::vector<OriginPair> largest_origins(const ScoreOrigins& o, int count) {
    std::vector<OriginPair> all;
    const auto merged = [](const StreamPart& part) { return part.kind == StreamPart::Kind::others; };
    for (int q = 0; q < isize(o.queries); ++q)
        for (int k = 0; k < isize(o.keys); ++k)
            if (!merged(o.queries[q]) && !merged(o.keys[k])) all.push_back({q, k, o.values(q, k)});
    const auto kept = all.begin() + std::min(count, isize(all));
    std::partial_sort(all.begin(), kept, all.end(), [](const OriginPair& a, const OriginPair& b) {
        const float x = std::abs(a.value), y = std::abs(b.value);
        return x != y ? x > y : std::pair(a.query, a.key) < std::pair(b.query, b.key);
    });
    all.erase(kept, all.end());
    return all;
}

std::vector<NumberTable> origin_numbers(const ScoreOrigins& o, const ModelConfig& c) {
    std::vector<std::string> rows, columns;
    for (const StreamPart& part : o.queries) rows.push_back(stream_part_name(c, part));
    for (const StreamPart& part : o.keys) columns.push_back(stream_part_name(c, part));
    std::vector<std::pair<const char*, float>> steps{{"sum of the shares", o.sum},
                                                     {"q·k times the scale", o.scaled}};
    if (o.disentangled)
        steps.insert(steps.end(),
                     {{"q·Kr times the scale", o.to_position}, {"k·Qr times the scale", o.from_position}});
    steps.insert(steps.end(), {{"soft-capped", o.capped},
                               {"position bias", o.bias},
                               {"score", o.before},
                               {"what softmax takes", o.score}});
    Matrix score(isize(steps), 1);
    std::vector<std::string> names;
    for (const auto& [name, value] : steps) {
        score(isize(names), 0) = value;
        names.emplace_back(name);
    }
    return {{"origins of the score", "query", "key", std::move(rows), std::move(columns), o.values},
            {.name = "score",
             .rows_are = "step",
             .columns_are = "",
             .rows = std::move(names),
             .columns = {"score"},
             .values = score,
             .beside = true}};
}

}  // namespace headlight

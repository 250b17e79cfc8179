// Computes what attention adds to the embeddings.
#include "analysis/attribution/delta.h"

#include <algorithm>
#include <limits>
#include <set>

#include "analysis/attention/steps.h"
#include "analysis/attribution/pca.h"
#include "analysis/circuits/direct.h"
#include "analysis/prediction/lens.h"
#include "base/cast.h"
#include "model/mixers/attention_gate.h"

namespace headlight {

namespace {

constexpr int kTokensMoved = 8, kTokensOfHead = 3;

/// Lists the attention blocks that write into one stack, layer by layer.
std::vector<int> blocks_of(const ModelConfig& c, int stack) {
    std::vector<int> out;
    for (int layer = 0; layer < c.stacks[stack].depth(); ++layer)
        for (const int block : c.blocks_of(stack, layer)) out.push_back(block);
    return out;
}

DeltaPart part_of(const Eigen::Ref<const Eigen::RowVectorXf>& part,
                  const Eigen::Ref<const Eigen::RowVectorXf>& whole) {
    const float length = whole.norm();
    return {part.norm(), length > 0 ? part.dot(whole) / length : 0.0f};
}

void split_by_head(const Trace& trace, const DeltaSplitRequest& w, const Matrix& additions, DeltaSplit& s,
                   ThreadPool& pool) {
    const Eigen::RowVectorXf whole = trace.attn_out(w.block, w.query, 1, pool).row(0);
    for (Index h = 0; h < additions.rows(); ++h) s.heads.push_back(part_of(additions.row(h), whole));
    s.given = out_by(trace.rule(w.block), w.query) == OutBy::given;
    if (s.given || trace.adds_bias(w.block))
        s.heads.push_back(part_of(whole - additions.colwise().sum(), whole));
}

void split_by_key(const Trace& trace, const DeltaSplitRequest& w, DeltaSplit& s, ThreadPool& pool) {
    const Matrix parts = key_contributions(trace, w.block, w.head, w.query, pool);
    const Eigen::RowVectorXf whole = parts.colwise().sum();
    for (Index k = 0; k < parts.rows(); ++k) s.keys.push_back(part_of(parts.row(k), whole));
}

void find_moved_tokens(const Trace& trace, const DeltaSplitRequest& w, const Matrix& additions, DeltaSplit& s,
                       ThreadPool& pool) {
    const bool last = trace.config().block(w.block).stack + 1 == isize(trace.config().stacks);
    const auto path = last ? DirectPath::at(trace, w.query, w.block) : std::nullopt;
    if (!path) return;
    const Vector logits = path->logits(trace.attn_out(w.block, w.query, 1, pool), pool).row(0).transpose();
    for (const int id : ranked_ids(logits, kTokensMoved)) s.promoted.push_back({id, logits[id]});
    for (const int id : ranked_ids(-logits, kTokensMoved)) s.suppressed.push_back({id, logits[id]});
    const auto explained = [&](const Vector& all) {
        return all[s.token] - (w.against < 0 ? 0 : all[w.against]);
    };
    s.token = w.token >= 0 ? w.token : s.after_layer.back().id;
    s.against = w.against;
    s.explained = explained(logits);
    const Matrix by_head = path->logits(additions, pool);
    for (Index h = 0; h < by_head.rows(); ++h) {
        s.promoted_by_head.push_back(ranked_ids(by_head.row(h).transpose(), kTokensOfHead));
        s.explained_by_head.push_back(explained(by_head.row(h).transpose()));
    }
}

}  // namespace

Matrix key_contributions(const Trace& trace, int block, int head, int query, ThreadPool& pool) {
    const int heads = trace.config().heads(block), d = trace.config().d_value(block);
    const AttentionRule& rule = trace.rule(block);
    Matrix weighted = Matrix::Zero(trace.key_count(block), Index{heads} * d);
    for (int h = head < 0 ? 0 : head; h < (head < 0 ? heads : head + 1); ++h) {
        if (z_by(rule, h, query) != ZBy::weights) continue;  // a replaced z came from no key
        const Matrix pattern = trace.pattern_rows(block, h, query, 1);
        const Rows v = trace.v(block, h);
        for (Index key = 0; key < v.rows(); ++key)
            weighted.row(key).segment(Index{h} * d, d) = pattern(0, key) * v.row(key);
    }
    if (const AttentionActivations& a = trace.attention(block); a.gate.size()) {
        const Gate gate = gate_of(trace.config(), trace.config().attention(block), trace.weights(block));
        weighted.array().rowwise() *=
            gate_multipliers(gate, a, query, trace.z(block, query, 1, pool)).array();
    }
    Linear o = trace.weights(block).o;
    o.bias = nullptr;
    if (out_by(rule, query) != OutBy::heads) weighted.setZero();
    Matrix out(weighted.rows(), o.out);
    apply_linear(pool, weighted, o, out);
    return out;
}

Result<DeltaMaps> answer_delta_maps(const Trace& trace, const DeltaMapsRequest& w, ThreadPool& pool,
                                    const CancelFlag* cancel) {
    check_stream(trace);
    DeltaMaps m{blocks_of(trace.config(), w.stack), {}, {}, {}};
    const Index n = trace.request.inputs[w.stack].size(), columns = m.blocks.size();
    for (Matrix* map : {&m.before, &m.delta, &m.cosine}) map->resize(n, columns);
    for (Index i = 0; i < columns; ++i) {
        if (stopped(cancel)) return cancelled();
        const Matrix before = trace.resid_before(m.blocks[i], pool);
        const Matrix delta = trace.attn_out(m.blocks[i], pool);
        const Matrix after = before + delta;
        m.before.col(i) = before.rowwise().norm();
        m.delta.col(i) = delta.rowwise().norm();
        m.cosine.col(i) = before.cwiseProduct(after).rowwise().sum().cwiseQuotient(
            (before.rowwise().norm().cwiseProduct(after.rowwise().norm())).cwiseMax(1e-20f));
    }
    return m;
}

Result<DeltaSplit> answer_delta_split(const Trace& trace, const DeltaSplitRequest& w, ThreadPool& pool,
                                      const CancelFlag* cancel) {
    trace.weights(0);  // fails if the trace holds none
    const ModelConfig& c = trace.config();
    DeltaSplit s;
    Matrix additions = trace.head_additions(w.block, w.query, pool);
    if (out_by(trace.rule(w.block), w.query) == OutBy::given) additions.setZero();  // the keys are not used
    split_by_head(trace, w, additions, s, pool);
    split_by_key(trace, w, s, pool);
    if (c.block(w.block).stack + 1 == isize(c.stacks) && trace.model->has_logits()) {
        TRY(const Lens lens, answer_lens(trace, LensRequest{w.query, 1}, pool, cancel));
        for (const auto& layer : lens.top) s.after_layer.push_back(layer[0]);
    }
    find_moved_tokens(trace, w, additions, s, pool);
    s.norm_by_head = PerHead<float>(c, std::numeric_limits<float>::quiet_NaN());
    for (const int block : blocks_of(c, c.block(w.block).stack)) {
        if (stopped(cancel)) return cancelled();
        const Matrix results = trace.results(block, w.query, pool);
        for (int h = 0; h < c.heads(block); ++h) s.norm_by_head[{block, h}] = results.row(h).norm();
    }
    return s;
}

std::vector<int> long_tokens(const std::vector<Matrix>& steps) {
    constexpr float kTimesMedian = 10;
    std::set<int> found;
    for (const Matrix& step : steps) {
        const Vector lengths = step.rowwise().norm();
        std::vector<float> sorted(lengths.data(), lengths.data() + lengths.size());
        const auto median = sorted.begin() + (isize(sorted) - 1) / 2;
        std::nth_element(sorted.begin(), median, sorted.end());
        for (int i = 0; i < narrow<int>(lengths.size()); ++i)
            if (*median > 0 && lengths[i] > kTimesMedian * *median) found.insert(i);
    }
    return {found.begin(), found.end()};
}

Result<Projection> answer_projection(const Trace& trace, const ProjectionRequest& w, ThreadPool& pool,
                                     const CancelFlag* cancel) {
    check_stream(trace);
    std::vector<Matrix> steps;
    if (w.block >= 0) {
        steps.push_back(trace.resid_before(w.block, pool));
        steps.push_back(steps[0] + trace.attn_out(w.block, pool));
    } else {
        const StackActivations& stack = trace.stack(w.stack);
        for (const auto& layer : stack.layers) steps.push_back(layer->resid_pre.all());
        const int last = isize(stack.layers) - 1;
        steps.push_back(trace.resid_post(w.stack, last).all());
        const auto same = [&](const Matrix& m) { return m.rows() == steps[0].rows() && m.rows() > 0; };
        if (!std::all_of(steps.begin(), steps.end(), same))
            return Error{trace.model->name + " does not give the residual stream of every layer."};
    }
    Projection p;
    p.left_out = long_tokens(steps);
    for (int i = 0; i < narrow<int>(steps[0].rows()); ++i)
        if (!std::binary_search(p.left_out.begin(), p.left_out.end(), i)) p.tokens.push_back(i);
    const Index n = isize(p.tokens);
    Matrix all(n * steps.size(), steps[0].cols());
    for (int i = 0; i < isize(steps); ++i) all.middleRows(i * n, n) = steps[i](p.tokens, Eigen::all);
    const Plane plane = principal_plane(all, cancel);
    if (stopped(cancel)) return cancelled();
    p.kept = plane.kept;
    for (int i = 0; i < isize(steps); ++i) p.steps.push_back(plane.points.middleRows(i * n, n));
    return p;
}

void DeltaMapsRequest::clamp_to(const Trace& t) { stack = nearest_stack(t, stack); }
bool DeltaMapsRequest::valid_for(const Shown& shown) const { return stack == shown.stack(); }

void DeltaSplitRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    query = nearest(query, t.query_count(block));
    head = std::min(head, t.config().heads(block) - 1);
    const bool known = token < t.config().vocab && against < t.config().vocab;
    if (!known) token = against = -1;
}
bool DeltaSplitRequest::valid_for(const Shown& shown) const { return shown.stack_of(block) == shown.stack(); }

void ProjectionRequest::clamp_to(const Trace& t) {
    stack = nearest_stack(t, stack);
    block = std::min(block, t.config().blocks() - 1);
}
bool ProjectionRequest::valid_for(const Shown& shown) const { return stack == shown.stack(); }

}  // namespace headlight

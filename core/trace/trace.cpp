#include "trace/trace.h"

#include <algorithm>
#include <cmath>

namespace headlight {

const Sequence& Trace::queries(int site) const { return request.inputs[static_cast<size_t>(config().site(site).stack)]; }
const Sequence& Trace::keys(int site) const { return request.inputs[static_cast<size_t>(config().site(site).key_stack())]; }

const AttentionActivations& Trace::attention(int site) const {
    const AttentionSite s = config().site(site);
    const LayerActivations& layer = *stack(s.stack).layers[static_cast<size_t>(s.layer)];
    return s.kind == AttentionKind::cross ? layer.cross : layer.self;
}

namespace {
ConstMatrixRef head_columns(const Matrix& all, int d_head, int head) { return all.middleCols(Index{head} * d_head, d_head); }
}  // namespace

ConstMatrixRef Trace::q(int site, int head) const { return head_columns(attention(site).q, config().d_head(site), head); }
ConstMatrixRef Trace::k(int site, int head) const { return head_columns(attention(site).k, config().d_head(site), rule(site).kv_head(head)); }
ConstMatrixRef Trace::v(int site, int head) const { return head_columns(attention(site).v, config().d_head(site), rule(site).kv_head(head)); }

Matrix Trace::z(int site, int first, int rows, ThreadPool& pool) const {
    const AttentionActivations& a = attention(site);
    Matrix out(rows, a.q.cols());
    attend(pool, *a.rule, a.q, a.k, a.v, first, out);
    return out;
}

Matrix Trace::pattern_rows(int site, int head, int first, int rows) const {
    Matrix pattern(rows, key_count(site));
    head_pattern(rule(site), head, q(site, head), k(site, head), first, pattern);
    return pattern;
}

Matrix Trace::pattern(int site, int head) const { return pattern_rows(site, head, 0, query_count(site)); }

Matrix Trace::scores(int site, int head) const {
    Matrix scores(query_count(site), key_count(site));
    attention_scores(rule(site), head, q(site, head), k(site, head), 0, 0, scores);
    return scores;
}

const Matrix& Trace::resid_post(int index, int layer) const {
    const auto next = static_cast<size_t>(layer) + 1;
    const StackActivations& s = stack(index);
    return next < s.layers.size() ? s.layers[next]->resid_pre : s.resid_final;
}

const AttentionWeights& Trace::weights(int site) const {
    const AttentionSite s = config().site(site);
    const LayerWeights& w = model->weights.stacks[static_cast<size_t>(s.stack)].layers[static_cast<size_t>(s.layer)];
    return s.kind == AttentionKind::cross ? w.cross : w.self;
}

Matrix Trace::resid_before(int site, ThreadPool& pool) const {
    const AttentionSite s = config().site(site);
    const LayerActivations& layer = *stack(s.stack).layers[static_cast<size_t>(s.layer)];
    if (s.kind != AttentionKind::cross) return layer.resid_pre;
    const Matrix mid = layer.resid_pre + attn_out(config().sites_of(s.stack, s.layer).front(), pool);
    const Norm& norm = model->weights.stacks[static_cast<size_t>(s.stack)].layers[static_cast<size_t>(s.layer)].self.norm;
    return config().norm_place == NormPlace::after ? apply_norm(config(), norm, mid, pool) : mid;
}

Matrix Trace::attn_out(int site, int first, int rows, ThreadPool& pool) const {
    if (request.intervention.skips(ChangeKind::skip_attention, site)) return Matrix::Zero(rows, config().d_model);
    return block_output(config(), weights(site), z(site, first, rows, pool), pool);
}
Matrix Trace::proj_out(int site, int first, int rows, ThreadPool& pool) const { return project_out(weights(site), z(site, first, rows, pool), pool); }

bool Trace::adds_bias(int site) const {
    const AttentionWeights& w = weights(site);
    return (w.o.bias || w.out_norm.bias) && !request.intervention.skips(ChangeKind::skip_attention, site);
}

Matrix Trace::head_additions(int site, int query, ThreadPool& pool) const {
    Matrix out = results(site, query, pool);
    const Norm& norm = weights(site).out_norm;
    if (!norm) return out;
    const Matrix projected = proj_out(site, query, 1, pool);
    const auto through = projected.row(0);
    const bool centre = config().norm == NormKind::layer_norm;
    const float mean = centre ? through.mean() : 0.0f, deviation = std::sqrt((through.array() - mean).square().mean() + config().norm_eps);
    if (centre) out.colwise() -= out.rowwise().mean().eval();
    const Eigen::Map<const Eigen::RowVectorXf> gain(norm.gain, out.cols());
    return (out.array().rowwise() * (gain.array() / deviation)).matrix();
}

Matrix Trace::results(int site, int query, ThreadPool& pool) const {
    if (request.intervention.skips(ChangeKind::skip_attention, site)) return Matrix::Zero(config().heads(site), config().d_model);
    Linear o = weights(site).o;
    o.bias = nullptr;
    const Matrix row = z(site, query, 1, pool);
    const Index heads = config().heads(site), width = config().d_head(site);
    Matrix apart = Matrix::Zero(heads, row.cols());  // each head's z alone in its own columns
    for (Index h = 0; h < heads; ++h) apart.row(h).segment(h * width, width) = row.row(0).segment(h * width, width);
    Matrix out(heads, o.out);
    apply_linear(pool, apart, o, out);
    return out;
}

Matrix masked_pattern(const Trace& trace, int site, int head) {
    Matrix w = trace.pattern(site, head);
    const MaskPlan& mask = trace.rule(site).mask_of(head);
    for (Index q = 0; q < w.rows(); ++q) {
        const auto query = static_cast<int>(q);
        const KeyRange& seen = mask.seen[static_cast<size_t>(q)];
        const auto hide = [&](Index from, Index to) {  // a frozen pattern may weigh what the mask hides
            for (Index k = from; k < to; ++k)
                if (w(q, k) == 0) w(q, k) = -1;
        };
        if (seen.size() == 0) continue;
        hide(0, seen.begin);
        hide(seen.end, w.cols());
        for (int k = seen.begin; mask.has_holes(query) && k < seen.end; ++k)
            if (mask.is_hole(query, k)) hide(k, k + 1);
    }
    return w;
}

Matrix mean_pattern(const Trace& trace, int site, std::vector<int> heads) {
    for (int h = 0, all = heads.empty() ? trace.config().heads(site) : 0; h < all; ++h) heads.push_back(h);
    Matrix sum = masked_pattern(trace, site, heads[0]);
    for (size_t i = 1; i < heads.size(); ++i) sum += masked_pattern(trace, site, heads[i]);
    return sum / static_cast<float>(heads.size());
}

Matrix without_first_key(Matrix weights) {
    for (Index q = 0; q < weights.rows(); ++q) {
        weights(q, 0) = -1;
        const float rest = weights.row(q).cwiseMax(0.0f).sum();
        for (Index k = 1; k < weights.cols(); ++k)
            if (weights(q, k) > 0) weights(q, k) /= rest;
    }
    return weights;
}

namespace {

/// Rows of one stack that cannot have changed since `past`.
int unchanged_rows(const Trace& past, const ForwardRequest& request, size_t stack, bool source_changed) {
    const Sequence &before = past.request.inputs[stack], &now = request.inputs[stack];
    const Intervention& intervention = request.intervention;
    if (source_changed || past.request.intervention.mask != intervention.mask) return 0;
    if (before == now) return now.size();
    if (past.request.intervention != intervention) return 0;
    const ModelConfig& c = past.model->config;
    const bool mean = std::any_of(intervention.changes.begin(), intervention.changes.end(), [](const Change& change) { return change.kind == ChangeKind::mean || change.kind == ChangeKind::allow; });
    const bool later_tokens_matter = !c.stacks[stack].causal || !intervention.mask.follows_causality() || mean;
    if (later_tokens_matter || c.rope.depends_on_length(std::max(before.size(), now.size()))) return 0;
    const auto differs = std::mismatch(before.ids.begin(), before.ids.end(), now.ids.begin(), now.ids.end());
    return static_cast<int>(differs.first - before.ids.begin());
}

/// Layers of a stack before the first that a change concerns which one of the two requests has and the other has not.
int unchanged_layers(const ModelConfig& c, size_t stack, const Intervention& before, const Intervention& now) {
    int first = c.stacks[stack].layers;
    const auto note = [&](const Change& change, const std::vector<Change>& others) {
        if (std::find(others.begin(), others.end(), change) != others.end()) return;
        if (change.site < 0) first = 0;
        else if (c.site(change.site).stack == static_cast<int>(stack)) first = std::min(first, c.site(change.site).layer);
    };
    for (const Change& change : before.changes) note(change, now.changes);
    for (const Change& change : now.changes) note(change, before.changes);
    return before.mask == now.mask ? first : 0;
}

Reuse reusable(const Trace* past, const Model& model, const ForwardRequest& request) {
    if (!past || past->model.get() != &model) return {};
    Reuse reuse{&past->activations, {}, {}};
    bool source_changed = false;
    for (size_t s = 0; s < request.inputs.size(); ++s) {
        const int layers = source_changed ? 0 : unchanged_layers(model.config, s, past->request.intervention, request.intervention);
        reuse.rows.push_back(unchanged_rows(*past, request, s, source_changed));
        reuse.layers.push_back(layers);
        source_changed = source_changed || !(past->request.inputs[s] == request.inputs[s]) || layers < model.config.stacks[s].layers;
    }
    return reuse;
}

}  // namespace

Result<std::shared_ptr<const Trace>> run_trace(std::shared_ptr<const Model> model, ForwardRequest request, ThreadPool& pool, const CancelFlag* cancel, const Trace* past) {
    TRY(Activations activations, forward(*model, request.inputs, request.intervention, pool, cancel, reusable(past, *model, request)));
    return std::make_shared<const Trace>(Trace{std::move(model), std::move(request), std::move(activations)});
}

}  // namespace headlight

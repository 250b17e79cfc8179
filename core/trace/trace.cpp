// Runs forward passes and derives activations from what they kept.
#include "trace/trace.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"
#include "model/engine.h"
#include "model/interventions/rules.h"
#include "model/laurel.h"
#include "model/mixers/attention_gate.h"
#include "model/streams.h"
#include "trace/reuse.h"

namespace headlight {

const Sequence& Trace::queries(int block) const { return request.inputs[config().block(block).stack]; }
const Sequence& Trace::keys(int block) const { return request.inputs[config().block(block).key_stack]; }

int Trace::first_token(int stack) const {
    int out = 0;
    for (int s = 0; s < stack; ++s) out += request.inputs[s].size();
    return out;
}

const AttentionActivations& Trace::attention(int block) const {
    HEADLIGHT_CHECK(block >= 0 && block < config().blocks());
    const AttentionBlock s = config().block(block);
    const LayerActivations& layer = *stack(s.stack).layers[s.layer];
    return s.is_second() ? layer.second : layer.self;
}

namespace {
Rows head_columns(const Rows& all, int width, int head) {
    HEADLIGHT_CHECK(head >= 0);
    return all.columns(Index{head} * width, width);
}

/// Throws if a recorded trace lacks what is asked for, and says so.
void check_held(bool held, const char* what) {
    if (!held)
        throw Failure(
            Error{"This needs " + std::string(what) + ", which the trace does not hold; open the model."});
}
}  // namespace

Rows Trace::q(int block, int head) const {
    return head_columns(attention(block).q, config().d_head(block), rule(block).query_head(head));
}
Rows Trace::k(int block, int head) const {
    return rated_keys(block, head).columns(0, config().d_head(block));
}
Rows Trace::rated_keys(int block, int head) const {
    const Index width = rule(block).key_width(config().d_head(block));
    return head_columns(attention(block).k, narrow<int>(width), rule(block).key_head(head));
}
Rows Trace::v(int block, int head) const {
    check_held(attention(block).v.rows() == key_count(block), "the values");
    return head_columns(attention(block).v, config().d_value(block), rule(block).kv_head(head));
}

Matrix Trace::z(int block, int first, int rows, ThreadPool& pool) const {
    const AttentionActivations& a = attention(block);
    check_held(a.v.rows() == key_count(block), "the values");
    Matrix out(rows, Index{config().heads(block)} * config().d_value(block));
    attend(pool, *a.rule, a.q, a.k, a.v, first, out);
    return out;
}

Matrix Trace::gated_z(int block, int first, int rows, ThreadPool& pool) const {
    Matrix out = z(block, first, rows, pool);
    if (const AttentionActivations& a = attention(block); a.gate.size())
        apply_gate(pool, gate_of(config(), config().attention(block), weights(block)), a, first, out);
    return out;
}

Matrix Trace::pattern_rows(int block, int head, int first, int rows) const {
    Matrix pattern(rows, key_count(block));
    head_pattern(rule(block), head, q(block, head), rated_keys(block, head), first, pattern);
    return pattern;
}

namespace {
/// Checks memory before `maps` maps of [queries, keys] are made.
void check_room(const Trace& trace, int block, int maps) {
    check_fits(int64_t{trace.query_count(block)} * trace.key_count(block) * maps *
               static_cast<int64_t>(sizeof(float)));
}
}  // namespace

Matrix Trace::pattern(int block, int head) const {
    check_room(*this, block, 1);
    return pattern_rows(block, head, 0, query_count(block));
}

Matrix Trace::scores(int block, int head) const {
    check_room(*this, block, 1);
    Matrix scores(query_count(block), key_count(block));
    attention_scores(rule(block), head, q(block, head), k(block, head), 0, 0, scores);
    return scores;
}

Rows Trace::resid_post(int index, int layer) const {
    const int next = layer + 1;
    const StackActivations& s = stack(index);
    HEADLIGHT_CHECK(layer >= 0 && next <= isize(s.layers));
    const bool last = next == isize(s.layers);
    if (const StackConfig& of = config().stacks[index]; of.streams)
        return active_stream(config(), of, last ? s.streams : s.layers[next]->streams);
    return last ? s.resid_final : s.layers[next]->entering();
}

Matrix Trace::resid_mid(int index, int layer, ThreadPool& pool) const {
    return resid_mid(index, layer, 0, request.inputs[index].size(), pool);
}

Matrix Trace::resid_mid(int index, int layer, int first, int rows, ThreadPool& pool) const {
    const int last = config().blocks_of(index, layer).back();
    Matrix mid = resid_before(last, pool).middleRows(first, rows) + attn_out(last, first, rows, pool);
    if (config().block(last).kind == AttentionKind::beside)
        mid += attn_out(config().blocks_of(index, layer).front(), first, rows, pool);
    if (config().layer_of(last).laurel_rank) {
        const StackRun run{*model, config().stacks[index], model->weights.stacks[index], pool};
        const Matrix pre = stack(index).layers[layer]->resid_pre.middleRows(first, rows);
        return with_laurel(run, layer, pre, std::move(mid));
    }
    if (!config().layer_of(last).norms_sum()) return mid;
    const Norm& norm = weights(last).norm;
    return norm ? apply_norm(config(), norm, mid, pool) : mid;
}

const AttentionWeights& Trace::weights(int block) const {
    check_held(has_weights(), "the model's weights");
    const AttentionBlock s = config().block(block);
    const LayerWeights& w = model->weights.stacks[s.stack].layers[s.layer];
    return s.is_second() ? w.second : w.self;
}

Matrix Trace::resid_before(int block, ThreadPool& pool) const {
    const AttentionBlock s = config().block(block);
    const LayerActivations& layer = *stack(s.stack).layers[s.layer];
    check_held(layer.resid_pre.size() > 0, "the residual stream");
    if (s.kind != AttentionKind::cross) return layer.resid_pre.all();
    const Matrix mid = layer.resid_pre.all() + attn_out(config().blocks_of(s.stack, s.layer).front(), pool);
    if (!config().layer_of(block).norms_sum()) return mid;
    return apply_norm(config(), model->weights.stacks[s.stack].layers[s.layer].self.norm, mid, pool);
}

Matrix Trace::attn_out(int block, int first, int rows, ThreadPool& pool) const {
    if (const Rows& sent = attention(block).out; sent.size()) return sent.middleRows(first, rows);
    if (model->engine) check_held(false, "what each block adds to the residual stream");
    const AttentionWeights& w = weights(block);
    Matrix out = rule(block).skipped ? Matrix(Matrix::Zero(rows, config().d_model))
                                     : block_output(config(), w, gated_z(block, first, rows, pool), pool);
    rule(block).given_out.put(first, out);
    return out;
}
Matrix Trace::proj_out(int block, int first, int rows, ThreadPool& pool) const {
    return project_out(weights(block), gated_z(block, first, rows, pool), pool);
}

Matrix Trace::mlp_input(int index, int layer, int first, int rows, ThreadPool& pool) const {
    const LayerWeights& w = model->weights.stacks[index].layers[layer];
    const LayerSpec& spec = config().stacks[index].layers[layer];
    Matrix reads = spec.parallel ? Matrix(stack(index).layers[layer]->resid_pre.middleRows(first, rows))
                                 : resid_mid(index, layer, first, rows, pool);
    return !spec.norms_sum() && w.mlp_norm ? apply_norm(config(), w.mlp_norm, reads, pool) : reads;
}

Matrix Trace::mlp_out(int index, int layer, ThreadPool& pool) const {
    const LayerActivations& a = *stack(index).layers[layer];
    if (a.mlp_out.size()) return a.mlp_out.all();
    check_held(has_weights(), "the model's weights");
    const Matrix reads = mlp_input(index, layer, 0, request.inputs[index].size(), pool);
    Matrix out = mlp_output(*model, index, layer, a.changed, reads, pool);
    a.changed.mlp_out.put(0, out);
    return out;
}

bool Trace::adds_bias(int block) const {
    const AttentionWeights& w = weights(block);
    return (w.o.bias || w.post_norm.bias) && !rule(block).skipped;
}

Matrix Trace::head_additions(int block, int query, ThreadPool& pool) const {
    Matrix out = results(block, query, pool);
    const Norm& norm = weights(block).post_norm;
    if (!norm) return out;
    const Matrix projected = proj_out(block, query, 1, pool);
    const auto through = projected.row(0);
    const bool center = config().norm == NormKind::layer_norm;
    const float mean = center ? through.mean() : 0.0f,
                deviation = std::sqrt((through.array() - mean).square().mean() + config().norm_eps);
    if (center) out.colwise() -= out.rowwise().mean().eval();
    const Eigen::Map<const Eigen::RowVectorXf> weight(norm.weight, out.cols());
    return (out.array().rowwise() * (weight.array() / deviation)).matrix();
}

Matrix Trace::results(int block, int query, ThreadPool& pool) const {
    if (rule(block).skipped) return Matrix::Zero(config().heads(block), config().d_model);
    Linear o = weights(block).o;
    o.bias = nullptr;
    const Matrix row = gated_z(block, query, 1, pool);
    const Index heads = config().heads(block), width = config().d_value(block);
    Matrix apart = Matrix::Zero(heads, row.cols());  // each head's z in its own columns, zeros elsewhere
    for (Index h = 0; h < heads; ++h)
        apart.row(h).segment(h * width, width) = row.row(0).segment(h * width, width);
    Matrix out(heads, o.out);
    apply_linear(pool, apart, o, out);
    return out;
}

void mark_masked(const MaskPlan& mask, int query, std::span<float> weights) {
    const KeyRange range = mask.weight_range(query);
    const auto hide = [&](int from, int to) {
        for (int k = from; k < to; ++k)
            if (float& w = weights[k]; w == 0) w = kMasked;
    };
    hide(0, range.begin);
    hide(range.end, isize(weights));
    for (int k = range.begin; mask.has_masked(query) && k < range.end; ++k)
        if (mask.is_masked(query, k)) hide(k, k + 1);
}

Matrix masked_pattern(const Trace& trace, int block, int head) {
    check_room(trace, block, 1);
    return masked_pattern_rows(trace, block, head, 0, trace.query_count(block));
}

Matrix masked_pattern_rows(const Trace& trace, int block, int head, int first, int rows) {
    Matrix w = trace.pattern_rows(block, head, first, rows);
    const MaskPlan& mask = trace.rule(block).mask_of(head);
    for (int q = 0; q < w.rows(); ++q) mark_masked(mask, first + q, std::span(w.row(q).data(), w.cols()));
    return w;
}

Matrix shares_of_keys(const Trace& trace, AttentionHead head, int first, int rows) {
    Matrix out = trace.pattern_rows(head.block, head.head, first, rows);
    if (!trace.is_mixing(head.block)) return out;
    out = out.cwiseAbs();
    for (Index i = 0; i < rows; ++i)
        if (const float sum = out.row(i).sum(); sum > 0) out.row(i) /= sum;
    return out;
}

Vector sink_weights(const Trace& trace, AttentionHead head, int first, int rows) {
    Vector out = Vector::Zero(rows);
    if (trace.rule(head.block).sinks.empty()) return out;
    const Matrix w = trace.pattern_rows(head.block, head.head, first, rows);
    for (Index i = 0; i < rows; ++i) out[i] = sink_weight(trace.rule(head.block), w.row(i));
    return out;
}

std::vector<int> fully_masked_rows(const Trace& trace, int block, int head) {
    std::vector<int> out;
    for (int q = 0; q < trace.query_count(block); ++q)
        if (trace.rule(block).is_softmax() && trace.rule(block).mask_of(head).fully_masked(q) &&
            !trace.rule(block).is_given(head, q))
            out.push_back(q);
    return out;
}

void show_pattern(const Trace& trace, AttentionHead head, int first, int last, const ThreadPool& pool,
                  PatternObserver& observer) {
    const auto [block, number] = head;
    show_pattern(pool, trace.rule(block), number, trace.q(block, number), trace.rated_keys(block, number),
                 first, last, [&](const PatternTile& tile) { observer.see(head.block, tile); });
}

Matrix without_first_key(Matrix weights, bool is_mixing) {
    if (is_mixing) {
        weights.col(0).setConstant(kMasked);
        return weights;
    }
    for (Index q = 0; q < weights.rows(); ++q) {
        weights(q, 0) = kMasked;
        const float rest = weights.row(q).cwiseMax(0.0f).sum();
        for (Index k = 1; k < weights.cols(); ++k)
            if (weights(q, k) > 0) weights(q, k) /= rest;
    }
    return weights;
}

int passes_together(const Trace& trace, int count) {
    constexpr int64_t kBytes = 128 << 20;
    Index floats = 1;
    for (const auto& stack : trace.activations.stacks) {
        floats += stack->streams.size() + stack->resid_final.size() + stack->normalized.size() +
                  stack->layer_embeddings.size();
        for (const auto& layer : stack->layers) {
            floats += layer->resid_pre.size() + layer->streams.size();
            for (const AttentionActivations* a : {&layer->self, &layer->second})
                floats += a->q.size() + a->k.size() + a->v.size() + a->gate.size();
        }
    }
    const int64_t bytes = floats * static_cast<int64_t>(sizeof(float));
    return static_cast<int>(std::clamp<int64_t>(kBytes / bytes, 1, count));
}

namespace {

/// Shows the tiles of a pass that was computed elsewhere, but for those of `past`.
void show_patterns(const Trace& trace, const Trace* past, ThreadPool& pool, PatternObserver& observer) {
    const ModelConfig& c = trace.config();
    const Reuse kept = past && past->model == trace.model ? reusable(*past, trace) : Reuse();
    for (int block = 0; block < c.blocks(); ++block) {
        const StackReuse same = kept.stacks.empty() ? StackReuse() : kept.stacks[c.block(block).stack];
        if (same.whole) continue;
        observer.begin(block, same.rows);
        pool.run(c.heads(block), [&](int head) {
            show_pattern(trace, {block, head}, same.rows, trace.query_count(block), pool, observer);
        });
    }
}

/// Runs requests one after another where the model's weights are.
Result<std::vector<std::shared_ptr<const Trace>>> run_elsewhere(const std::shared_ptr<const Model>& model,
                                                                std::vector<TraceRequest> requests,
                                                                ThreadPool& pool, const CancelFlag* cancel) {
    std::vector<std::shared_ptr<const Trace>> out;
    for (TraceRequest& r : requests) {
        TRY_STATUS(check_sequences(*model, r.request.inputs));
        TRY(auto trace, model->engine->run(model, std::move(r.request), r.past, cancel));
        if (r.observer) show_patterns(*trace, r.past, pool, *r.observer);
        out.push_back(std::move(trace));
    }
    return out;
}

}  // namespace

Result<std::vector<std::shared_ptr<const Trace>>> run_traces(const std::shared_ptr<const Model>& model,
                                                             std::vector<TraceRequest> requests,
                                                             ThreadPool& pool, const CancelFlag* cancel) {
    HEADLIGHT_CHECK(model);
    const CancelScope scope(pool, cancel);
    if (model->engine) return run_elsewhere(model, std::move(requests), pool, cancel);
    std::vector<CheckedSequences> inputs;
    std::vector<std::vector<std::vector<LayerRules>>> rules;
    for (const TraceRequest& r : requests) {
        TRY(const CheckedSequences checked, check_sequences(*model, r.request.inputs));
        TRY(auto active,
            attention_rules(*model, r.request.inputs, r.request.intervention, pool.cancel_flag()));
        inputs.push_back(checked);
        rules.push_back(std::move(active));
    }
    std::vector<PassRequest> passes;
    for (size_t i = 0; i < requests.size(); ++i) {
        const TraceRequest& r = requests[i];
        passes.push_back({inputs[i], rules[i], reusable(r.past, *model, r.request, rules[i]), r.observer});
    }
    auto activations = forward(*model, passes, pool, cancel);
    TRY_STATUS(model->store->check_unchanged());  // report a changed file before the failures that it causes
    if (!activations) return activations.error();
    std::vector<std::shared_ptr<const Trace>> out;
    for (size_t i = 0; i < requests.size(); ++i)
        out.push_back(std::make_shared<const Trace>(
            Trace{model, std::move(requests[i].request), std::move((*activations)[i])}));
    return out;
}

Result<std::shared_ptr<const Trace>> run_trace(std::shared_ptr<const Model> model, ForwardRequest request,
                                               ThreadPool& pool, const CancelFlag* cancel, const Trace* past,
                                               PatternObserver* observer) {
    std::vector<TraceRequest> one;
    one.push_back({std::move(request), past, observer});
    TRY(auto traces, run_traces(model, std::move(one), pool, cancel));
    return std::move(traces.front());
}

}  // namespace headlight

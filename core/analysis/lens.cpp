#include "analysis/lens.h"

#include "analysis/direct.h"
#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// [count, vocab]: the residual stream at a layer's entrance (or after the last), read as logits.
Matrix early_logits(const Trace& trace, int layer, int first, int count, ThreadPool& pool) {
    const StackActivations& stack = *trace.activations.stacks.back();
    HEADLIGHT_CHECK(layer >= 0 && layer <= isize(stack.layers) && first >= 0 && count >= 0 &&
                    first + count <= stack.normalized.rows());
    const StackWeights& weights = trace.model->weights.stacks.back();
    const bool last = layer == isize(stack.layers);
    if (last) return unembed(*trace.model, stack.normalized.middleRows(first, count), pool);
    const Matrix resid = stack.layers[layer]->resid_pre.middleRows(first, count);
    return unembed(*trace.model,
                   weights.final_norm ? apply_norm(trace.config(), weights.final_norm, resid, pool) : resid,
                   pool);
}

int layer_count(const Trace& trace) { return isize(trace.activations.stacks.back()->layers); }

Prediction most_probable(const Eigen::Ref<const Eigen::RowVectorXf>& logits) {
    Index best = 0;
    const float largest = logits.maxCoeff(&best);
    return {narrow<int>(best), 1.0f / (logits.array() - largest).exp().sum()};
}

/// Rows [parts, d_model] of what enters the residual stream of the last stack at a position, with what each
/// row is.
struct Stream {
    std::vector<LogitPart> parts;
    Matrix rows;
    void add(LogitPart part, const Eigen::Ref<const Eigen::RowVectorXf>& row) {
        rows.row(parts.size()) = row;
        parts.push_back(part);
    }
};

Result<Stream> read_stream(const Trace& trace, int position, ThreadPool& pool, const CancelFlag* cancel) {
    const ModelConfig& c = trace.config();
    const int stack = isize(c.stacks) - 1;
    Stream s;
    s.rows.resize(1 + c.head_count() + 2 * Index{c.blocks()}, c.d_model);
    s.add({LogitPart::Kind::embedding, -1, -1, 0}, trace.stack(stack).layers[0]->resid_pre.row(position));
    for (int layer = 0; layer < c.stacks.back().layers; ++layer) {
        if (stopped(cancel)) return cancelled();
        Eigen::RowVectorXf mlp = trace.resid_post(stack, layer).row(position) -
                                 trace.stack(stack).layers[layer]->resid_pre.row(position);
        for (const int block : c.blocks_of(stack, layer)) {
            const Matrix heads = trace.head_additions(block, position, pool);
            for (int h = 0; h < c.heads(block); ++h)
                s.add({LogitPart::Kind::head, block, h, 0}, heads.row(h));
            const Eigen::RowVectorXf out = trace.attn_out(block, position, 1, pool).row(0);
            if (trace.adds_bias(block))
                s.add({LogitPart::Kind::attention_bias, block, -1, 0}, out - heads.colwise().sum());
            mlp -= out;
        }
        const bool skipped = trace.stack(stack).layers[layer]->no_mlp;
        if (!skipped) s.add({LogitPart::Kind::mlp, layer, -1, 0}, mlp);
    }
    return s;
}

Status attribute(const Trace& trace, const DirectPath& path, int position, Attribution& a, ThreadPool& pool,
                 const CancelFlag* cancel) {
    TRY(const Stream stream, read_stream(trace, position, pool, cancel));
    const Vector logits = path.logit(stream.rows.topRows(stream.parts.size()), a.token);
    a.parts = stream.parts;
    for (int i = 0; i < isize(a.parts); ++i) a.parts[i].logit = logits[i];
    if (trace.model->weights.stacks.back().final_norm.bias)
        a.parts.push_back({LogitPart::Kind::norm_bias, -1, -1, path.norm_bias(a.token)});
    if (trace.model->weights.unembedding.bias)
        a.parts.push_back({LogitPart::Kind::unembedding_bias, -1, -1, path.unembedding_bias(a.token)});
    a.logit = 0;
    for (const LogitPart& part : a.parts) a.logit += part.logit;
    return success();
}

}  // namespace

Result<Lens> answer(const Trace& trace, const LensWanted& w, ThreadPool& pool, const CancelFlag* cancel) {
    constexpr int kTogether = 64;  // positions whose logits are held at once
    trace.weights(0);              // said where a trace holds none
    Lens lens{w.first, {}};
    for (int layer = 0; layer <= layer_count(trace); ++layer) {
        std::vector<Prediction> row(w.count);
        for (int first = 0; first < w.count; first += kTogether) {
            if (stopped(cancel)) return cancelled();
            const int rows = std::min(kTogether, w.count - first);
            const Matrix logits = early_logits(trace, layer, w.first + first, rows, pool);
            pool.run(rows, [&](int i) { row[first + i] = most_probable(logits.row(i)); });
        }
        lens.top.push_back(std::move(row));
    }
    return lens;
}

Result<Attribution> answer(const Trace& trace, const AttributionWanted& w, ThreadPool& pool,
                           const CancelFlag* cancel) {
    trace.weights(0);  // said where a trace holds none
    Attribution a;
    const int layers = layer_count(trace);
    const Vector last = early_logits(trace, layers, w.position, 1, pool).row(0).transpose();
    const Vector p = probabilities(last);
    for (const int id : ranked_ids(p, w.count)) a.tokens.push_back({id, p[id]});
    a.token = w.token >= 0 && w.token < p.size() ? w.token : ranked_ids(p, 1)[0];
    a.probability = p[a.token];
    a.logit = last[a.token];
    for (int layer = 0; layer < layers; ++layer) {
        if (stopped(cancel)) return cancelled();
        a.after_layer.push_back(
            probabilities(early_logits(trace, layer, w.position, 1, pool).row(0).transpose())[a.token]);
    }
    a.after_layer.push_back(a.probability);
    if (const auto path = DirectPath::at(trace, w.position))
        TRY_STATUS(attribute(trace, *path, w.position, a, pool, cancel));
    return a;
}

void LensWanted::fit(const Trace& t) {
    first = nearest(first, t.output().size());
    count = std::clamp(count, 1, t.output().size() - first);
}

void AttributionWanted::fit(const Trace& t) { position = nearest(position, t.output().size()); }

}  // namespace headlight

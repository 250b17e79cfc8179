#include "analysis/lens.h"

#include <algorithm>

#include "analysis/direct.h"
#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// [rows, vocab]: the residual stream at each layer's entrance and behind the last, read as logits. Rows are
/// the positions of `at`, layer by layer, from the row `begin` on: the unembedding goes by once for all.
Matrix early_logits(const Trace& trace, const LensWanted& at, Index begin, Index rows, ThreadPool& pool) {
    const StackActivations& stack = *trace.activations.stacks.back();
    const Index layers = isize(stack.layers);
    HEADLIGHT_CHECK(at.first >= 0 && at.count > 0 && at.first + at.count <= stack.normalized.rows() &&
                    begin + rows <= (layers + 1) * at.count);
    Matrix x(rows, stack.normalized.cols());
    const Index early = std::clamp<Index>(layers * at.count - begin, 0, rows);
    for (Index i = 0; i < rows; ++i) {
        const Index layer = (begin + i) / at.count, position = at.first + (begin + i) % at.count;
        x.row(i) = (i < early ? stack.layers[layer]->resid_pre : stack.normalized).row(position);
    }
    const Norm& norm = trace.model->weights.stacks.back().final_norm;
    if (norm && early > 0) x.topRows(early) = apply_norm(trace.config(), norm, x.topRows(early), pool);
    return unembed(*trace.model, x, pool);
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
        const bool skipped = trace.stack(stack).layers[layer]->changed.no_mlp;
        if (!skipped) s.add({LogitPart::Kind::mlp, layer, -1, 0}, mlp);
    }
    return s;
}

Status attribute(const Trace& trace, const DirectPath& path, int position, Attribution& a, ThreadPool& pool,
                 const CancelFlag* cancel) {
    TRY(const Stream stream, read_stream(trace, position, pool, cancel));
    const Matrix rows = stream.rows.topRows(stream.parts.size());
    Vector logits = path.logit(rows, a.token);
    if (a.against >= 0) logits -= path.logit(rows, a.against);
    a.parts = stream.parts;
    for (int i = 0; i < isize(a.parts); ++i) a.parts[i].logit = logits[i];
    const auto add_bias = [&](LogitPart::Kind kind, float (DirectPath::*of)(int) const) {
        a.parts.push_back({kind, -1, -1, (path.*of)(a.token) - (a.against < 0 ? 0 : (path.*of)(a.against))});
    };
    if (trace.model->weights.stacks.back().final_norm.bias)
        add_bias(LogitPart::Kind::norm_bias, &DirectPath::norm_bias);
    if (trace.model->weights.unembedding.bias)
        add_bias(LogitPart::Kind::unembedding_bias, &DirectPath::unembedding_bias);
    a.logit = 0;
    for (const LogitPart& part : a.parts) a.logit += part.logit;
    return success();
}

}  // namespace

Result<Lens> answer(const Trace& trace, const LensWanted& w, ThreadPool& pool, const CancelFlag* cancel) {
    constexpr Index kTogether = 64;  // rows whose logits are held at once
    trace.weights(0);                // said where a trace holds none
    const Index all = Index{layer_count(trace) + 1} * w.count;
    Lens lens{w.first, std::vector(layer_count(trace) + 1, std::vector<Prediction>(w.count))};
    for (Index begin = 0; begin < all; begin += kTogether) {
        if (stopped(cancel)) return cancelled();
        const Index rows = std::min(kTogether, all - begin);
        const Matrix logits = early_logits(trace, w, begin, rows, pool);
        pool.run(narrow<int>(rows), [&](int i) {
            lens.top[(begin + i) / w.count][(begin + i) % w.count] = most_probable(logits.row(i));
        });
    }
    return lens;
}

Result<Attribution> answer(const Trace& trace, const AttributionWanted& w, ThreadPool& pool,
                           const CancelFlag* cancel) {
    trace.weights(0);  // said where a trace holds none
    Attribution a;
    const int layers = layer_count(trace);
    if (stopped(cancel)) return cancelled();
    const Matrix logits = early_logits(trace, {w.position, 1}, 0, layers + 1, pool);
    const Vector last = logits.row(layers).transpose();
    const Vector p = probabilities(last);
    for (const int id : ranked_ids(p, w.count)) a.tokens.push_back({id, p[id]});
    a.token = w.token >= 0 && w.token < p.size() ? w.token : ranked_ids(p, 1)[0];
    a.against = w.against < p.size() ? w.against : -1;
    const auto explained = [&](const Vector& logits) {
        return a.against < 0 ? probabilities(logits)[a.token] : logits[a.token] - logits[a.against];
    };
    a.probability = p[a.token];
    a.logit = last[a.token] - (a.against < 0 ? 0 : last[a.against]);
    for (int layer = 0; layer <= layers; ++layer)
        a.after_layer.push_back(explained(logits.row(layer).transpose()));
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

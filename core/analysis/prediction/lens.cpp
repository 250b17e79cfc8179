// Computes the logit lens and direct logit attribution.
#include "analysis/prediction/lens.h"

#include <algorithm>

#include "analysis/attribution/stream_parts.h"
#include "analysis/circuits/direct.h"
#include "base/cast.h"
#include "base/check.h"
#include "model/engine.h"
#include "model/streams.h"

namespace headlight {

namespace {

/// [1, d_model]: the stream as it enters a layer of the last stack; of several streams what would be left of
/// them if the stack ended here.
Matrix entering_stream(const Trace& trace, Index layer, Index position, ThreadPool& pool) {
    const int last = isize(trace.config().stacks) - 1;
    const LayerActivations& at = *trace.stack(last).layers[layer];
    if (at.resid_pre.size() == 0)
        throw Failure(Error{trace.model->name + " does not give what its layer " + std::to_string(layer) +
                            " reads, so there is no logit lens of it."});
    if (!trace.config().stacks[last].streams) return at.entering_row(position);
    const StackRun run{*trace.model, trace.config().stacks[last], trace.model->weights.stacks[last], pool};
    return leave_streams(run, at.streams.row(position));
}

/// [rows, d_model]: the embeddings and each layer's output, as the unembedding reads them. Rows are the
/// positions of `at`, layer by layer, from the row `begin` on.
Matrix early_rows(const Trace& trace, const LensRequest& at, Index begin, Index rows, ThreadPool& pool) {
    const StackActivations& stack = *trace.activations.stacks.back();
    const Index layers = isize(stack.layers);
    HEADLIGHT_CHECK(at.first >= 0 && at.count > 0 && at.first + at.count <= stack.normalized.rows() &&
                    begin + rows <= (layers + 1) * at.count);
    Matrix x(rows, stack.normalized.cols());
    const Index early = std::clamp<Index>(layers * at.count - begin, 0, rows);
    for (Index i = 0; i < rows; ++i) {
        const Index layer = (begin + i) / at.count, position = at.first + (begin + i) % at.count;
        x.row(i) = i < early ? Matrix(entering_stream(trace, layer, position, pool))
                             : Matrix(stack.normalized.row(position));
    }
    const Norm norm = trace.has_weights() ? trace.model->weights.stacks.back().final_norm : Norm();
    if (norm && early > 0) x.topRows(early) = apply_norm(trace.config(), norm, x.topRows(early), pool);
    return x;
}

/// [rows, vocab]: their logits; reads the unembedding once for all.
Matrix early_logits(const Trace& trace, const LensRequest& at, Index begin, Index rows, ThreadPool& pool) {
    return unembed(*trace.model, early_rows(trace, at, begin, rows, pool), pool);
}

int layer_count(const Trace& trace) { return isize(trace.activations.stacks.back()->layers); }

Prediction most_probable(const Eigen::Ref<const Eigen::RowVectorXf>& logits) {
    Index best = 0;
    const float largest = logits.maxCoeff(&best);
    return {narrow<int>(best), 1.0f / (logits.array() - largest).exp().sum()};
}

/// Returns a stream part's share of a logit; merges the parts of the embedding.
LogitPart logit_part(const ModelConfig& c, const StreamPart& part) {
    using From = StreamPart::Kind;
    using To = LogitPart::Kind;
    const int layer = part.block < 0 ? -1 : c.block(part.block).layer;
    switch (part.kind) {
        case From::head:
            return {To::head, part.block, part.head};
        case From::mlp:
        case From::expert:
            return {To::mlp, layer};
        case From::given:
            return {To::given};
        case From::given_head:
            return {To::given_head, part.block, part.head};
        case From::given_attention:
            return {To::given_attention, part.block};
        case From::given_mlp:
            return {To::given_mlp, layer};
        case From::biases:
            if (part.block >= 0) return {To::attention_bias, part.block};
            break;
        default:
            break;
    }
    return {To::embedding};
}

void attribute(const Trace& trace, const DirectPath& path, int position, Attribution& a, ThreadPool& pool) {
    const auto logits_of = [&](ConstMatrixRef rows) -> Vector {
        Vector out = path.logit(rows, a.token);
        if (a.against >= 0) out -= path.logit(rows, a.against);
        return out;
    };
    const StreamParts stream = parts_left(trace, isize(trace.config().stacks) - 1, position, pool);
    const Vector logits = logits_of(stream.rows);
    a.parts = {{LogitPart::Kind::embedding}};
    for (int i = 0; i < isize(stream.parts); ++i) {
        LogitPart part = logit_part(trace.config(), stream.parts[i]);
        part.logit = logits[i];
        if (part.kind == LogitPart::Kind::embedding)
            a.parts.front().logit += part.logit;
        else if (part.kind == LogitPart::Kind::mlp && a.parts.back().kind == part.kind &&
                 a.parts.back().block == part.block)
            a.parts.back().logit += part.logit;  // a layer's experts together
        else
            a.parts.push_back(part);
    }
    a.logit = logits_of(Matrix(trace.activations.stacks.back()->resid_final.row(position)))[0];
    const auto add_bias = [&](LogitPart::Kind kind, float (DirectPath::*of)(int) const) {
        a.parts.push_back({kind, -1, -1, (path.*of)(a.token) - (a.against < 0 ? 0 : (path.*of)(a.against))});
        a.logit += a.parts.back().logit;
    };
    if (trace.model->weights.stacks.back().final_norm.bias)
        add_bias(LogitPart::Kind::norm_bias, &DirectPath::norm_bias);
    if (trace.model->weights.unembedding.bias)
        add_bias(LogitPart::Kind::unembedding_bias, &DirectPath::unembedding_bias);
}

}  // namespace

Result<Lens> answer_lens(const Trace& trace, const LensRequest& w, ThreadPool& pool,
                         const CancelFlag* cancel) {
    constexpr Index kTogether = 64;  // rows whose logits are held at once
    check_stream(trace);
    const Index all = Index{layer_count(trace) + 1} * w.count;
    Lens lens{w.first, std::vector(layer_count(trace) + 1, std::vector<Prediction>(w.count))};
    for (Index begin = 0; begin < all; begin += kTogether) {
        if (stopped(cancel)) return cancelled();
        const Index rows = std::min(kTogether, all - begin);
        const auto put = [&](Index i, const Prediction& top) {
            lens.top[(begin + i) / w.count][(begin + i) % w.count] = top;
        };
        const Matrix x = early_rows(trace, w, begin, rows, pool);
        if (Engine* engine = trace.model->engine.get()) {  // logits themselves need not cross
            TRY(const auto tops, engine->most_probable(x, cancel));
            for (Index i = 0; i < rows; ++i) put(i, {tops[size_t(i)].first, tops[size_t(i)].second});
            continue;
        }
        const Matrix logits = unembed(*trace.model, x, pool);
        pool.run(narrow<int>(rows), [&](int i) { put(i, most_probable(logits.row(i))); });
    }
    return lens;
}

Result<Attribution> answer_attribution(const Trace& trace, const AttributionRequest& w, ThreadPool& pool,
                                       const CancelFlag* cancel) {
    check_stream(trace);
    const CancelScope scope(pool, cancel);
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
    if (const auto path = DirectPath::at(trace, w.position)) attribute(trace, *path, w.position, a, pool);
    return a;
}

void LensRequest::clamp_to(const Trace& t) {
    first = nearest(first, t.output().size());
    count = std::clamp(count, 1, t.output().size() - first);
}

void AttributionRequest::clamp_to(const Trace& t) { position = nearest(position, t.output().size()); }

}  // namespace headlight

// Propagates gradients down one layer: the MLP, the second block, attention. Recomputes what the forward pass
// did not keep, once for all outputs.
#include "model/backward/layer_backward.h"

#include "base/check.h"
#include "model/backward/layer_steps.h"
#include "model/laurel.h"
#include "model/layer_embedding.h"
#include "model/streams.h"

namespace headlight {

Matrix LayerBackward::mlp_vjp_of(const Matrix& x, const Matrix& d) const {
    if (a.changed.no_mlp) return Matrix::Zero(d.rows(), d.cols());
    Matrix own = d;
    a.changed.mlp_out.zero_replaced(rows.token_of(), own);
    return mlp_vjp(s, l, x, own, rows.token_of(), a.changed.experts_off);
}

/// Propagates through x + block(norm(reads)), or norm(x + block(reads)) if post-norm. `vjp(x, d)` maps the
/// gradient by the block's output to the one by its input x; it may widen `rows`.
template <class Vjp>
ResidualGradients LayerBackward::residual_vjp(const Norm& norm, const Matrix& reads, const Matrix& sum,
                                              Matrix d, const Vjp& vjp) {
    if (after) d = norm_vjp_of_rows(norm, sum, d);
    const bool before = !after && norm;
    Matrix by_reads = vjp(before ? s.norm(norm, reads) : reads, d);
    if (before) leave_spare(std::exchange(by_reads, norm_vjp_of_rows(norm, reads, by_reads)));
    return {std::move(d), std::move(by_reads)};
}

/// Propagates through a layer's second block.
ResidualGradients LayerBackward::second_vjp(const Matrix& reads, const Matrix& sum, Matrix d) {
    const BlockBackward b = second_block();
    return residual_vjp(w.second.norm, reads, sum, std::move(d), [&](const Matrix& x, const Matrix& dy) {
        return s.stack.cross() ? cross_attention_vjp(b, dy) : self_attention_vjp(b, x, dy);
    });
}

/// Computes again the sums and outputs that the forward pass did not keep.
LayerBackward::Between LayerBackward::rerun_blocks(const Matrix& pre) {
    Between out;
    if (after || !spec.parallel || spec.embedding)
        out.self =
            rerun(w.self.norm, pre, [&] { return attention_output(s, spec.attention, w.self, a.self); });
    if (spec.laurel_rank) out.self.out = with_laurel(s, l, pre, std::move(out.self.out));
    if (spec.second)
        out.second = rerun(w.second.norm, out.self.out,
                           [&] { return attention_output(s, *spec.second, w.second, a.second); });
    if (!after && !spec.embedding) return out;
    const Matrix& mid = spec.second ? out.second.out : out.self.out;
    const Matrix reads = spec.parallel ? pre : mid;
    Matrix added = Matrix::Zero(mid.rows(), mid.cols());
    if (!a.changed.no_mlp)
        added = feed_forward(s, l, after || !w.mlp_norm ? reads : s.norm(w.mlp_norm, reads),
                             a.changed.experts_off);
    a.changed.mlp_out.put(0, added);
    out.mlp_sum = mid + added;
    return out;
}

/// Propagates through the layer's scale and its own vectors of tokens, if it has them: d becomes the gradient
/// by what the MLP leaves.
void LayerBackward::leave_embedding(const Matrix& mlp_sum, Matrix& d) const {
    if (w.output_scale) d *= *w.output_scale;
    if (!spec.embedding) return;
    LayerEmbeddingGradients by = layer_embedding_vjp(s, l, s.activations, mlp_sum, d, rows);
    d += by.x;
    s.by_embeddings.add(rows, std::move(by.embeddings));
}

/// Propagates through the layer's convolution, if it has one: d becomes the gradient by what the MLP leaves.
ConvolutionGradients LayerBackward::leave_convolution(const Matrix& pre, const Matrix& mlp_sum,
                                                      Matrix& d) const {
    if (!spec.convolution) return {};
    HEADLIGHT_CHECK(after);
    ConvolutionGradients out = convolution_vjp(s, l, pre, s.norm(w.mlp_norm, mlp_sum), d, rows);
    d = std::move(out.y);
    return out;
}

/// Adds the gradient that came through the convolution.
Matrix LayerBackward::with_convolution(Matrix d, ConvolutionGradients through) {
    if (!spec.convolution) return d;
    GradientSum sum{rows, std::move(d)};
    sum.add(through.x_rows, std::move(through.x));
    rows = std::move(sum.rows);
    return std::move(sum.values);
}

/// Adds the gradients of the two paths, around and through a block, at the rows that entered it; left: those
/// that left it.
Matrix LayerBackward::joined(ResidualGradients both, const GradientRows& left) const {
    both.x = left.widened(std::move(both.x), rows);
    add_spare(both.x, std::move(both.reads));
    return std::move(both.x);
}

/// Propagates through attention, and the product beside it, if there is one, to what both read.
Matrix LayerBackward::attention_vjp_beside(const Matrix& x, const Matrix& d) {
    const GradientRows left = rows;
    Matrix out = self_attention_vjp(first_block(), x, d);
    if (spec.laurel_rank) add_spare(out, left.widened(laurel_vjp(s, l, x, d, left), rows));
    return out;
}

/// Propagates through attention and the second block: d becomes the gradient by the layer's input.
Matrix LayerBackward::blocks_vjp(const Matrix& pre, const Between& between, Matrix d) {
    const auto& [self, second, mlp_sum] = between;
    GradientRows left = rows;
    GradientSum beside;  // what comes by a mixer beside attention, and bypasses attention
    if (spec.second) {
        ResidualGradients by = second_vjp(s.stack.cross() ? self.out : pre, second.sum, std::move(d));
        keep(out.second.out, by.x);
        if (s.stack.cross()) {
            d = joined(std::move(by), left);
            keep(out.resid_cross, d);
        } else {
            beside = {rows, std::move(by.reads)};
            d = left.widened(std::move(by.x), rows);
        }
        left = rows;
    }
    if (spec.laurel_rank) d *= kLaurelShare;
    ResidualGradients by =
        residual_vjp(w.self.norm, pre, self.sum, std::move(d),
                     [&](const Matrix& x, const Matrix& dy) { return attention_vjp_beside(x, dy); });
    keep(out.self.out, by.x);
    d = joined(std::move(by), left);
    if (beside.values.size()) d += beside.rows.widened(std::move(beside.values), rows);
    return d;
}

/// Propagates through the MLP and the blocks before it, from what they leave to what they read.
Matrix LayerBackward::inner_vjp(const Matrix& pre, const Between& between, Matrix d) {
    const auto& [self, second, mlp_sum] = between;
    const bool parallel = spec.parallel;
    const Matrix& mlp_reads = parallel ? pre : spec.second ? second.out : self.out;
    ResidualGradients by = residual_vjp(w.mlp_norm, mlp_reads, mlp_sum, std::move(d),
                                        [&](const Matrix& x, const Matrix& dy) { return mlp_vjp_of(x, dy); });
    keep(out.mlp_out, by.x);
    const Matrix mlp_input_gradient =
        parallel ? std::move(by.reads) : Matrix();  // bypasses the blocks between
    const GradientRows mlp_rows = rows;
    d = parallel ? std::move(by.x) : joined(std::move(by), mlp_rows);
    keep(out.resid_mid, d);
    d = blocks_vjp(pre, between, std::move(d));
    if (parallel) d += mlp_rows.widened(mlp_input_gradient, rows);
    return d;
}

Matrix LayerBackward::run(Matrix d) {
    const Matrix pre = a.resid_pre.all();
    const Between between = rerun_blocks(pre);
    leave_embedding(between.mlp_sum, d);
    ConvolutionGradients convolution = leave_convolution(pre, between.mlp_sum, d);
    d = inner_vjp(pre, between, std::move(d));
    d = with_convolution(std::move(d), std::move(convolution));
    keep(out.resid_pre, d);
    a.changed.resid_pre.zero_replaced(rows.token_of(), d);
    return d;
}

/// Propagates through a layer of several streams: the correction, the layer's embedding, what the layer
/// computes with the active stream, the prediction.
Matrix LayerBackward::run_streams(Matrix d) {
    const Matrix pre = a.resid_pre.all(), entered = a.streams.all();
    const Between between = rerun_blocks(pre);
    const Matrix& left = between.mlp_sum;
    Matrix predicted = predict_streams(s, l, entered);
    active_stream(s, predicted) = pre;
    Matrix corrected = predicted;
    correct_streams(s, l, left, corrected);
    LayerEmbeddingGradients by = layer_embedding_vjp(s, l, s.activations, read_by_embedding(s, l, corrected),
                                                     add_beside_vjp(s, d), rows);
    s.by_embeddings.add(rows, std::move(by.embeddings));
    read_by_embedding_vjp(s, l, by.x, d);
    Matrix by_left = correct_streams_vjp(s, l, left, predicted, d, rows);
    const GradientRows own = rows;
    by_left = inner_vjp(pre, between, std::move(by_left));
    d = own.widened(std::move(d), rows);
    active_stream(s, d) += by_left;
    keep(out.resid_pre, active_stream(s, d));
    a.changed.resid_pre.zero_replaced(rows.token_of(), active_stream(s, d));
    return predict_streams_vjp(s, l, entered, std::move(d), rows);
}

Matrix layer_vjp(StackBackward& stack, int l, Matrix by_post, GradientRows& rows, LayerGradients* out) {
    LayerGradients scratch;
    LayerBackward layer{stack,
                        l,
                        stack.stack.layers[l],
                        stack.weights.layers[l],
                        *stack.activations.layers[l],
                        rows,
                        out ? *out : scratch,
                        out != nullptr,
                        stack.stack.layers[l].norms_sum()};
    return stack.stack.streams ? layer.run_streams(std::move(by_post)) : layer.run(std::move(by_post));
}

}  // namespace headlight

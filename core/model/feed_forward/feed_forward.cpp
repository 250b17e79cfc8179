// Runs a layer's MLP.
#include <algorithm>

#include "model/activation.h"
#include "model/feed_forward/experts.h"
#include "model/forward.h"
#include "model/pass.h"
#include "model/sparse_gate.h"

namespace headlight {

namespace {

/// Norms what the MLP adds, if the layer does so.
Matrix normed_output(const StackRun& p, const LayerWeights& w, Matrix out) {
    if (!w.mlp_post_norm) return out;
    Matrix y = p.norm(w.mlp_post_norm, out);
    leave_spare(std::move(out));
    return y;
}

/// mlp_out[rows, d_model] = W_out · act(W_in x) or W_out · (act(W_gate x) · W_in x); and the post-norm.
Matrix feed_forward_rows(const StackRun& p, const MlpSpec& spec, const LayerWeights& w, ConstMatrixRef x,
                         std::span<const int> off) {
    if (spec.experts) return normed_output(p, w, experts_output(p, spec, w, x, off));
    // Pads rows: at a stride of a multiple of 4 KB they would all map to one set of the first-level cache.
    constexpr Index kApart = 16;
    Matrix padded = spare_matrix(x.rows(), w.mlp_in.out + kApart), gate;
    auto hidden = padded.leftCols(w.mlp_in.out);
    const auto activate = [&](Eigen::Ref<Eigen::ArrayXf> row) {
        apply_activation(spec.activation, w.xielu, row);
    };
    std::vector<LinearProduct> products{{w.mlp_in, hidden}};
    if (w.mlp_gate) {
        gate = spare_matrix(x.rows(), w.mlp_gate.out);
        products.push_back({w.mlp_gate, gate});
    }
    apply_linears(p.pool, x, products);
    for_row_blocks(p.pool, hidden.rows(), 4, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
            if (!w.mlp_gate) {
                activate(hidden.row(i).transpose().array());
                continue;
            }
            if (spec.sparsity > 0) cut_gate(spec.sparsity, gate.row(i).transpose().array());
            activate(gate.row(i).transpose().array());
            hidden.row(i).array() *= gate.row(i).array();
        }
    });
    Matrix out = project(p.pool, hidden, w.mlp_out);
    leave_spare(std::move(padded));
    leave_spare(std::move(gate));
    return normed_output(p, w, std::move(out));
}

}  // namespace

// Works on a block of rows at a time, because hidden rows are wide.
Matrix feed_forward(const StackRun& p, int l, const Matrix& x, std::span<const int> off) {
    constexpr Index kRows = 256;
    const MlpSpec& spec = p.stack.layers[l].mlp;
    const LayerWeights& w = p.weights.layers[l];
    if (x.rows() <= kRows) return feed_forward_rows(p, spec, w, x, off);
    Matrix out = spare_matrix(x.rows(), p.config().d_model);
    for (Index first = 0; first < x.rows(); first += kRows) {
        const Index rows = std::min(kRows, x.rows() - first);
        Matrix part = feed_forward_rows(p, spec, w, x.middleRows(first, rows), off);
        out.middleRows(first, rows) = part;
        leave_spare(std::move(part));
    }
    return out;
}

}  // namespace headlight

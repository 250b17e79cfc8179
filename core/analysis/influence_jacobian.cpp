// How strongly outputs answer to embeddings: rows of the Jacobian, exact or from random probes.
#include <algorithm>
#include <cmath>

#include "analysis/influence.h"
#include "base/cast.h"
#include "base/draws.h"

namespace headlight {

namespace {

/// Rows [count, d_model] that go back from one output: all units of its width, or ±1 at random.
Matrix probes_of(const Trace& trace, int output, int probes) {
    const Index d = trace.config().d_model;
    if (probes == 0) return Matrix::Identity(d, d);
    Draws draws(static_cast<uint32_t>(output) + 1);
    Matrix out(probes, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = draws.below(2) ? 1.0f : -1.0f;
    return out;
}

StackOutput placed(const Trace& trace, StackOutput of) {
    const auto& stacks = trace.config().stacks;
    if (of.stack < 0) of.stack = isize(stacks) - 1;
    if (of.layer < 0) of.layer = stacks[of.stack].layers - 1;
    return of;
}

/// [count, tokens of all stacks]: the squared length of each probe's gradient by each embedding.
Result<DoubleMatrix> squared_lengths(const Trace& trace, StackOutput of, int output, const Matrix& probes,
                                     ThreadPool& pool, const CancelFlag* cancel) {
    const int together = passes_together(trace, 32);  // gradients of all layers are held for each
    const int count = narrow<int>(probes.rows());
    Index tokens = 0;
    for (const Sequence& s : trace.request.inputs) tokens += s.size();
    DoubleMatrix out(count, tokens);
    for (int first = 0; first < count; first += together) {
        std::vector<GradientSeed> seeds;
        for (int i = first; i < std::min(count, first + together); ++i)
            seeds.push_back({of.stack, of.layer + 1, output, probes.row(i), i - first});
        TRY(const Gradients g, backward(trace, seeds, pool, cancel));
        Index column = 0;
        for (size_t s = 0; s < g.stacks.size(); ++s) {
            const Index n = trace.request.inputs[s].size();
            for (int i = 0; i < isize(seeds); ++i)
                out.block(first + i, column, 1, n) = g.stacks[s]
                                                         .resid[0]
                                                         .middleRows(i * n, n)
                                                         .rowwise()
                                                         .squaredNorm()
                                                         .transpose()
                                                         .cast<double>();
            column += n;
        }
    }
    return out;
}

}  // namespace

Result<JacobianNorms> jacobian_row(const Trace& trace, StackOutput of, int output, int probes,
                                   ThreadPool& pool, const CancelFlag* cancel) {
    TRY(const DoubleMatrix squares,
        squared_lengths(trace, placed(trace, of), output, probes_of(trace, output, probes), pool, cancel));
    JacobianNorms out;
    out.norms.resize(1, squares.cols());
    if (probes > 1) out.standard_error.resize(1, squares.cols());
    for (Index j = 0; j < squares.cols(); ++j) {
        const auto column = squares.col(j).array();
        const double norm = std::sqrt(probes ? column.mean() : column.sum());
        out.norms(0, j) = float(norm);
        if (probes < 2) continue;
        const double spread = std::sqrt((column - column.mean()).square().sum() / (probes - 1) / probes);
        out.standard_error(0, j) = norm > 0 ? float(spread / (2 * norm)) : 0.0f;  // of the root
    }
    return out;
}

Result<JacobianNorms> jacobian_norms(const Trace& trace, int probes, ThreadPool& pool,
                                     const CancelFlag* cancel, const InfluenceStep& step, StackOutput of) {
    JacobianNorms out;
    const int n = trace.request.inputs[placed(trace, of).stack].size();
    for (int output = 0; output < n; ++output) {
        TRY(const JacobianNorms row, jacobian_row(trace, of, output, probes, pool, cancel));
        out.norms.conservativeResize(n, row.norms.cols());
        out.norms.row(output) = row.norms;
        if (row.standard_error.size()) {
            out.standard_error.conservativeResize(n, row.norms.cols());
            out.standard_error.row(output) = row.standard_error;
        }
        if (step) step();
    }
    return out;
}

}  // namespace headlight

// Measures how strongly outputs depend on embeddings: rows of the Jacobian, exact or from random probes.
#include <algorithm>
#include <cmath>

#include "analysis/attribution/influence.h"
#include "base/cast.h"
#include "base/draws.h"

namespace headlight {

namespace {

/// Bounds the rows of gradients propagated together: enough to read weights seldom, few enough to stay small.
constexpr int kGradientRows = 4096;

/// Returns rows [probes, d_model] of random ±1 for one output.
Matrix probes_of(const Trace& trace, int output, int probes) {
    const Index d = trace.config().d_model;
    Draws draws(static_cast<uint32_t>(output) + 1);
    Matrix out(probes, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = draws.below(2) ? 1.0f : -1.0f;
    return out;
}

StackOutput placed(const Trace& trace, StackOutput of) {
    const auto& stacks = trace.config().stacks;
    if (of.stack < 0) of.stack = isize(stacks) - 1;
    if (of.layer < 0) of.layer = stacks[of.stack].depth() - 1;
    return of;
}

/// [directions of all these outputs, tokens of all stacks]: the squared length of each direction's gradient
/// by each embedding.
Result<DoubleMatrix> squared_lengths(const Trace& trace, StackOutput of, int first, int outputs, int probes,
                                     ThreadPool& pool, const CancelFlag* cancel) {
    const int each = probes ? probes : trace.config().d_model;  // directions: without probes all unit vectors
    const int count = each * outputs;
    const int together = gradients_together(trace);
    DoubleMatrix out(count, trace.token_count());
    Matrix directions;
    for (int begin = 0; begin < count; begin += together) {
        std::vector<GradientSeed> seeds;
        for (int i = begin; i < std::min(count, begin + together); ++i) {
            if (probes && (i % each == 0 || seeds.empty()))
                directions = probes_of(trace, first + i / each, probes);
            const Matrix direction =
                probes ? Matrix(directions.row(i % each)) : Matrix(Eigen::RowVectorXf::Unit(each, i % each));
            seeds.push_back({of.stack, of.layer + 1, first + i / each, direction, i - begin});
        }
        TRY(const std::vector<EmbeddingGradients> g, embedding_gradients(trace, seeds, pool, cancel));
        for (int i = 0; i < isize(seeds); ++i)
            for (int s = 0; s < isize(g); ++s) {
                const Vector squares = g[s].squared_lengths(i);
                out.row(begin + i).segment(trace.first_token(s), squares.size()) =
                    squares.transpose().cast<double>();
            }
    }
    return out;
}

/// Computes a row of the norms from the squares of its directions.
void sum_up(const DoubleMatrix& squares, int probes, Index row, JacobianNorms& out) {
    for (Index j = 0; j < squares.cols(); ++j) {
        const auto column = squares.col(j).array();
        const double norm = std::sqrt(probes ? column.mean() : column.sum());
        out.norms(row, j) = float(norm);
        if (probes < 2) continue;
        const double spread = std::sqrt((column - column.mean()).square().sum() / (probes - 1) / probes);
        out.standard_error(row, j) = norm > 0 ? float(spread / (2 * norm)) : 0.0f;  // of the square root
    }
}

}  // namespace

int gradients_together(const Trace& trace) { return std::max(1, kGradientRows / trace.token_count()); }

int outputs_together(const Trace& trace, int probes) {
    return std::max(1, gradients_together(trace) / (probes ? probes : trace.config().d_model));
}

Result<JacobianNorms> jacobian_rows(const Trace& trace, StackOutput of, int first, int outputs, int probes,
                                    ThreadPool& pool, const CancelFlag* cancel) {
    TRY(const DoubleMatrix squares,
        squared_lengths(trace, placed(trace, of), first, outputs, probes, pool, cancel));
    JacobianNorms out;
    out.norms.resize(outputs, squares.cols());
    if (probes > 1) out.standard_error.resize(outputs, squares.cols());
    const Index each = squares.rows() / outputs;
    for (int i = 0; i < outputs; ++i) sum_up(squares.middleRows(i * each, each), probes, i, out);
    return out;
}

Result<JacobianNorms> jacobian_norms(const Trace& trace, int probes, ThreadPool& pool,
                                     const CancelFlag* cancel, const InfluenceStep& step, StackOutput of) {
    const int n = trace.request.inputs[placed(trace, of).stack].size(),
              together = outputs_together(trace, probes);
    JacobianNorms out;
    out.norms.resize(n, trace.token_count());
    if (probes > 1) out.standard_error.resize(n, trace.token_count());
    for (int first = 0; first < n; first += together) {
        const int count = std::min(together, n - first);
        TRY(const JacobianNorms rows, jacobian_rows(trace, of, first, count, probes, pool, cancel));
        out.norms.middleRows(first, count) = rows.norms;
        if (probes > 1) out.standard_error.middleRows(first, count) = rows.standard_error;
        for (int i = 0; i < count && step; ++i) step(nullptr);
    }
    return out;
}

}  // namespace headlight

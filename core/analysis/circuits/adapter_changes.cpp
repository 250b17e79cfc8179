// Compares the matrices of heads with and without an adapter.
#include "analysis/circuits/adapter_changes.h"

#include <cmath>
#include <limits>

#include "analysis/circuits/head_matrices.h"
#include "base/pace.h"
#include "model/loading/adapter.h"

namespace headlight {

namespace {

/// tr(L R): ‖A Bᵀ‖² of L = AᵀA and R = BᵀB.
double squared_size(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right) {
    return std::max(0.0, left.cwiseProduct(right).sum());
}

Eigen::MatrixXd gram(const Eigen::MatrixXd& m) { return m.transpose() * m; }

/// [l, r], side by side.
Eigen::MatrixXd side_by_side(const Eigen::MatrixXd& l, const Eigen::MatrixXd& r) {
    Eigen::MatrixXd out(l.rows(), l.cols() + r.cols());
    out << l, r;
    return out;
}

}  // namespace

double relative_change(const Matrix& a, const Matrix& b, const Matrix& a0, const Matrix& b0) {
    const Eigen::MatrixXd from_a = a0.cast<double>(), to_b = b.cast<double>(), from_b = b0.cast<double>();
    const double base = squared_size(gram(from_a), gram(from_b));
    // (A − A₀) Bᵀ + A₀ (B − B₀)ᵀ, so that a small change is no difference of large sums
    const Eigen::MatrixXd left = side_by_side(a.cast<double>() - from_a, from_a),
                          right = side_by_side(to_b, to_b - from_b);
    const double change = squared_size(gram(left), gram(right));
    return base > 0 ? std::sqrt(change / base) : std::numeric_limits<double>::quiet_NaN();
}

Result<AdapterChanges> adapter_changes(const Model& model, ThreadPool& pool, const CancelFlag* cancel,
                                       const std::function<void(const AdapterChanges&)>& seen) {
    if (!model.adapter) return AdapterChanges();
    const ModelConfig& c = model.config;
    TRY(const auto base, model.at_strength(0));
    const PerHead<float> none(c, std::numeric_limits<float>::quiet_NaN());
    AdapterChanges out{none, none, 0, ""};
    const CancelScope scope(pool, cancel);
    for (int block = 0; block < c.blocks(); ++block) {
        if (!c.attention(block).recurrence)
            pool.run(c.heads(block), [&](int i) {
                const AttentionHead head{block, i};
                const HeadMatrices now = head_matrices(model, head), was = head_matrices(*base, head);
                out.qk[head] = float(relative_change(now.q, now.k, was.q, was.k));
                out.ov[head] = float(relative_change(now.v, now.o.transpose(), was.v, was.o.transpose()));
            });
        if (stopped(cancel)) return cancelled();
        out.blocks = block + 1;
        if (seen) seen(out);
    }
    return out;
}

Result<AdapterChanges> measure_adapter_changes(const Runs& runs, const AdapterChangesRequest&,
                                               ThreadPool& pool, const CancelFlag* cancel,
                                               const std::function<void(AdapterChanges)>& seen) {
    if (!runs.shown.has_weights()) return AdapterChanges();
    Pace pace;
    return adapter_changes(*runs.shown.model, pool, cancel, [&](const AdapterChanges& now) {
        if (seen && pace.is_due()) seen(now);
    });
}

}  // namespace headlight

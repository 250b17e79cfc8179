// Runs the experts that tokens are sent to, and maps gradients back through them.
#include "model/feed_forward/experts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cast.h"
#include "base/spare.h"
#include "model/activation.h"
#include "model/backward/vector_jacobian.h"
#include "model/feed_forward/routing.h"

namespace headlight {

namespace {

/// Holds one expert's MLP for some rows, as far as its gradients need it.
struct ExpertRows {
    Matrix in, gate, out;
};

/// Says how an expert turns gate and up to hidden values: the activation, and what ExpertsSpec adds to it.
struct ExpertForm {
    Activation activation;
    bool alternating = false;
    float clamp = 0, steepness = 1;
};
ExpertForm form_of(const MlpSpec& spec) {
    return {spec.activation, spec.experts->alternating, spec.experts->clamp, spec.experts->steepness};
}

/// Bounds gate and up, and computes the gate's σ.
struct Clamped {
    Eigen::ArrayXXf gate, up, share;
    Clamped(const ExpertForm& form, const ExpertRows& rows)
        : gate(rows.gate.array().min(form.clamp)),
          up(rows.in.array().max(-form.clamp).min(form.clamp)),
          share((1 + (-form.steepness * gate).exp()).inverse()) {}
};

/// hidden = act(gate) ∘ up, or act(in) without a gate; clamped: (up + 1) ∘ gate ∘ σ(steepness · gate).
Matrix hidden_of(const ExpertForm& form, const ExpertRows& rows) {
    if (form.clamp > 0) {
        const Clamped c(form, rows);
        return ((c.up + 1) * c.gate * c.share).matrix();
    }
    const bool gated = rows.gate.size() > 0;
    Matrix hidden = gated ? rows.gate : rows.in;
    for (Index i = 0; i < hidden.rows(); ++i)
        activation_row(form.activation).apply(hidden.row(i).transpose().array());
    if (gated) hidden.array() *= rows.in.array();
    return hidden;
}

ExpertRows run_expert(ThreadPool& pool, const ExpertForm& form, const ExpertWeights& w, ConstMatrixRef x) {
    ExpertRows rows{project(pool, x, w.in), w.gate ? project(pool, x, w.gate) : Matrix(), {}};
    if (form.alternating) {
        const Matrix both = std::move(rows.in);
        rows.gate = both(Eigen::all, Eigen::seq(0, Eigen::last, 2));
        rows.in = both(Eigen::all, Eigen::seq(1, Eigen::last, 2));
    }
    rows.out = project(pool, hidden_of(form, rows), w.out);
    return rows;
}

/// Maps the gradient by clamped hidden values to those by up and gate: 0 where a bound is passed.
void clamped_vjp(const ExpertForm& form, const ExpertRows& rows, Matrix& by_in, Matrix& by_gate) {
    const Clamped c(form, rows);
    const Eigen::ArrayXXf by = by_in.array(), within = (rows.in.array().abs() <= form.clamp).cast<float>(),
                          below = (rows.gate.array() <= form.clamp).cast<float>();
    by_in = (by * c.gate * c.share * within).matrix();
    by_gate = (by * (c.up + 1) * c.share * (1 + form.steepness * c.gate * (1 - c.share)) * below).matrix();
}

/// Maps the gradient by hidden values, which by_in holds, to those by `in` and by the gate, if there is one.
void hidden_vjp(const ExpertForm& form, const ExpertRows& rows, Matrix& by_in, Matrix& by_gate) {
    if (form.clamp > 0) return clamped_vjp(form, rows, by_in, by_gate);
    const ActivationRow& row = activation_row(form.activation);
    const bool gated = rows.gate.size() > 0;
    Matrix slope = gated ? rows.gate : rows.in;
    for (Index i = 0; i < slope.rows(); ++i) row.slope(slope.row(i).transpose().array());
    if (!gated) {
        by_in.array() *= slope.array();
        return;
    }
    by_gate = by_in.cwiseProduct(rows.in).cwiseProduct(slope);
    Matrix active = rows.gate;
    for (Index i = 0; i < active.rows(); ++i) row.apply(active.row(i).transpose().array());
    by_in.array() *= active.array();
}

/// Maps the gradient by one expert's output to the one by x: d = (d W_outᵀ ∘ …) Wᵀ.
Matrix expert_vjp(ThreadPool& pool, const ExpertForm& form, const ExpertWeights& w, const ExpertRows& rows,
                  ConstMatrixRef gradient) {
    Matrix by_in = linear_vjp(pool, gradient, w.out), by_gate;
    hidden_vjp(form, rows, by_in, by_gate);
    if (form.alternating) {
        Matrix both(by_in.rows(), 2 * by_in.cols());
        both(Eigen::all, Eigen::seq(0, Eigen::last, 2)) = by_gate;
        both(Eigen::all, Eigen::seq(1, Eigen::last, 2)) = by_in;
        return linear_vjp(pool, both, w.in);
    }
    Matrix out = linear_vjp(pool, by_in, w.in);
    if (w.gate) out += linear_vjp(pool, by_gate, w.gate);
    return out;
}

ExpertWeights shared_expert(const LayerWeights& w) { return {w.mlp_gate, w.mlp_in, w.mlp_out}; }

/// Lists the rows that go to each expert, with their weights.
struct RowsOfExpert {
    std::vector<int> rows;
    std::vector<float> weights;
};
std::vector<RowsOfExpert> by_expert(int experts, const std::vector<std::vector<ExpertChoice>>& routes) {
    std::vector<RowsOfExpert> out(experts);
    for (int i = 0; i < isize(routes); ++i)
        for (const ExpertChoice& c : routes[i]) {
            out[c.expert].rows.push_back(i);
            out[c.expert].weights.push_back(c.weight);
        }
    return out;
}

}  // namespace

Eigen::RowVectorXf expert_part(const StackRun& run, const MlpSpec& spec, const LayerWeights& w,
                               const ExpertChoice& choice, ConstMatrixRef x) {
    const bool inner = spec.experts->weighs_input;
    Matrix read = read_by(w.apart.experts_read, x);
    if (inner) read *= choice.weight;
    const Matrix out = run_expert(run.pool, form_of(spec), w.experts[choice.expert], read).out;
    return (inner ? 1 : choice.weight) * out.row(0);
}

Matrix chosen_output(const StackRun& run, const MlpSpec& spec, const LayerWeights& w, ConstMatrixRef x,
                     std::span<const int> off) {
    const auto rows_of = by_expert(spec.experts->count, route(run, *spec.experts, w, x));
    Matrix out = Matrix::Zero(x.rows(), run.config().d_model);
    for (int e = 0; e < isize(rows_of); ++e) {
        const RowsOfExpert& of = rows_of[e];
        if (of.rows.empty() || contains(off, e)) continue;
        const Eigen::Map<const Vector> weights(of.weights.data(), isize(of.weights));
        Matrix read = read_by(w.apart.experts_read, x(of.rows, Eigen::all));
        if (spec.experts->weighs_input) read = weights.asDiagonal() * read;
        const Matrix added = run_expert(run.pool, form_of(spec), w.experts[e], read).out;
        for (size_t i = 0; i < of.rows.size(); ++i)
            out.row(of.rows[i]) += (spec.experts->weighs_input ? 1 : of.weights[i]) * added.row(Index(i));
    }
    return out;
}

Matrix experts_output(const StackRun& run, const MlpSpec& spec, const LayerWeights& w, ConstMatrixRef x,
                      std::span<const int> off) {
    Matrix out = chosen_output(run, spec, w, x, off);
    if (w.apart.experts_norm) out = run.norm(w.apart.experts_norm, out);
    if (!w.mlp_in) return out;
    const Matrix read = read_by(w.apart.shared_reads, x);
    Matrix shared = run_expert(run.pool, {spec.activation}, shared_expert(w), read).out;
    if (w.shared_gate) {
        const Matrix gate = project(run.pool, x, w.shared_gate);
        for (Index i = 0; i < shared.rows(); ++i) shared.row(i) *= sigmoid(gate(i, 0));
    }
    if (w.apart.shared_norm) shared = run.norm(w.apart.shared_norm, shared);
    return out + shared;
}

namespace {

/// Maps the gradient to the one by x through the chosen experts alone; stores those by their weights.
Matrix chosen_vjp(const StackRun& run, const MlpSpec& spec, const LayerWeights& w, ConstMatrixRef x,
                  ConstMatrixRef gradient, const std::vector<std::vector<ExpertChoice>>& routes,
                  std::span<const int> off, std::vector<std::vector<float>>& by_weight) {
    Matrix out = Matrix::Zero(x.rows(), x.cols());
    const auto rows_of = by_expert(spec.experts->count, routes);
    for (int e = 0; e < isize(rows_of); ++e) {
        const RowsOfExpert& of = rows_of[e];
        if (contains(off, e))
            for (const int row : of.rows) by_weight[row].push_back(0);
        if (of.rows.empty() || contains(off, e)) continue;
        const Matrix d = gradient(of.rows, Eigen::all);
        const bool inner = spec.experts->weighs_input;
        const Eigen::Map<const Vector> weights(of.weights.data(), isize(of.weights));
        const Matrix own = read_by(w.apart.experts_read, x(of.rows, Eigen::all)),
                     weighed = weights.asDiagonal() * (inner ? own : d);
        const ExpertRows rows = run_expert(run.pool, form_of(spec), w.experts[e], inner ? weighed : own);
        Matrix by_read = expert_vjp(run.pool, form_of(spec), w.experts[e], rows, inner ? d : weighed);
        for (size_t i = 0; i < of.rows.size(); ++i) {
            const int row = of.rows[i];
            const Index at = Index(i);
            by_weight[row].push_back(inner ? by_read.row(at).dot(own.row(at))
                                           : d.row(at).dot(rows.out.row(at)));
            out.row(row) += (inner ? of.weights[i] : 1) * by_read.row(at);
        }
    }
    return read_by(w.apart.experts_read, out);
}

/// Propagates through a norm of rows that the gradient has in the same order.
Matrix norm_vjp_of_all(const StackRun& run, const Norm& norm, ConstMatrixRef x, ConstMatrixRef gradient) {
    std::vector<int> rows(size_t(x.rows()));
    std::iota(rows.begin(), rows.end(), 0);
    return norm_vjp(run.config(), norm, x, gradient, rows, run.pool);
}

Matrix shared_vjp(const StackRun& run, const MlpSpec& spec, const LayerWeights& w, ConstMatrixRef all,
                  Matrix d) {
    const Matrix x = read_by(w.apart.shared_reads, all);
    const ExpertRows shared = run_expert(run.pool, {spec.activation}, shared_expert(w), x);
    if (w.apart.shared_norm) d = norm_vjp_of_all(run, w.apart.shared_norm, shared.out, d);
    if (!w.shared_gate)
        return read_by(w.apart.shared_reads,
                       expert_vjp(run.pool, {spec.activation}, shared_expert(w), shared, d));
    const Matrix gate = project(run.pool, x, w.shared_gate);
    Matrix by_gate(d.rows(), 1);
    for (Index i = 0; i < d.rows(); ++i) {
        const float g = sigmoid(gate(i, 0));
        by_gate(i, 0) = d.row(i).dot(shared.out.row(i)) * g * (1 - g);
        d.row(i) *= g;
    }
    return linear_vjp(run.pool, by_gate, w.shared_gate) +
           expert_vjp(run.pool, {spec.activation}, shared_expert(w), shared, d);
}

/// Sorts experts by number, as chosen_vjp visits them.
void sort_by_number(std::vector<ExpertChoice>& chosen) {
    std::sort(chosen.begin(), chosen.end(),
              [](const ExpertChoice& a, const ExpertChoice& b) { return a.expert < b.expert; });
}

/// Maps gradients by the weights of chosen experts, each row's by number, to the one by what the router
/// reads.
Matrix router_vjp(const StackRun& run, const ExpertsSpec& experts, const LayerWeights& w,
                  const Matrix& scores, std::vector<std::vector<float>>& by_weight) {
    Matrix by_score(scores.rows(), experts.count);
    for (Index i = 0; i < scores.rows(); ++i) {
        const std::span<const float> own(scores.row(i).data(), size_t(experts.count));
        std::vector<ExpertChoice> chosen = choose_experts(experts, own, w.router_bias);  // without own scales
        sort_by_number(chosen);
        std::vector<float>& by = by_weight[size_t(i)];
        for (size_t c = 0; w.expert_scales && c < chosen.size(); ++c)
            by[c] *= w.expert_scales[chosen[c].expert];
        by_score.row(i) = scores_vjp(experts, own, chosen, by);
    }
    if (experts.score_cap > 0) by_score.array() *= 1 - (scores.array() / experts.score_cap).square();
    return read_by(w.apart.router_reads, linear_vjp(run.pool, by_score, w.router));
}

}  // namespace

Matrix experts_vjp(const StackRun& run, const MlpSpec& spec, const LayerWeights& w, ConstMatrixRef x,
                   ConstMatrixRef gradient, std::span<const int> tokens, std::span<const int> off) {
    const ExpertsSpec& experts = *spec.experts;
    const std::vector<int> at(tokens.begin(), tokens.end());
    const Matrix read = x(at, Eigen::all), scores = router_scores(run, experts, w, read);
    auto routes = route(run, experts, w, read);
    for (auto& chosen : routes) sort_by_number(chosen);
    std::vector<std::vector<float>> by_weight(routes.size());
    const Norm& norm = w.apart.experts_norm;
    const Matrix by_chosen =
        norm ? norm_vjp_of_all(run, norm, chosen_output(run, spec, w, read, off), gradient)
             : Matrix(gradient);
    Matrix out = chosen_vjp(run, spec, w, read, by_chosen, routes, off, by_weight);
    out += router_vjp(run, experts, w, scores, by_weight);
    if (w.mlp_in) out += shared_vjp(run, spec, w, read, gradient);
    return out;
}

}  // namespace headlight

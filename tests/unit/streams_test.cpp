// Tests several residual streams (AltUp): their equations in plain loops, what stands in their place in a
// trace, and what is refused for them.
#include "model/streams.h"

#include <cmath>

#include "analysis/attention/score_origins.h"
#include "analysis/attribution/contribution.h"
#include "analysis/attribution/influence.h"
#include "analysis/circuits/circuit_factors.h"
#include "analysis/patching/patch.h"
#include "analysis/prediction/lens.h"
#include "changed.h"
#include "helpers.h"
#include "model/sparse_gate.h"

using namespace headlight;

namespace {

using StreamValues = std::vector<double>;

/// y = W x, in plain loops.
StreamValues stream_product(const Linear& w, const StreamValues& x) {
    StreamValues out(size_t(w.out), 0.0);
    std::vector<float> row(size_t(w.in));
    for (int64_t o = 0; o < w.out; ++o) {
        w.read(o, 0, w.in, row.data());
        for (size_t i = 0; i < x.size(); ++i) out[size_t(o)] += double(row[i]) * x[i];
    }
    return out;
}

double root_mean_square(const StreamValues& x) {
    double sum = 0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum / double(x.size()));
}

/// tanh(W_router norm(x) / d), in plain loops.
StreamValues routed(const ModelConfig& c, const StreamsWeights& w, const StreamValues& x) {
    StreamValues normal = x;
    const double size = std::sqrt(std::pow(root_mean_square(x), 2) + double(c.norm_eps));
    for (size_t i = 0; i < x.size(); ++i) normal[i] = x[i] / size * double(w.router_norm.weight[i]);
    StreamValues out = stream_product(w.router, normal);
    for (double& value : out) value = std::tanh(value / c.d_model);
    return out;
}

StreamValues stream_part(const Matrix& m, Index row, Index first, Index count) {
    StreamValues out;
    for (Index i = 0; i < count; ++i) out.push_back(double(m(row, first + i)));
    return out;
}

double stream_gap(const StreamValues& a, const Matrix& m, Index row, Index first) {
    double worst = 0;
    for (size_t i = 0; i < a.size(); ++i)
        worst = std::max(worst, std::abs(a[i] - double(m(row, first + Index(i)))));
    return worst;
}

}  // namespace

TEST_CASE("streams: entered, predicted and left as the equations say, in plain loops") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("gemma3n"), {}, pool);
    const ModelConfig& c = trace->config();
    const StackActivations& stack = trace->stack(0);
    const StackWeights& w = trace->model->weights.stacks[0];
    const Index d = c.d_model, count = c.stacks[0].streams->count, active = c.stacks[0].streams->active;
    REQUIRE((count == 3 && active == 2));
    const Matrix entered = stack.layers[0]->streams.all();
    for (const Index t : {Index{0}, Index{5}}) {
        const StreamValues e = stream_part(stack.embeddings().all(), t, 0, d);
        CHECK(stream_gap(e, entered, t, 0) == 0);
        StreamValues p = stream_product(w.streams_enter.columns(d, d), e);  // of stream 2
        const double by = root_mean_square(e) / root_mean_square(p);
        for (double& value : p) value *= by;
        CHECK(stream_gap(p, entered, t, 2 * d) < 1e-5);
    }
    for (int l = 0; l < 3; ++l) {
        const Matrix x = stack.layers[l]->streams.all();
        const StreamsWeights& own = w.layers[l].streams;
        const StreamValues of = stream_product(own.predict, routed(c, own, stream_part(x, 5, active * d, d)));
        StreamValues predicted = stream_part(x, 5, active * d, d);
        for (Index j = 0; j < count; ++j)
            for (Index i = 0; i < d; ++i)
                predicted[size_t(i)] += of[size_t(active * count + j)] * double(x(5, j * d + i));
        CHECK(stream_gap(predicted, stack.layers[l]->resid_pre.all(), 5, 0) < 1e-5);
    }
    const Matrix last = stack.streams.all();
    StreamValues mean = stream_part(last, 5, 0, d);
    const double wanted = root_mean_square(mean);
    for (Index i = 1; i < count; ++i) {
        const StreamValues u =
            stream_product(w.streams_leave.columns((i - 1) * d, d), stream_part(last, 5, i * d, d));
        for (size_t k = 0; k < u.size(); ++k) mean[k] += u[k] * wanted / root_mean_square(u);
    }
    for (double& value : mean) value /= double(count);
    CHECK(stream_gap(mean, stack.resid_final.all(), 5, 0) < 1e-4);
}

TEST_CASE("streams: corrected by what the layer left; the layer's embedding passes the first one by") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("gemma3n"), {}, pool);
    const ModelConfig& c = trace->config();
    const StackRun run{*trace->model, c.stacks[0], trace->model->weights.stacks[0], pool};
    const Index d = c.d_model, count = 3;
    for (int l = 0; l < 3; ++l) {
        const Matrix left = trace->resid_mid(0, l, pool) + trace->mlp_out(0, l, pool);
        const Matrix predicted = predict_streams(run, l, trace->stack(0).layers[l]->streams.all());
        const Matrix next = trace->stack(0).layers[l + 1]->streams.all();
        const StreamsWeights& own = run.weights.layers[l].streams;
        const StreamValues by = stream_product(own.correct, routed(c, own, stream_part(left, 5, 0, d)));
        StreamValues first(static_cast<size_t>(d));
        for (Index i = 0; i < d; ++i)
            first[size_t(i)] = double(predicted(5, i)) +
                               (1 + by[0]) * (double(left(5, i)) - double(predicted(5, 2 * d + i)));
        CHECK(stream_gap(first, next, 5, 0) < 1e-4);
        Eigen::RowVectorXf added[2];
        for (Index i = 1; i < count; ++i) {
            Matrix corrected = predicted;
            correct_streams(run, l, left, corrected);
            added[i - 1] = next.row(5).segment(i * d, d) - corrected.row(5).segment(i * d, d);
        }
        CHECK((added[0] - added[1]).cwiseAbs().maxCoeff() < 1e-4f);
        CHECK(added[0].norm() > 0.1f);
        CHECK(same(trace->resid_post(0, l).all(), Matrix(next.middleCols(2 * d, d))));
    }
}

TEST_CASE("streams: a patched stream is the one that the layer reads, and the others stay") {
    ThreadPool pool(2);
    const auto model = reference_model("gemma3n");
    const auto own = changed(model, {}, pool);
    const auto change = parse_change(model->config, "patch-resid:4@2");
    REQUIRE(change);
    Intervention wish;
    wish.changes.push_back(*change);
    const Matrix values = random_matrix(own->output().size(), model->config.d_model, 3);
    wish.changes[0].pattern = std::make_shared<const Matrix>(values);
    const auto there = *run_trace(model, {own->request.inputs, wish}, pool);
    const LayerActivations &patched = *there->stack(0).layers[2], &plain = *own->stack(0).layers[2];
    CHECK(same(Matrix(patched.resid_pre.row(4)), Matrix(values.row(4))));
    CHECK(same(patched.streams.all(), plain.streams.all()));
    CHECK(!same(there->resid_post(0, 2).all(), own->resid_post(0, 2).all()));
    // its own values change nothing
    wish.changes[0].pattern = std::make_shared<const Matrix>(plain.resid_pre.all());
    const auto again = *run_trace(model, {own->request.inputs, wish}, pool);
    CHECK(same(again->normalized().all(), own->normalized().all()));
}

TEST_CASE("streams: the lens joins them as the last layer does; what assumes one stream is refused") {
    ThreadPool pool(2);
    const auto model = reference_model("gemma3n");
    const auto trace = changed(model, {}, pool);
    const Attribution a = *answer_attribution(*trace, AttributionRequest{5, -1, 3}, pool, nullptr);
    const StackRun run{*model, model->config.stacks[0], model->weights.stacks[0], pool};
    const Matrix x = leave_streams(run, trace->stack(0).layers[1]->streams.all());
    const Matrix logits = unembed(*model, run.norm(run.weights.final_norm, x), pool);
    CHECK(a.after_layer[1] == doctest::Approx(probabilities(logits.row(5).transpose())[a.token]));
    CHECK(a.after_layer.back() == doctest::Approx(a.probability));
    CHECK(a.parts.empty());
    CHECK(says(missing_contributions(*trace), "several streams"));
    CHECK(says(missing_ov(*model, {0, 0}), "several streams"));
    const auto origins = answer_score_origins(*trace, ScoreOriginsRequest{0, 0, 5, 3}, pool, nullptr);
    REQUIRE(!origins);
    CHECK(says(origins.error().message, "Several streams"));
    Metric metric{MetricKind::log_probability};
    const auto found = influence({*trace, nullptr, nullptr},
                                 InfluenceRequest{InfluenceMethod::contribution, metric}, pool, nullptr);
    REQUIRE(!found);
    CHECK(says(found.error().message, "several streams"));
    Intervention noisy;
    noisy.changes.push_back(*parse_change(model->config, "noise:3=7"));
    const auto refused = patched(noisy, *trace, pool);
    REQUIRE(!refused);
    CHECK(says(refused.error().message, "a single stream of token embeddings"));
}

TEST_CASE("sparse gate: the share of a normal gate that is cut, and its gradient by finite differences") {
    CHECK(normal_quantile(0.95) == doctest::Approx(1.6448536269514722).epsilon(1e-12));
    CHECK(normal_quantile(0.3) == doctest::Approx(-0.5244005127080409).epsilon(1e-12));
    CHECK(normal_quantile(0.5) == 0);
    CHECK(normal_quantile(0.999999) == doctest::Approx(4.753424308822899).epsilon(1e-9));
    const Eigen::ArrayXf gate = random_matrix(1, 40, 3).row(0).transpose().array();
    const Eigen::ArrayXf by = random_matrix(1, 40, 4).row(0).transpose().array();
    Eigen::ArrayXf gradient = by;
    cut_gate_vjp(0.7f, gate, gradient);
    const auto sum = [&](Eigen::ArrayXf at) {
        cut_gate(0.7f, at);
        return double((at * by).sum());
    };
    for (Index i = 0; i < gate.size(); ++i) {
        Eigen::ArrayXf above = gate, below = gate;
        above[i] += 1e-3f;
        below[i] -= 1e-3f;
        CHECK((sum(above) - sum(below)) / 2e-3 ==
              doctest::Approx(double(gradient[i])).epsilon(0.02).scale(0.1));
    }
}

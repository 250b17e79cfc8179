// Tests scores of tokens: completeness of integrated gradients, each method against its own definition.
#include "analysis/attribution/influence.h"

#include <array>
#include <cmath>

#include "analysis/attribution/contribution.h"
#include "analysis/attribution/delta.h"
#include "analysis/attribution/flow.h"
#include "changed.h"
#include "helpers.h"
#include "model/input.h"

using namespace headlight;

namespace {

constexpr const char* kRed = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";
constexpr const char* kBig = "Lily had a big dog. Tom had a blue ball. Lily gave Tom the red";

/// Gathers maps of every block by head from a reverse pass.
struct GatheredMaps : GradientObserver {
    explicit GatheredMaps(const Trace& trace) {
        for (int block = 0; block < trace.config().blocks(); ++block)
            maps.emplace_back(trace.config().heads(block),
                              Matrix::Zero(trace.query_count(block), trace.key_count(block)));
    }
    void begin(int) override {}
    void see(int block, const GradientTile& tile) override {
        const PatternTile& at = tile.pattern;
        maps[block][at.head].block(at.first, at.first_key, at.weights.rows(), at.weights.cols()) =
            at.weights.cwiseProduct(tile.by_weights).cwiseMax(0.0f);
    }
    std::vector<std::vector<Matrix>> maps;
};

}  // namespace

TEST_CASE("influence: the Gauss-Legendre rule") {
    const auto two = gauss_legendre(2);
    CHECK(std::abs(two[1].first - two[0].first) == doctest::Approx(1 / std::sqrt(3.0)));
    for (const int points : {1, 5, 300}) {
        double sum = 0, ninth = 0;
        for (const auto& [at, weight] : gauss_legendre(points)) {
            sum += weight;
            ninth += weight * std::pow(at, 9);
        }
        CHECK(sum == doctest::Approx(1).epsilon(1e-12));
        if (points >= 5) CHECK(ninth == doctest::Approx(0.1).epsilon(1e-12));
    }
}

TEST_CASE("influence: gradients of each metric are its slopes") {
    Vector logits(4), other(4);
    logits << 0.3f, -1.1f, 2, 0.5f;
    other << 1, 0, 0.2f, -0.4f;
    for (const Metric metric :
         {Metric{MetricKind::log_probability, 1, -1, 0}, Metric{MetricKind::probability, 2, -1, 0},
          Metric{MetricKind::logit, 0, -1, 0}, Metric{MetricKind::difference, 3, 1, 0},
          Metric{MetricKind::divergence, 0, -1, 0}}) {
        const Vector gradient = metric_gradient(metric, logits, other);
        for (Index i = 0; i < logits.size(); ++i) {
            constexpr float kStep = 1e-2f;
            Vector up = logits, down = logits;
            up[i] += kStep;
            down[i] -= kStep;
            const float slope =
                (evaluate(metric, up, other).value - evaluate(metric, down, other).value) / (2 * kStep);
            CHECK(std::abs(gradient[i] - slope) < 1e-3);
        }
    }
}

TEST_CASE("influence: integrated gradients of 300 steps are complete, from two baselines") {
    ThreadPool pool(2);
    const auto red = run_story(kRed, pool), big = run_story(kBig, pool);
    InfluenceRequest request;
    request.method = InfluenceMethod::integrated_gradients;
    request.metric = *parse_metric(*story_model(), "ball - car");
    request.steps = 300;
    int done = 0;
    for (const InfluenceBaseline baseline : {InfluenceBaseline::mean, InfluenceBaseline::prompt}) {
        request.baseline = baseline;
        const auto found =
            influence({*red, nullptr, big.get()}, request, pool, nullptr, [&](const Influence*) { ++done; });
        REQUIRE(found);
        MESSAGE("completeness from ", baseline == InfluenceBaseline::mean ? "the mean" : "a prompt", ": ",
                found->sum, " of ", found->value - found->baseline_value, ", gap ", found->gap());
        CHECK(found->gap() < 0.01);
        CHECK(found->tokens[0].size() == red->output().size());
    }
    CHECK(done == 600);
    request.steps = 3;
    request.baseline = InfluenceBaseline::zero;
    const auto rough = influence({*red}, request, pool);
    REQUIRE(rough);
    CHECK(std::abs(rough->sum - (rough->value - rough->baseline_value)) ==
          doctest::Approx(rough->gap() * std::abs(rough->value - rough->baseline_value)));
    request.baseline = InfluenceBaseline::prompt;
    const auto shorter = run_story("Lily had a ball", pool);
    const auto refused = influence({*red, nullptr, shorter.get()}, request, pool);
    REQUIRE(!refused);
    CHECK(refused.error().message.find("equal length") != std::string::npos);
    CancelFlag cancel = true;
    CHECK(influence({*red}, {}, pool, &cancel).error().cancelled);
}

TEST_CASE("influence: the baseline itself has integrated gradients 0") {
    ThreadPool pool(2);
    const auto red = run_story(kRed, pool);
    InfluenceRequest request;
    request.method = InfluenceMethod::integrated_gradients;
    request.baseline = InfluenceBaseline::prompt;
    request.steps = 2;
    const auto none = *influence({*red, nullptr, red.get()}, request, pool);
    CHECK(none.tokens[0].norm() == 0);
    CHECK(std::isnan(none.gap()));
}

TEST_CASE("influence: gradient and input times gradient are of the same embeddings") {
    ThreadPool pool(2);
    const auto red = run_story(kRed, pool);
    InfluenceRequest request;
    request.metric = *parse_metric(*story_model(), "logit ball");
    const auto norms = *influence({*red}, request, pool);
    request.method = InfluenceMethod::input_x_gradient;
    const auto products = *influence({*red}, request, pool);
    const Matrix e = embeddings_of(*red)[0];
    for (Index i = 0; i < e.rows(); ++i)
        CHECK(std::abs(products.tokens[0][i]) <= norms.tokens[0][i] * e.row(i).norm() * 1.0001f);
    CHECK(products.value == doctest::Approx(evaluate(products.metric, *red, *red, pool).value));
    CHECK(norms.tokens[0].minCoeff() > 0);
}

TEST_CASE("influence: a divergence has gradients only if something is changed") {
    ThreadPool pool(2);
    const auto plain = changed(reference_model("gpt2"), {}, pool),
               masked = changed(reference_model("gpt2"), {"mask:6>2", "skip-mlp:0"}, pool);
    const InfluenceRequest request{InfluenceMethod::gradient, {MetricKind::divergence, 0, -1, -1}};
    const auto refused = influence({*plain}, request, pool);
    REQUIRE(!refused);
    CHECK(refused.error().message.find("No interventions") == 0);
    const auto found = influence({*masked, plain.get()}, request, pool);
    REQUIRE(found);
    CHECK(found->tokens[0].minCoeff() > 0);
}

TEST_CASE("influence: rollout equals the graph's") {
    ThreadPool pool(2);
    const auto red = run_story(kRed, pool);
    const int last = red->output().size() - 1;
    const auto down = *rollout_paths(*red, std::array{last}, pool);
    const auto graph =
        answer_rollout(Runs{*red}, RolloutRequest{{}, last, Origins::rollout, {}}, pool, nullptr);
    REQUIRE(graph);
    CHECK((down[0].transpose() - graph->accumulated.row(0)).cwiseAbs().maxCoeff() < 1e-6);
    const auto both = *rollout_paths(*changed(reference_model("marian"), {}, pool), std::array{2}, pool);
    CHECK(both[0].sum() + both[1].sum() == doctest::Approx(1));
    CHECK((both[0].minCoeff() > 0 && both[1].minCoeff() >= 0));
}

TEST_CASE("influence: contributions are lengths of what attention moves, against the residual") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama"}) {
        const auto trace = changed(reference_model(name), {}, pool);
        const int n = trace->output().size();
        Matrix reached = Matrix::Zero(1, n);
        reached(0, n - 1) = 1;
        for (int block = trace->config().blocks() - 1; block >= 0; --block) {
            Matrix shares(n, n);
            const Matrix stream = trace->resid_before(block, pool);
            for (int i = 0; i < n; ++i) {
                Matrix moved = key_contributions(*trace, block, -1, i, pool);
                moved.row(i) += stream.row(i);
                shares.row(i) = moved.rowwise().norm().transpose();
                shares.row(i) /= shares.row(i).sum();
            }
            reached *= shares;
        }
        const auto found = *contribution_paths(*trace, std::array{n - 1}, pool);
        INFO(name);
        CHECK((found[0].transpose() - reached).cwiseAbs().maxCoeff() < 1e-5);
    }
    CancelFlag cancel = true;
    const auto story = run_story(kRed, pool);
    CHECK(contribution_paths(*story, std::array{2}, pool, &cancel).error().cancelled);
    CHECK(
        shares_through(*story, 0, 3, contribution_shares(*story, {}, pool), pool, &cancel).error().cancelled);
    for (const char* name : {"bert", "gemma2", "marian", "t5"}) {
        const auto found =
            *contribution_paths(*changed(reference_model(name), {"mask:2>1"}, pool), std::array{2}, pool);
        float sum = 0;
        for (const Vector& stack : found) sum += stack.sum();
        INFO(name);
        CHECK(sum == doctest::Approx(1));
    }
}

TEST_CASE("influence: relevance is the product of weighted patterns, layer by layer") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "bert"}) {
        const auto trace = changed(reference_model(name), {}, pool);
        const int n = trace->output().size();
        const Metric metric = *resolved({MetricKind::logit, 17, -1, n - 1}, *trace, pool);
        const GradientSeed seed = *metric_seed(metric, *trace, nullptr, pool);
        GatheredMaps gathered(*trace);
        REQUIRE(backward(*trace, {&seed, 1}, pool, nullptr, &gathered));
        Matrix relevance = Matrix::Identity(n, n);
        for (const auto& heads : gathered.maps) {
            Matrix mean = Matrix::Zero(n, n);
            for (const Matrix& head : heads) mean += head / float(heads.size());
            relevance += mean * relevance;
        }
        const Matrix found = *relevance_paths(*trace, std::array{n - 1}, {seed}, pool);
        INFO(name);
        CHECK((found.row(0) - relevance.row(n - 1)).norm() < 1e-5 * relevance.row(n - 1).norm());
    }
}

TEST_CASE("influence: the Jacobian of each output by each token, exact and estimated") {
    ThreadPool pool(2);
    for (const char* name : {"llama", "bart"}) {
        const auto trace = changed(reference_model(name), {}, pool);
        const auto exact = *jacobian_norms(*trace, 0, pool);
        const Index n = trace->output().size(), inputs = trace->request.inputs[0].size();
        const bool pair = trace->config().stacks.size() > 1;
        INFO(name);
        REQUIRE((exact.norms.rows() == n && exact.norms.cols() == inputs + (pair ? n : 0)));
        CHECK(exact.standard_error.size() == 0);
        for (Index i = 0; i < n; ++i)  // its own tokens: none later
            for (Index j = 0; j < n; ++j) {
                const float norm = exact.norms(i, exact.norms.cols() - n + j);
                CHECK((norm > 0) == (j <= i));
            }
        int steps = 0;
        const auto estimated = *jacobian_norms(*trace, 64, pool, nullptr, [&](const Influence*) { ++steps; });
        CHECK(steps == n);
        for (Index i = 0; i < exact.norms.size(); ++i)
            CHECK(std::abs(estimated.norms.data()[i] - exact.norms.data()[i]) <=
                  6 * estimated.standard_error.data()[i]);
    }
    // Without attention and MLP, one layer is the stream itself: the identity.
    const auto bare = changed(reference_model("llama"),
                              {"skip-attention:0", "skip-attention:1", "skip-attention:2", "skip-mlp:0",
                               "skip-mlp:1", "skip-mlp:2"},
                              pool);
    const Matrix norms = jacobian_norms(*bare, 0, pool)->norms;
    const float root = std::sqrt(float(bare->config().d_model));
    CHECK((norms - root * Matrix::Identity(norms.rows(), norms.cols())).norm() < 1e-4);
    CancelFlag cancel = true;
    CHECK(jacobian_norms(*bare, 0, pool, &cancel).error().cancelled);
}

TEST_CASE("leave out: each score is the metric minus that of the text without the token") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "gemma2", "marian"}) {
        CAPTURE(name);
        const auto model = reference_model(name);
        ForwardRequest request = request_of({5, 9, 200, 31, 5});
        if (model->config.stacks.size() > 1) request.inputs.push_back(request_of({0, 4, 7}).inputs[0]);
        const auto trace = *run_trace(model, request, pool);
        InfluenceRequest asked{InfluenceMethod::leave_out, {MetricKind::logit, 7, -1, -1}};
        const auto found = influence({*trace}, asked, pool);
        REQUIRE(found);
        const int last = found->metric.position;
        request.inputs[0].ids.erase(request.inputs[0].ids.begin() + 1);
        if (!request.inputs[0].tokens.empty())
            request.inputs[0].tokens.erase(request.inputs[0].tokens.begin() + 1);
        const auto shorter = *run_trace(model, request, pool);
        const bool moved = request.inputs.size() == 1;
        const float left = evaluate({MetricKind::logit, 7, -1, last - moved}, *shorter, *shorter, pool).value;
        CHECK(found->tokens[0][1] == doctest::Approx(found->value - left).epsilon(1e-4));
        CHECK(found->tokens[0].size() == 5);
    }
}

TEST_CASE("leave out: an intervention that names a token is refused") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    ForwardRequest request = request_of({5, 9, 200, 31});
    request.intervention.changes.push_back(*parse_change(model->config, "noise:1-2=3"));
    const auto trace = *run_trace(model, request, pool);
    const auto found = influence({*trace}, {InfluenceMethod::leave_out, {}}, pool);
    CHECK(found.error().message.find("names tokens by number") != std::string::npos);
}

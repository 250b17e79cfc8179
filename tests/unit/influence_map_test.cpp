// Tests maps of influence and the attention beside them; scores of generated tokens; parts of a text; a
// graph's origins.
#include "analysis/attribution/influence_map.h"

#include <array>
#include <cmath>

#include "analysis/attribution/contribution.h"
#include "analysis/attribution/flow.h"
#include "analysis/comparison/text_parts.h"
#include "changed.h"

using namespace headlight;

TEST_CASE("influence map: Spearman's rank correlation by hand") {
    CHECK(rank_correlation(std::array{1.0f, 2.0f, 3.0f}, std::array{1.0f, 3.0f, 2.0f}) ==
          doctest::Approx(0.5));  // 1 − 6 (0 + 1 + 1) / (3 · 8)
    CHECK(rank_correlation(std::array{1.0f, 1.0f, 2.0f}, std::array{1.0f, 2.0f, 3.0f}) ==
          doctest::Approx(1.5 / std::sqrt(1.5 * 2)));  // ranks 1.5, 1.5, 3 and 1, 2, 3
    CHECK(rank_correlation(std::array{4.0f, 3.0f, 1.0f}, std::array{0.1f, 0.2f, 0.9f}) ==
          doctest::Approx(-1));
    CHECK(std::isnan(rank_correlation(std::array{1.0f, 1.0f}, std::array{1.0f, 2.0f})));
}

TEST_CASE("influence map: rows are those of the Jacobian, and of the metric's gradients") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "marian"}) {
        const auto trace = changed(reference_model(name), {}, pool);
        const int last = isize(trace->config().stacks) - 1;
        INFO(name);
        InfluenceMapRequest request;
        request.stack = last;
        request.layer = 0;
        request.probes = 0;
        int seen = 0;
        const auto map = influence_map({*trace}, request, pool, nullptr, [&](const InfluenceMap& now) {
            CHECK(now.done > seen);
            CHECK(!std::isnan(now.norms.topRows(now.done).sum()));
            seen = now.done;
        });
        REQUIRE(map);
        CHECK((map->whole() && seen == trace->output().size()));
        CHECK(map->standard_error.size() == 0);
        CHECK(most_apart(map->norms, jacobian_norms(*trace, 0, pool, nullptr, {}, {last, 0})->norms) == 0);
        request.of = InfluenceOf::metric;
        request.metric = {MetricKind::logit, 7, -1, -1};
        const auto gradients = influence_map({*trace}, request, pool);
        REQUIRE(gradients);
        for (const int position : {1, trace->output().size() - 1}) {
            const auto row =
                influence({*trace}, {InfluenceMethod::gradient, {MetricKind::logit, 7, -1, position}}, pool);
            Index column = 0;
            for (const Vector& stack : row->tokens) {
                const Matrix found = gradients->norms.block(position, column, 1, stack.size());
                CHECK(most_apart(found, stack.transpose()) < 1e-5f * stack.norm());
                column += stack.size();
            }
        }
    }
}

TEST_CASE("influence map: an encoder's rows depend only on the source") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("marian"), {}, pool);
    InfluenceMapRequest request;
    request.probes = 16;
    const auto map = influence_map({*trace}, request, pool);
    REQUIRE(map);
    const Index n = trace->request.inputs[0].size();
    CHECK(map->norms.leftCols(n).minCoeff() > 0);
    CHECK(map->norms.rightCols(map->norms.cols() - n).cwiseAbs().maxCoeff() == 0);
    CHECK(map->standard_error.leftCols(n).minCoeff() > 0);
    request.of = InfluenceOf::metric;
    CHECK(influence_map({*trace}, request, pool).error().message.find("decoder") != std::string::npos);
    CancelFlag cancel = true;
    CHECK(influence_map({*trace}, {}, pool, &cancel).error().cancelled);
    const auto story = run_story("Lily had a red ball.", pool);
    InfluenceMapRequest last;
    last.clamp_to(*story);
    CHECK(probes_by_cost(*story, last) == 0);
}

TEST_CASE("influence map: shares of all rows equal each row's trace down") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "marian", "gemma2"}) {
        const auto trace = changed(reference_model(name), {"mask:3>1"}, pool);
        const int last = isize(trace->config().stacks) - 1;
        const int layer = trace->config().stacks[last].depth() - 1;
        INFO(name);
        for (const bool moved : {false, true}) {
            const auto rows = shares_through(
                *trace, last, layer,
                moved ? contribution_shares(*trace, {}, pool) : rollout_shares(*trace, {}), pool);
            REQUIRE(rows);
            const std::array position{2};
            const auto down =
                moved ? contribution_paths(*trace, position, pool) : rollout_paths(*trace, position, pool);
            Index column = 0;
            for (const Vector& stack : *down) {
                CHECK(most_apart(rows->block(2, column, 1, stack.size()), stack.transpose()) < 1e-5f);
                column += stack.size();
            }
            CHECK((rows->rowwise().sum().array() - 1).abs().maxCoeff() < 1e-4f);
        }
    }
}

TEST_CASE("influence map: shares cancelled within a block end there") {
    ThreadPool pool(1);
    std::string text;
    for (int i = 0; i < 36; ++i) text += "Lily had a red ball. ";
    const auto story = run_story(text, pool);
    REQUIRE(story->output().size() > 3 * 64);  // 64 rows per request
    CancelFlag cancel = false;
    const BlockShares shares = contribution_shares(*story, {}, pool);
    int prepared = 0, asked = 0;
    const BlockShares cancelling = [&](int block) -> SharesOf {
        ++prepared;
        return [&, rows_of = shares(block)](int first, int rows) {
            cancel = ++asked == 2;
            return rows_of(first, rows);
        };
    };
    const auto ended = shares_through(*story, 0, 3, cancelling, pool, &cancel);
    REQUIRE(!ended);
    CHECK((ended.error().cancelled && prepared == 1 && asked == 2));
    const CancelScope scope(pool, &cancel);
    CHECK_THROWS(shares(1));  // nor is another one prepared
}

TEST_CASE("influence map: attention beside it, and how far their ranks agree") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("gpt2"), {}, pool);
    AttentionBesideRequest request;
    request.block = 1;
    request.head = 1;
    const Matrix pattern = masked_pattern(*trace, 1, 1);
    const auto alone = answer_attention_beside(Runs{*trace}, request, pool, nullptr);
    REQUIRE(alone);
    CHECK(most_apart(alone->weights, pattern) == 0);
    CHECK(std::isnan(alone->correlation));
    InfluenceMap same;
    same.norms = 3 * pattern.cwiseMax(0.0f);
    same.done = int(same.norms.rows());
    request.map = std::make_shared<const InfluenceMap>(same);
    const auto agrees = answer_attention_beside(Runs{*trace}, request, pool, nullptr);
    CHECK(agrees->correlation == doctest::Approx(1));
    CHECK(agrees->rows == trace->output().size() - 2);  // the first two have fewer than three keys
    same.norms = (same.norms.array() > 0).select(1 / pattern.array(), 0.0f);
    request.map = std::make_shared<const InfluenceMap>(same);
    CHECK(answer_attention_beside(Runs{*trace}, request, pool, nullptr)->correlation == doctest::Approx(-1));
    request.beside = InfluenceBeside::rollout;
    request.clamp_to(*trace);
    const auto through = answer_attention_beside(Runs{*trace}, request, pool, nullptr);
    CHECK(through->weights(0, 1) == kMasked);
    CHECK(through->weights.row(4).cwiseMax(0.0f).sum() == doctest::Approx(1));
}

TEST_CASE("influence on generated text is the sum over its tokens") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("gpt2"), {}, pool);
    const auto masked = changed(reference_model("gpt2"), {"mask:7..>2"}, pool);
    const int n = trace->output().size();
    InfluenceRequest all;
    all.method = InfluenceMethod::input_x_gradient;
    all.written = 3;
    const auto found = influence({*trace}, all, pool);
    REQUIRE(found);
    Vector sum = Vector::Zero(n);
    float value = 0;
    for (int at = n - 3; at < n; ++at) {
        const Metric one{MetricKind::log_probability, kIds[at], -1, at - 1};
        const auto part = influence({*trace}, {InfluenceMethod::input_x_gradient, one}, pool);
        sum += part->tokens[0];
        value += part->value;
    }
    CHECK((found->tokens[0] - sum).norm() < 1e-4f * sum.norm());
    CHECK(found->value == doctest::Approx(value));
    CHECK((found->metric.position == n - 4 && found->metric.a == kIds[n - 3]));
    CHECK(found->own_value == found->value);
    const auto fallen = influence({*masked, trace.get()}, all, pool);
    CHECK((fallen->own_value == doctest::Approx(value) && fallen->value != fallen->own_value));
    for (const InfluenceMethod method : {InfluenceMethod::rollout, InfluenceMethod::contribution}) {
        all.method = method;
        CHECK(influence({*trace}, all, pool)->sum == doctest::Approx(3));
    }
    all.method = InfluenceMethod::integrated_gradients;
    all.steps = 100;
    CHECK(influence({*trace}, all, pool)->gap() < 0.01f);
    all.metric = {MetricKind::difference, 1, 2, -1};
    CHECK(influence({*trace}, all, pool).error().message.find("log p") != std::string::npos);
    all.metric = {};
    all.written = n;
    CHECK(!influence({*trace}, all, pool));
}

TEST_CASE("text parts: words, sentences and paragraphs cover the text") {
    ThreadPool pool(2);
    const auto trace = run_story("Lily had a red ball. \"Look!\" said Tom.\nThe end", pool);
    const auto labels = token_labels(*trace, 0);
    for (const TextPart part : {TextPart::token, TextPart::word, TextPart::sentence, TextPart::paragraph}) {
        int end = 0;
        for (const TextSpan& span : text_parts(*trace, 0, part)) {
            CHECK((span.first == end && span.size() > 0));
            end = span.end;
        }
        CHECK(end == isize(labels));
    }
    const Vector ones = Vector::Ones(isize(labels));
    const auto sentences = scored_parts(*trace, {&ones, 1}, TextPart::sentence);
    REQUIRE(sentences.size() >= 3);
    CHECK(sentences[0].label == "Lily had a red ball.");
    CHECK(sentences[0].score == float(sentences[0].tokens.size()));
    const auto paragraphs = scored_parts(*trace, {&ones, 1}, TextPart::paragraph);
    CHECK(paragraphs.size() == 2);
    CHECK(paragraphs[1].label == "The end");
    CHECK(text_parts(*trace, 0, TextPart::token).size() == labels.size());
    const auto without = scored_parts(*trace, {&ones, 1}, TextPart::paragraph, 1);
    CHECK(without[1].label == "The");
    const auto ids = changed(reference_model("gpt2"), {}, pool);
    CHECK(text_parts(*ids, 0, TextPart::word).size() == kIds.size());
    CHECK(text_parts(*ids, 0, TextPart::sentence).size() == 1);
}

TEST_CASE("graph: links and residuals of every method carry the accumulated shares, layer by layer") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("gpt2"), {}, pool);
    const int n = trace->output().size(), token = n - 2;
    const Metric metric{MetricKind::logit, 17, -1, -1};
    for (const Origins by : {Origins::rollout, Origins::contribution, Origins::relevance}) {
        CAPTURE(static_cast<int>(by));
        const auto graph =
            answer_graph(Runs{*trace}, GraphRequest{{}, 1.0f, by, {metric, token}}, pool, nullptr);
        const auto origins =
            answer_rollout(Runs{*trace}, RolloutRequest{{}, token, by, metric}, pool, nullptr);
        REQUIRE((graph && origins));
        CHECK((origins->by == by && origins->refusal.empty()));
        for (int l = 0; l + 1 < origins->accumulated.rows(); ++l) {
            Vector below = Vector::Zero(n);
            for (int q = 0; q < n; ++q) {
                const float above = origins->scales[l] * origins->accumulated(l + 1, q);
                below[q] += above * (graph->residual_weight.empty() ? 1 : graph->residual_weight[l][q]);
                for (const Link& link : graph->links[l][q]) below[link.key] += above * link.weight;
            }
            CHECK(most_apart(below.transpose(), origins->accumulated.row(l)) < 1e-4f);
            CHECK(below.sum() == doctest::Approx(1).epsilon(1e-3));
        }
    }
    const auto contributions =
        answer_rollout(Runs{*trace}, RolloutRequest{{}, token, Origins::contribution, {}}, pool, nullptr);
    const auto paths = contribution_paths(*trace, std::array{token}, pool);
    CHECK(most_apart(contributions->accumulated.row(0), (*paths)[0].transpose()) < 1e-5f);
    const auto relevance =
        answer_rollout(Runs{*trace}, RolloutRequest{{}, token, Origins::relevance, metric}, pool, nullptr);
    Metric there = metric;
    there.position = token;
    const Vector whole = influence({*trace}, {InfluenceMethod::relevance, there}, pool)->tokens[0];
    CHECK(most_apart(relevance->accumulated.row(0), whole.transpose() / whole.sum()) < 1e-5f);
}

TEST_CASE("graph: contributions replace a rollout dominated by a sink") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const RolloutRequest request{{}, 8, Origins::automatic, {}};
    CHECK(answer_rollout(Runs{*changed(model, {}, pool)}, request, pool, nullptr)->by == Origins::rollout);
    const auto sink = changed(model, {"mask:*>1-9"}, pool);
    const auto found = answer_rollout(Runs{*sink}, request, pool, nullptr);
    CHECK(found->by == Origins::contribution);
    CHECK(found->accumulated.row(0).sum() == doctest::Approx(1));
    const auto asked =
        answer_rollout(Runs{*sink}, RolloutRequest{{}, 8, Origins::rollout, {}}, pool, nullptr);
    CHECK((asked->by == Origins::rollout && asked->accumulated(0, 0) > 0.5f));
    const auto rest = Rollout::without_sink({0.6f, 0.1f, 0.3f});
    CHECK((rest[0] == 0.6f && rest[1] == doctest::Approx(0.25) && rest[2] == doctest::Approx(0.75)));
    const auto encoder = answer_rollout(Runs{*changed(reference_model("marian"), {}, pool)},
                                        RolloutRequest{{}, 3, Origins::relevance, {}}, pool, nullptr);
    CHECK((encoder->by == Origins::rollout && encoder->refusal.find("decoder") != std::string::npos));
}

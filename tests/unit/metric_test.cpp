// Tests metrics: each kind by hand, its spelling, and the effects of ablating heads.
#include "analysis/prediction/metric.h"

#include <cmath>

#include "analysis/patching/effects.h"
#include "analysis/prediction/default_place.h"
#include "analysis/prediction/lens.h"
#include "base/cast.h"
#include "changed.h"
#include "helpers.h"

using namespace headlight;

namespace {

/// Returns logits whose softmax has the shares 1 : 2 : 5.
Vector shares(float a, float b, float c) {
    Vector logits(3);
    logits << std::log(a), std::log(b), std::log(c);
    return logits;
}

std::shared_ptr<const Trace> run_text(const std::shared_ptr<const Model>& model, const std::string& text,
                                      const std::vector<std::string>& changes, ThreadPool& pool) {
    TextInput typed;
    typed.text = text;
    ForwardRequest request{encode_input(*model, typed)->sequences, {}};
    for (const std::string& change : changes)
        request.intervention.changes.push_back(*parse_change(model->config, change));
    return *run_trace(model, std::move(request), pool);
}

constexpr const char* kLily = "Lily had a red ball. Tom had a blue ball. Lily gave Tom the red";

}  // namespace

TEST_CASE("metric: each kind of three logits by hand") {
    const Vector logits = shares(1, 2, 5);
    const auto of = [&](MetricKind kind, int a, int b = -1) {
        return evaluate({kind, a, b, 0}, logits, shares(1, 1, 2));
    };
    CHECK(of(MetricKind::probability, 2).value == doctest::Approx(0.625));
    CHECK(of(MetricKind::log_probability, 1).value == doctest::Approx(std::log(0.25)));
    CHECK(of(MetricKind::logit, 2).value == doctest::Approx(std::log(5.0)));
    CHECK(of(MetricKind::difference, 2, 1).value == doctest::Approx(std::log(2.5)));
    const double kl = 0.25 * std::log2(0.25 / 0.125) + 0.25 * 0 + 0.5 * std::log2(0.5 / 0.625);
    CHECK(of(MetricKind::divergence, 0).value == doctest::Approx(kl));
    const MetricValues beside = of(MetricKind::difference, 2, 1);
    CHECK(beside.probability == doctest::Approx(0.625));
    CHECK(beside.log_probability == doctest::Approx(std::log(0.625)));
    CHECK(beside.logit == doctest::Approx(std::log(5.0)));
    const MetricValues change = beside - of(MetricKind::difference, 2, 0);
    CHECK((change.value == doctest::Approx(-std::log(2.0)) && change.probability == 0));
}

TEST_CASE("metric: a logit that overflows a plain softmax has its log p") {
    Vector logits(2);
    logits << 500, 0;
    CHECK(evaluate({MetricKind::log_probability, 1, -1, 0}, logits, logits).value == doctest::Approx(-500));
    CHECK(evaluate({MetricKind::log_probability, 0, -1, 0}, logits, logits).value == doctest::Approx(0));
}

TEST_CASE("metric: spellings round-trip") {
    const Model& model = *story_model();
    const int ball = *parse_token(model, "ball"), car = *parse_token(model, "␣car");
    CHECK(ball == *parse_token(model, "\" ball\""));
    CHECK(ball == *parse_token(model, "#" + std::to_string(ball)));
    const auto read = [&](const std::string& text) {
        const auto metric = parse_metric(model, text);
        REQUIRE_MESSAGE(metric, text);
        CHECK_MESSAGE(*parse_metric(model, metric_name(model, *metric)) == *metric, text);
        return *metric;
    };
    CHECK(read("") == Metric{});
    CHECK(read("default") == Metric{});
    CHECK(read("log p") == Metric{});
    CHECK(read("ball") == Metric{MetricKind::logit, ball});
    CHECK(read("log p ball@12") == Metric{MetricKind::log_probability, ball, -1, 12});
    CHECK(read("p ball") == Metric{MetricKind::probability, ball});
    CHECK(read("logit") == Metric{MetricKind::logit});
    CHECK(read("logit ball") == Metric{MetricKind::logit, ball});
    for (const char* text : {"ball - car", "\"ball - car\"", " ball − car ", "\" ball\" - \" car\""})
        CHECK(read(text) == Metric{MetricKind::difference, ball, car});
    CHECK(read("kl") == Metric{MetricKind::divergence});
    CHECK(read("kl@3") == Metric{MetricKind::divergence, -1, -1, 3});
    CHECK(metric_name(model, {MetricKind::divergence, 17, -1, 3}) == "kl@3");  // as `resolved` leaves it
    CHECK(metric_by_ids({MetricKind::divergence, 17, -1, 3}) == "kl@3");
    for (const char* text : {"p ball@12", "ball - car", "logit"})
        CHECK_MESSAGE(*parse_metric(model, metric_by_ids(read(text))) == read(text), text);
    CHECK(metric_label(model, read("ball - car")) == "ball − car");
    CHECK(metric_label(model, read("p ball")) == "p ball");
}

TEST_CASE("metric: a token alone means its logit, and brackets may replace a space") {
    const Model& model = *story_model();
    const int ball = *parse_token(model, "ball");
    const auto read = [&](const std::string& text) { return *parse_metric(model, text); };
    CHECK(read("ball@3") == Metric{MetricKind::logit, ball, -1, 3});
    CHECK(read("#" + std::to_string(ball)) == Metric{MetricKind::logit, ball});
    CHECK(read("p(ball)") == read("p ball"));
    CHECK(read("log p(ball)@3") == read("log p ball@3"));
    CHECK(read("logit( ball )") == read("ball"));
    CHECK(read("p(\" ball\")") == read("p ball"));
    CHECK(read("\" ball\"") == Metric{MetricKind::logit, ball});
    CHECK(parse_metric(model, "p()").error().message.find("No token") == 0);
}

TEST_CASE("metric: quotes force the exact token; except after a word the one without a space comes first") {
    ThreadPool pool(2);
    const Model& model = *story_model();
    const int with = *parse_token(model, "\" a\""), without = *parse_token(model, "\"a\"");
    REQUIRE(with != without);
    CHECK(*parse_token(model, "a") == with);
    CHECK(*parse_token(model, "a", false) == without);
    CHECK(parse_metric(model, "\"a\"")->a == without);
    CHECK(parse_metric(model, "log p \"a\"")->a == without);
    const auto a_behind = [&](const std::string& text) {
        const auto trace = run_text(story_model(), text, {}, pool);
        return parse_metric(model, "a - \" the\"", trace.get())->a;
    };
    CHECK(a_behind("Lily had") == with);
    CHECK(a_behind("Lily had (") == without);
    CHECK(a_behind("Lily had \n") == without);
    const auto trace = run_text(story_model(), "Lily had (", {}, pool);
    CHECK(parse_metric(model, "a@1", trace.get())->a == with);  // there it follows "had"
    // alone it follows nothing
    CHECK(parse_metric(model, "the", trace.get())->a == *parse_token(model, "\" the\""));
}

TEST_CASE("metric: one sentence for each undefined one") {
    ThreadPool pool(2);
    const Model& model = *story_model();
    const auto says = [&](const std::string& text) { return parse_metric(model, text).error().message; };
    CHECK(says("log p ball ball").find("; give one of them") != std::string::npos);
    CHECK(says("ball - zzzzqq").find("No token of stories reads \"zzzzqq\"") != std::string::npos);
    CHECK(says("ball - ball").find("two different tokens") != std::string::npos);
    CHECK(says("kl ball").find("of all tokens") != std::string::npos);
    const auto trace = run_text(story_model(), "The cat", {}, pool);
    CHECK(resolved({MetricKind::logit, -1, -1, 9}, *trace, pool).error().message.find("positions 0 … 1") !=
          std::string::npos);
    const auto bert = reference_model("bert");
    const auto unmasked = trace_of(bert, {2, 7, 9, 3}, pool);
    CHECK(resolved({MetricKind::logit, 5, -1, 2}, *unmasked, pool)->position == 2);
}

TEST_CASE("metric: the default follows the text, a mask and a translator's step have their positions") {
    ThreadPool pool(2);
    const auto trace = run_text(story_model(), kLily, {}, pool);
    const Metric found = *resolved({}, *trace, pool);
    CHECK(found.position == trace->output().size() - 1);
    CHECK(prediction_label(*story_model(), found.a) == "ball");
    const auto bert = reference_model("bert");
    const auto masked = trace_of(bert, {2, 7, bert->config.mask_id, 3}, pool);
    CHECK(resolved({}, *masked, pool)->position == 2);
    const auto marian = reference_model("marian");
    const auto translated = changed(marian, {}, pool);
    CHECK(resolved({}, *translated, pool)->position == translated->output().size() - 1);
    CHECK(resolved({MetricKind::logit, 3, -1, 0}, *translated, pool)->position == 0);
}

TEST_CASE("metric: a sweep of a difference equals ablating each head alone, with its token's numbers") {
    ThreadPool pool(2);
    const auto& model = story_model();
    const auto own = run_text(model, kLily, {}, pool);
    const Metric wanted = *parse_metric(*model, "ball - car");
    const auto effects = head_effects(*own, nullptr, wanted, pool);
    REQUIRE(effects);
    const Vector before = logits_at(*own, effects->metric.position, pool);
    for (const int i : {3, 10, 25}) {
        const std::string head = head_path(model->config, model->config.head_at(i));
        const Vector after = logits_at(*run_text(model, kLily, {"ablate:" + head + ":zero"}, pool),
                                       effects->metric.position, pool);
        CHECK(effects->change[i] ==
              doctest::Approx(after[wanted.a] - after[wanted.b] - (before[wanted.a] - before[wanted.b]))
                  .epsilon(1e-3));
        CHECK(effects->logit[i] == doctest::Approx(after[wanted.a] - before[wanted.a]).epsilon(1e-3));
        CHECK(
            effects->probability[i] ==
            doctest::Approx(probabilities(after)[wanted.a] - probabilities(before)[wanted.a]).epsilon(1e-3));
        CHECK(effects->log_probability[i] ==
              doctest::Approx(std::log(probabilities(after)[wanted.a] / probabilities(before)[wanted.a]))
                  .epsilon(1e-3));
    }
    const auto divergence = head_effects(*own, nullptr, {MetricKind::divergence}, pool);
    REQUIRE(divergence);
    for (const float bits : divergence->change) CHECK(bits >= 0);
}

TEST_CASE("metric: a sweep tells what it measured so far, NaN for the others") {
    ThreadPool pool(2);
    const auto own = run_text(story_model(), kLily, {}, pool);
    std::vector<int> seen;
    const auto effects =
        head_effects(*own, nullptr, {}, pool, nullptr, [&](int done, const HeadEffects& now) {
            seen.push_back(done);
            const auto& values = now.change.values();
            CHECK(std::none_of(values.begin(), values.begin() + done, [](float v) { return std::isnan(v); }));
            CHECK(std::all_of(values.begin() + done, values.end(), [](float v) { return std::isnan(v); }));
        });
    REQUIRE(effects);
    CHECK(seen.size() > 1);
    CHECK(seen.back() == own->config().head_count());
    CHECK(effects->before.probability == doctest::Approx(0.989).epsilon(1e-3));
}

TEST_CASE("metric: heads ablated together equal a run without them, on top of what is changed") {
    ThreadPool pool(2);
    const auto own = run_text(story_model(), kLily, {}, pool),
               masked = run_text(story_model(), kLily, {"mask:16>10"}, pool),
               without =
                   run_text(story_model(), kLily, {"mask:16>10", "ablate:1.0:zero", "ablate:1.2:zero"}, pool);
    const Metric wanted = *parse_metric(*story_model(), "p ball");
    const auto found = ablate_groups(*masked, own.get(), wanted, {{{1, 2}}, {{1, 0}, {1, 2}}}, pool);
    REQUIRE(found);
    CHECK(found->before == evaluate(found->metric, *masked, *own, pool));
    REQUIRE(found->without.size() == 2);
    CHECK(found->without[1].value ==
          doctest::Approx(evaluate(found->metric, *without, *own, pool).value).epsilon(1e-4));
    const auto sweep = head_effects(*masked, own.get(), wanted, pool);
    REQUIRE(sweep);
    const float alone = found->without[0].value - found->before.value;
    CHECK(sweep->change[AttentionHead{1, 2}] == doctest::Approx(alone).epsilon(1e-4));
}

TEST_CASE("metric: of the shown run, before and after; a divergence without a change is refused") {
    ThreadPool pool(2);
    const auto own = run_text(story_model(), kLily, {}, pool),
               two = run_text(story_model(), kLily, {"mask:16>10"}, pool);
    const Metric wanted = *parse_metric(*story_model(), "p ball");
    const auto changed = answer_metric(Runs{*two, own.get()}, MetricRequest{wanted}, pool, nullptr);
    REQUIRE((changed && changed->changed && changed->refusal.empty()));
    CHECK(changed->before.value == doctest::Approx(probabilities_at(*own, 16, pool)[wanted.a]));
    CHECK(changed->now.value == doctest::Approx(probabilities_at(*two, 16, pool)[wanted.a]));
    for (const ProbabilityChange& p : changed->effects) {
        const Vector a = logits_at(*own, 16, pool), b = logits_at(*two, 16, pool);
        CHECK(p.logit == doctest::Approx(b[p.id] - a[p.id]));
        CHECK(p.log_probability ==
              doctest::Approx(std::log(probabilities(b)[p.id] / probabilities(a)[p.id])));
    }
    const auto same = answer_metric(Runs{*own}, MetricRequest{{MetricKind::divergence}}, pool, nullptr);
    CHECK((same && same->refusal.find("No interventions") == 0));
    const auto apart =
        answer_metric(Runs{*two, own.get()}, MetricRequest{{MetricKind::divergence}}, pool, nullptr);
    CHECK((apart && apart->refusal.empty() && apart->now.value > 0 && apart->before.value == 0));
}

TEST_CASE("attribution of a difference: its parts sum to the difference of the logits") {
    ThreadPool pool(2);
    const auto own = run_text(story_model(), kLily, {}, pool);
    const Metric wanted = *parse_metric(*story_model(), "ball - car");
    const auto a = answer_attribution(*own, AttributionRequest{16, wanted.a, 5, wanted.b}, pool, nullptr);
    REQUIRE(a);
    const Vector logits = logits_at(*own, 16, pool);
    CHECK(a->logit == doctest::Approx(logits[wanted.a] - logits[wanted.b]).epsilon(1e-3));
    CHECK(a->after_layer.back() == doctest::Approx(logits[wanted.a] - logits[wanted.b]));
    float sum = 0;
    for (const LogitPart& part : a->parts) sum += part.logit;
    CHECK(sum == doctest::Approx(a->logit));
}

TEST_CASE("the default metric of a whole translation is of its last word, never of the end") {
    ThreadPool pool(2);
    TextInput typed;
    typed.text = "I have never seen him.";
    typed.target = "Ich habe ihn nie gesehen.";
    const auto run = *run_trace(translator(), {encode_input(*translator(), typed)->sequences, {}}, pool);
    const int last = run->output().size() - 1;
    const auto next = predictions(*run, last, 1, pool)[0].id;
    CHECK_MESSAGE(contains(translator()->config.generation.eos_token_ids, next), "the end comes next");
    const Metric metric = *resolved({}, *run, pool);
    CHECK(metric.position < last);
    CHECK(metric.a == predictions(*run, metric.position, 1, pool)[0].id);
    const std::string word = prediction_label(*translator(), metric.a);
    CHECK_MESSAGE(std::isalpha(static_cast<unsigned char>(word[0])), word);
    CHECK(default_place(*run, pool).reason.find("no word") != std::string::npos);
    const Metric named = *resolved({MetricKind::logit, metric.a}, *run, pool);
    CHECK_MESSAGE(named.position == last, "a token that was chosen is the next one");
}

TEST_CASE("the default metric of a decoder is its next token, also a period") {
    ThreadPool pool(2);
    const auto model = *Model::open(kTests.parent_path() / "models/stories");
    for (const char* text : {"Lily had a red", "Lily had a red ball", "Lily"}) {
        const auto run = run_text(model, text, {}, pool);
        const int last = run->output().size() - 1, next = predictions(*run, last, 1, pool)[0].id;
        CHECK(default_place(*run, pool) == MetricPlace{last, next, ""});
    }
}

TEST_CASE("the default metric of an encoder is of the masked token, else of the last word") {
    ThreadPool pool(2);
    const auto bert = reference_model("bert");
    const int mask = bert->config.mask_id;
    const auto masked = trace_of(bert, {2, 9, mask, 11, 3}, pool);
    CHECK(default_place(*masked, pool) == MetricPlace{2, predictions(*masked, 2, 1, pool)[0].id, ""});
    const auto whole = run_text(bert, "The cat sat.", {}, pool);
    const MetricPlace place = default_place(*whole, pool);
    const auto labels = token_labels(*whole, 0);
    CHECK_MESSAGE(std::isalpha(static_cast<unsigned char>(labels[place.position].back())),
                  labels[place.position]);
    CHECK(labels.back() == "[SEP]");
    CHECK(place.position < whole->output().size() - 1);
    CHECK(place.reason == "No token is masked; the last word is explained.");
    CHECK(resolved({}, *whole, pool)->position == place.position);
    CHECK_MESSAGE(!resolved({MetricKind::logit, 9}, *whole, pool), "a named token needs a mask or a place");
}

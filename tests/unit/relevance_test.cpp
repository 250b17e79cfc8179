// Tests relevance of every output, and attribution patching as scores of tokens.
#include "analysis/attribution/influence_map.h"
#include "analysis/patching/patch_estimate.h"
#include "changed.h"

using namespace headlight;

TEST_CASE("influence map: relevance of every output equals that of each alone") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "marian", "bert"}) {
        const auto trace = changed(reference_model(name), {"mask:3>1"}, pool);
        const auto own = changed(reference_model(name), {}, pool);
        InfluenceMapRequest request;
        request.of = InfluenceOf::relevance;
        request.stack = isize(trace->config().stacks) - 1;
        request.layer = 1;
        const auto map = influence_map({*trace, own.get()}, request, pool);
        INFO(name);
        REQUIRE((map && map->whole()));
        CHECK((map->standard_error.size() == 0 && map->asked.layer == -1));
        for (int position = 0; position < trace->output().size(); position += 2) {
            const auto row = influence(
                {*trace, own.get()},
                {InfluenceMethod::relevance, {MetricKind::log_probability, -1, -1, position}}, pool);
            for (int s = 0; s < isize(row->tokens); ++s) {
                const Vector& tokens = row->tokens[size_t(s)];
                const Matrix found = map->norms.block(position, trace->first_token(s), 1, tokens.size());
                CHECK(most_apart(found, tokens.transpose()) < 1e-5f * (1 + tokens.norm()));
            }
        }
    }
}

TEST_CASE("influence: attribution patching sums the estimates of all layers") {
    ThreadPool pool(2);
    const std::string begin = "Lily had a red ball. Tom had a blue ";
    const auto clean = run_story(begin + "car. Lily gave Tom the red", pool),
               corrupted = run_story(begin + "ball. Lily gave Tom the red", pool);
    REQUIRE(clean->output().size() == corrupted->output().size());
    InfluenceRequest request;
    request.method = InfluenceMethod::attribution_patching;
    const auto found = influence({*corrupted, nullptr, clean.get()}, request, pool);
    REQUIRE(found);
    const auto map = *empty_patch_map(*clean, *corrupted, {}, pool);
    const Matrix estimates = *patch_estimates(map, *clean, *corrupted, pool);
    CHECK(most_apart(found->tokens[0].transpose(), estimates.colwise().sum()) < 1e-6f);
    CHECK((found->value == map.corrupted.value && found->baseline_value == map.clean.value));
    CHECK(found->metric == map.asked.metric);
    CHECK(influence({*corrupted}, request, pool).error().message.find("two runs") != std::string::npos);
    const auto shorter = run_story("Lily had a red ball.", pool);
    CHECK(influence({*corrupted, nullptr, shorter.get()}, request, pool)
              .error()
              .message.find("same number of tokens") != std::string::npos);
}

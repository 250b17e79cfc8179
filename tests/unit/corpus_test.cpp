// Heads over many texts: kinds of tokens, spreads, and which pairs are kept.
#include "analysis/corpus.h"

#include <cmath>

#include "helpers.h"

using namespace headlight;

TEST_CASE("a spread is the mean and the deviation of a sample; what is not defined does not count") {
    SpreadOverTexts s;
    CHECK(std::isnan(s.mean()));
    for (const float x : {2.0f, 4.0f, NAN, 9.0f}) s.add(x);
    CHECK(s.count == 3);
    CHECK(s.mean() == doctest::Approx(5));
    CHECK(s.deviation() == doctest::Approx(std::sqrt(13.0)));  // (9 + 1 + 16) / 2
}

TEST_CASE("a corpus: rows of links sum to 1, a text that comes twice changes no mean and adds no pair") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto trace = *run_trace(model, request_of({5, 9, 200, 31, 5, 9, 77}), pool);
    const auto text = std::make_shared<const CorpusText>(CorpusText{1, "once"});
    Corpus once(model->config, 5), twice(model->config, 5);
    once.add(*trace, text, pool);
    for (const int line : {1, 2})
        twice.add(*trace, std::make_shared<const CorpusText>(CorpusText{line, "twice"}), pool);
    CHECK((twice.texts() == 2 && twice.tokens() == 14));
    for (int i = 0; i < isize(once.heads()); ++i) {
        const HeadOverTexts &a = once.heads()[i], &b = twice.heads()[i];
        for (int s = 0; s < kStatistics; ++s)
            if (a.statistics[s].count)
                CHECK(b.statistics[s].mean() == doctest::Approx(a.statistics[s].mean()));
        REQUIRE((a.strongest.size() == 5 && b.strongest.size() == 5));
        for (int k = 0; k < 5; ++k) {
            CHECK(a.strongest[k].weight == b.strongest[k].weight);
            CHECK(b.strongest[k].text->line == 1);
            CHECK(a.strongest[k].key > 0);
            const Matrix pattern =
                trace->pattern(model->config.head_at(i).block, model->config.head_at(i).head);
            CHECK(a.strongest[k].weight == pattern(a.strongest[k].query, a.strongest[k].key));
        }
        const Matrix links = a.links();
        for (int kind = 0; kind < kTokenKinds; ++kind)
            if (a.queries[kind]) CHECK(links.row(kind).sum() == doctest::Approx(1).epsilon(1e-5));
    }
}

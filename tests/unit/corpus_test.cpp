// Heads over many texts: kinds of tokens, spreads, and which pairs are kept.
#include "analysis/corpus.h"

#include <algorithm>
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

TEST_CASE("an exact sum is rounded once, whatever the order, and its parts added elsewhere give the same") {
    ExactSum none, rounded, tie, other;
    CHECK((none.value() == 0 && none.parts().empty()));
    const std::vector<double> numbers{1e100, 0.1, 3, -1e100, 0.2, 1e-30, -7, 0.3, 4};
    for (const double x : numbers) rounded.add(x);
    CHECK(rounded.value() ==
          0.6);  // of 0.1, 0.2 and 0.3 as doubles; 0.1 + 0.2 + 0.3 in turn gives 0.6000000000000001
    std::vector<double> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    for (const double x : sorted) other.add(x);
    CHECK(other.value() == rounded.value());
    ExactSum parts;
    for (const double x : rounded.parts()) parts.add(x);
    parts.add(-other.value());
    CHECK(std::abs(parts.value()) < 1e-16);
    for (const double x : {1.0, std::ldexp(1.0, -53)}) tie.add(x);
    CHECK(tie.value() == 1);  // the even neighbor
    tie.add(std::ldexp(1.0, -200));
    CHECK(tie.value() == 1 + std::ldexp(1.0, -52));  // it lies beyond the tie
    tie.add(-std::ldexp(1.0, -199));
    CHECK(tie.value() == 1);
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

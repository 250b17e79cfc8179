// Tests an attention block part by part, and what a translator's choices depend on.
#include <algorithm>
#include <cmath>

#include "helpers.h"
#include "learn/block_parts.h"
#include "learn/stations/three_uses.h"
#include "learn/translation_choices.h"

using namespace headlight;
using namespace headlight::learn;

namespace {

const BlockPart& part_of(const std::vector<BlockPart>& parts, const std::string& name) {
    for (const BlockPart& part : parts)
        if (part.name.rfind(name, 0) == 0) return part;
    FAIL("no part " << name);
    return parts[0];
}

float words_apart(const Vector& a, const Vector& b) {
    REQUIRE(a.size() == b.size());
    return (a - b).cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("learn block parts: normalized alone, by hand") {
    ModelConfig c;
    c.norm_eps = 0;
    Vector x(4);
    x << 1, 3, 5, 7;  // mean 4, variance 5
    const Vector y = normalized_alone(c, x);
    CHECK(y[0] == doctest::Approx(-3 / std::sqrt(5.0)));
    CHECK(y.mean() == doctest::Approx(0).epsilon(1e-6));
    c.norm = NormKind::rms_norm;  // mean of squares 21
    CHECK(normalized_alone(c, x)[3] == doctest::Approx(7 / std::sqrt(21.0)));
    BlockPart part{"", {1, 2, 3}, x};
    CHECK(part.mean() == 4);
    CHECK(part.deviation() == doctest::Approx(std::sqrt(5.0)));
    CHECK(shape_name(part.shape) == "1 × 2 × 3");
}

TEST_CASE("learn block parts: they are the pass's own, in every kind of block") {
    ThreadPool pool(2);
    const Translated t = *translate(translator(), "The tree is blue.", pool, nullptr);
    const Trace& trace = *t.trace;
    for (int block = 0; block < trace.config().blocks(); ++block) {
        CAPTURE(block);
        const auto parts = block_parts(trace, {block, 3}, 1, pool);
        const int n = trace.query_count(block), keys = trace.key_count(block);
        CHECK(part_of(parts, "q, split").shape == std::vector<int>{1, 8, n, 32});
        CHECK(part_of(parts, "attention =").shape == std::vector<int>{1, 8, n, keys});
        CHECK(part_of(parts, "attention =").values.sum() == doctest::Approx(1));
        CHECK(part_of(parts, "heads side").values.size() == 256);
        CHECK(part_of(parts, "output").shape == std::vector<int>{1, n, 256});
        CHECK(words_apart(part_of(parts, "q =").values.segment(3 * 32, 32),
                          part_of(parts, "q, split").values) == 0);
        CHECK(words_apart(part_of(parts, "heads side").values.segment(3 * 32, 32),
                          part_of(parts, "attention · v").values) == 0);
        CHECK(words_apart(part_of(parts, "residual").values,
                          part_of(parts, "input").values + part_of(parts, "output").values) < 1e-6f);
        const BlockPart& bare = part_of(parts, "LayerNorm, before");
        CHECK(std::abs(bare.mean()) < 1e-5f);
        CHECK(bare.deviation() == doctest::Approx(1).epsilon(1e-3));
        const Norm& norm = trace.weights(block).norm;
        Vector scaled = bare.values;
        for (Index i = 0; i < scaled.size(); ++i) scaled[i] = scaled[i] * norm.weight[i] + norm.bias[i];
        CHECK(words_apart(scaled, parts.back().values) < 1e-4f);
    }
    const int decoder = trace.config().stacks[0].depth(), cross = 2 * decoder;
    CHECK(words_apart(block_parts(trace, {decoder, 0}, 1, pool).back().values,
                      block_parts(trace, {cross, 0}, 1, pool).front().values) < 1e-5f);
}

TEST_CASE("learn block parts: a pre-norm block has its norm first") {
    ThreadPool pool(1);
    const auto trace = trace_of(reference_model("llama"), {5, 9, 200, 17}, pool);
    const auto parts = block_parts(*trace, {1, 1}, 2, pool);
    CHECK(parts[1].name == "RMSNorm, before its weight");
    CHECK(parts.back().name.rfind("residual", 0) == 0);
    CHECK(part_of(parts, "k, split").shape[1] == trace->config().kv_heads(1));
}

TEST_CASE("learn three uses: der, die and das, and the noun each depends on") {
    ThreadPool pool(2);
    const Translated t =
        *translate(translator(), "The man, the woman and the child are here.", pool, nullptr);
    CHECK(t.text == "Der Mann, die Frau und das Kind sind hier.");
    auto choices = word_choices(t, {"der", "die", "das"}, pool);
    REQUIRE(find_grounds(t, pool, nullptr, choices));
    REQUIRE(choices.size() == 3);
    for (int i = 0; i < 3; ++i) {
        CAPTURE(i);
        const WordChoice& c = choices[i];
        CHECK(c.chosen == i);
        CHECK(c.probabilities[i] > 0.8f);
        CHECK(c.without < c.probabilities[i] - 0.2f);
        CHECK(c.rests_on >= 0);
    }
    CHECK(choices[0].words == std::vector<std::string>{"Der", "Die", "Das"});
    CHECK(choices[1].words[1] == "die");
}

TEST_CASE(
    "learn three uses: every written word looks at its own source word, and hidden nouns change articles") {
    ThreadPool pool(2);
    const Translated t =
        *translate(translator(), "The man, the woman and the child are here.", pool, nullptr);
    const Matrix cross = alignment_pattern(*t.trace);
    const int last = t.trace->config().blocks() - 1, heads = t.trace->config().heads(last);
    float sum = 0;
    for (int head = 0; head < heads; ++head) sum += t.trace->pattern(last, head)(1, 1);
    CHECK(cross(1, 1) == doctest::Approx(sum / float(heads)));
    const std::vector<std::pair<std::string, std::string>> pairs{
        {"Mann", "man"}, {"die", "the"}, {"Frau", "woman"}, {"das", "the"}, {"Kind", "child"}};
    for (const auto& pair : pairs) {
        const std::string &written = pair.first, &source = pair.second;
        CAPTURE(written);
        const auto row = std::find_if(t.written.begin(), t.written.end(),
                                      [&](const std::string& label) { return label.ends_with(written); });
        REQUIRE(row != t.written.end());
        Index best = 0;
        cross.row(row - t.written.begin()).maxCoeff(&best);
        CHECK(t.source[best].ends_with(source));
    }
    int changed = 0;
    for (const WordChoice& choice : word_choices(t, {"der", "die", "das"}, pool)) {
        const auto noun = *hide_noun(t, choice, cross, pool, nullptr);
        REQUIRE(noun.has_value());
        CHECK(noun->tokens.size() == 1);
        CHECK(noun->probabilities[choice.chosen] < 0.5f);
        changed += noun->most_probable != t.ids[choice.row];
    }
    CHECK(changed == 3);
}

TEST_CASE("learn three uses: columns, heads and words") {
    Matrix pattern(2, 3);
    pattern << 0.7f, 0.2f, 0.1f, 0.1f, 0.2f, 0.7f;
    CHECK(most_looked_at(pattern) == Eigen::Vector3f(0.7f, 0.2f, 0.7f));
    ThreadPool pool(2);
    const Translated t = *translate(translator(), "The animal was too tired.", pool, nullptr);
    CHECK(!tokens_of_word(*t.trace, 0, "animal").empty());
    CHECK(tokens_of_word(*t.trace, 0, "street").empty());
    const AttentionHead cross = sharpest_head(*t.trace, AttentionKind::cross);
    CHECK(t.trace->config().block(cross.block).kind == AttentionKind::cross);
    const AttentionHead self = sharpest_head(*t.trace, AttentionKind::encoder);
    CHECK(t.trace->pattern(self.block, self.head).diagonal().mean() < 0.5f);
}

TEST_CASE("learn three uses: a page has the three patterns, the choices, the sentences and a block") {
    ThreadPool pool(2);
    const Translated t = *translate(translator(), "The tree is blue.", pool, nullptr);
    StationInput in;
    in.trace = t.trace.get();
    in.model = t.trace->model.get();
    const learn::Page page = *three_uses_page(in, {}, pool);
    REQUIRE(page.blocks.size() >= 6);
    CHECK(std::get<learn::Words>(page.blocks[0]).text.starts_with("Hide “tree”, and “Der” falls"));
    for (int i = 1; i < 4; ++i) CHECK(std::holds_alternative<learn::Grid>(page.blocks[i]));
    CHECK(std::get<learn::Grid>(page.blocks[3]).rows_are == "word that is being written");
    const auto& decoder = std::get<learn::Grid>(page.blocks[2]);
    CHECK(std::isnan(decoder.values(0, 1)));  // later words are masked
    CHECK(std::holds_alternative<learn::Table>(page.blocks.back()));
    CHECK(!three_uses_page({}, {}, pool));
}

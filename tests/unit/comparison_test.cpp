// Tests comparisons: two texts, two models, and a changed run beside the model's own.
#include <cmath>

#include "analysis/patching/effects.h"
#include "base/cast.h"
#include "changed.h"
#include "helpers.h"
#include "model/input.h"

using namespace headlight;

TEST_CASE("distance of heads: 0 to itself, 1 bit if disjoint, and the row mean of rows by hand") {
    Eigen::RowVectorXf a(4), b(4);
    a << 1, 0, 0, 0;
    b << 0, 1, 0, 0;
    CHECK(divergence(a, a) == 0);
    CHECK(divergence(a, b) == doctest::Approx(1));
    b << 0.5f, 0.5f, 0, 0;  // m = (0.75, 0.25): ½ log2(4/3) + ½ (½ log2(2/3) + ½ log2 2)
    CHECK(divergence(a, b) == doctest::Approx(0.5 * std::log2(4.0 / 3) + 0.25 * std::log2(2.0 / 3) + 0.25));
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto before = changed(model, {}, pool), after = changed(model, {"mask:6>2@1.0"}, pool);
    const auto same_run = head_distances(*before, *before, {}, pool),
               other = head_distances(*before, *after, {}, pool);
    REQUIRE((same_run && other));
    for (const float d : *same_run) CHECK(d == 0);
    const int changed_head = model->config.head_index({1, 0});
    for (int i = 0; i < changed_head; ++i) CHECK((*other)[i] == 0);
    CHECK((*other)[changed_head] > 0);
    const auto alike = prediction_divergence(*before, *before, paired_with_itself(10), pool),
               apart = prediction_divergence(*before, *after, paired_with_itself(10), pool);
    REQUIRE((alike && apart));
    CHECK(*alike == std::vector<float>(kIds.size(), 0.0f));
    for (int i = 0; i < 10; ++i) CHECK(((*apart)[i] > 0) == (i >= 6));
    const Vector p = probabilities_at(*before, 8, pool), q = probabilities_at(*after, 8, pool);
    double sum = 0;
    for (Index id = 0; id < p.size(); ++id) sum += p[id] * std::log2(p[id] / q[id]);
    CHECK((*apart)[8] == doctest::Approx(sum).epsilon(1e-3));
}

TEST_CASE("a pair of heads: patterns as they are, distances in every head's row, nothing without changes") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto plain = changed(model, {}, pool), hard = changed(model, {"temperature:0@1.2"}, pool);
    const auto pair = answer_head_pair(Runs{*plain}, HeadPairRequest{{}, 1, 2, 0, 3}, pool, nullptr);
    REQUIRE(pair);
    CHECK(same(pair->map.a, masked_pattern(*plain, 1, 2)));
    CHECK(same(pair->map.b, masked_pattern(*plain, 0, 3)));
    CHECK(!pair->each_to_itself);
    CHECK(pair->distances[{1, 2}] == doctest::Approx(0).epsilon(1e-6));
    double mean = 0;
    for (const float d : pair->by_query) mean += d / double(pair->by_query.size());
    CHECK(pair->distances[3] == doctest::Approx(mean));
    const RunPair changes{Versus::unchanged, {}};
    const auto none = answer_head_pair(Runs{*plain}, HeadPairRequest{changes, 1, 2, 0, 0}, pool, nullptr),
               some = answer_head_pair(Runs{*hard, plain.get()}, HeadPairRequest{changes, 1, 2, 0, 0}, pool,
                                       nullptr);
    REQUIRE((none && some));
    for (const float d : none->distances) CHECK(d == 0);
    CHECK(none->map.largest.empty());
    CHECK(same(some->map.b, masked_pattern(*plain, 1, 2)));
    CHECK(some->distances[{1, 2}] > 0);
}

TEST_CASE("heads that moved: by the row of the prediction, or by all rows if none moved there") {
    ThreadPool pool(2);
    const auto model = story_model();
    const ModelConfig& c = model->config;
    const auto input = *encode_input(
        *model,
        {"Lily had a red ball. Tom had a blue ball. Lily gave Tom the red", "", "", {}, {}, {}, nullptr});
    const auto run = [&](const std::vector<std::string>& spelled) {
        ForwardRequest request{input.sequences, {}};
        for (const std::string& text : spelled)
            request.intervention.changes.push_back(*parse_change(c, text));
        return *run_trace(model, request, pool);
    };
    const auto plain = run({}), ablated = run({"ablate:0.0:zero"}), early = run({"mask:3>1@3.2"});
    const auto moved = answer_moved(Runs{*ablated, plain.get()}, MovedRequest{}, pool, nullptr);
    REQUIRE(moved);
    CHECK(moved->position == 16);
    for (int i = 0; i < c.head_count(); ++i) {
        const auto [block, head] = c.head_at(i);
        CHECK(moved->distances[size_t(i)] ==
              divergence(plain->pattern(block, head).row(16), ablated->pattern(block, head).row(16)));
    }
    CHECK(moved->distances[{0, 0}] == 0);  // an ablated head keeps its pattern
    CHECK(moved->distances[{1, 0}] == doctest::Approx(0.753).epsilon(1e-3));
    const Intervention& changes = ablated->request.intervention;
    CHECK(ablation_of(changes, {0, 0}) == &changes.changes[0]);
    CHECK(ablation_of(changes, {1, 1}) == nullptr);
    CHECK(most_moved(*moved, c, changes) == AttentionHead{1, 0});
    CHECK(moved->heads(c)[0] == AttentionHead{1, 0});
    const auto rows = answer_moved(Runs{*early, plain.get()}, MovedRequest{}, pool, nullptr);
    REQUIRE(rows);
    CHECK(rows->position == -1);  // the last layer's row 3 reaches no other row
    CHECK(rows->distances == *head_distances(*plain, *early, {}, pool));
    CHECK(answer_moved(Runs{*plain}, MovedRequest{}, pool, nullptr)->distances.empty());
}

TEST_CASE("heads over different tokens are never subtracted, whatever their kinds") {
    ThreadPool pool(2);
    const auto model = translator();
    const ModelConfig& c = model->config;
    const auto input =
        *encode_input(*model, {"The cat sat on the mat.", "", "Die Katze saß", {}, {}, {}, nullptr});
    const auto t = *run_trace(model, {input.sequences, {}}, pool);
    int together = 0, apart = 0;
    for (int a = 0; a < c.blocks(); ++a)
        for (int b = 0; b < c.blocks(); ++b) {
            const auto pair = answer_head_pair(Runs{*t}, HeadPairRequest{{}, a, 2, b, 5}, pool, nullptr);
            REQUIRE(pair);
            CHECK(pair->b == AttentionHead{b, 5});
            const bool same_tokens = c.block(a).kind == c.block(b).kind;
            ++(same_tokens ? together : apart);
            CHECK(pair->apart.empty() == same_tokens);
            CHECK(pair->alone.has_value() == !same_tokens);
            CHECK(same(pair->map.a, masked_pattern(*t, a, 2)));
            CHECK(pair->map.row_labels == token_labels(*t, c.block(a).stack));
            CHECK(pair->map.column_labels == token_labels(*t, c.block(a).key_stack));
            if (same_tokens) {
                CHECK(same(pair->map.b, masked_pattern(*t, b, 5)));
                continue;
            }
            CHECK(pair->map.difference.cwiseAbs().maxCoeff() == 0);
            CHECK((pair->map.largest.empty() && pair->by_query.empty()));
            CHECK(same(pair->alone->b, masked_pattern(*t, b, 5)));
            CHECK(pair->alone->row_labels == token_labels(*t, c.block(b).stack));
            CHECK(pair->alone->column_labels == token_labels(*t, c.block(b).key_stack));
            CHECK(pair->apart.find(head_name(c, a, 2)) == 0);
            CHECK(pair->apart.find(head_name(c, b, 5)) != std::string::npos);
            CHECK(std::isnan(pair->distances[{b, 5}]));
        }
    CHECK((together == 27 && apart == 54));  // three layers of each kind
}

TEST_CASE("without a chosen head B is the most similar one of the same kind") {
    ThreadPool pool(2);
    const auto model = translator();
    const ModelConfig& c = model->config;
    const auto input = *encode_input(*model, {"The cat sat.", "", "Die Katze", {}, {}, {}, nullptr});
    const auto t = *run_trace(model, {input.sequences, {}}, pool);
    for (int block = 0; block < c.blocks(); block += 2) {
        const AttentionHead a{block, 1};
        const auto pair = answer_head_pair(Runs{*t}, HeadPairRequest{{}, block, 1}, pool, nullptr);
        REQUIRE(pair);
        CHECK(pair->b != a);
        CHECK((pair->apart.empty() && c.block(pair->b.block).kind == c.block(block).kind));
        for (int i = 0; i < c.head_count(); ++i)
            if (const float d = pair->distances[size_t(i)]; c.head_at(i) != a && !std::isnan(d))
                CHECK(pair->distances[pair->b] <= d);
    }
}

TEST_CASE("alignment: equal tokens, replacements one to one, unpaired ones, and by hand") {
    using Words = std::vector<std::string>;
    const Words a{"a", "red", "ball", "fell"}, b{"a", "big", "blue", "ball", "fell"},
        c{"a", "blue", "ball", "fell"};
    CHECK(align({}, a, c) == TokenPairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}});
    CHECK(align({}, a, b) == TokenPairs{{0, 0}, {-1, 1}, {-1, 2}, {1, -1}, {2, 3}, {3, 4}});
    CHECK(align({AlignBy::position, {}}, a, b) == TokenPairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}, {-1, 4}});
    CHECK(align({AlignBy::token, {{1, 2}}}, a, b) == TokenPairs{{0, 0}, {-1, 1}, {1, 2}, {2, 3}, {3, 4}});
    CHECK(align({AlignBy::token, {{0, -1}}}, a, c) == TokenPairs{{-1, 0}, {0, -1}, {1, 1}, {2, 2}, {3, 3}});
    CHECK(align({AlignBy::token, {{9, 1}, {1, 77}}}, a, c) == align({}, a, c));
    CHECK(align({}, a, Words{}).size() == 4);
    for (const Alignment& how :
         {Alignment{}, Alignment{AlignBy::position, {}}, Alignment{AlignBy::token, {{3, 0}, {0, 4}}}}) {
        const TokenPairs pairs = align(how, a, b);  // each token once
        std::vector<int> as(4), bs(5);
        for (const TokenPair& p : pairs) {
            if (p.a >= 0) ++as[p.a];
            if (p.b >= 0) ++bs[p.b];
        }
        CHECK((as == std::vector<int>(4, 1) && bs == std::vector<int>(5, 1)));
    }
}

TEST_CASE("two sentences: cells align with their tokens, and missing ones are neither masked nor 0") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto a = changed(model, {}, pool);
    ForwardRequest longer = request_of(kIds);
    longer.inputs[0].ids.insert(longer.inputs[0].ids.begin() + 4, 123);
    const auto b = *run_trace(model, longer, pool);
    const RunPair runs{Versus::other, {}};
    const auto pair =
        answer_head_pair(Runs{*a, nullptr, b.get()}, HeadPairRequest{runs, 1, 2, 1, 2}, pool, nullptr);
    REQUIRE(pair);
    REQUIRE(pair->map.rows.size() == 11);
    CHECK(pair->map.rows[4] == TokenPair{-1, 4});
    CHECK(pair->map.a(5, 4) == kAbsent);
    CHECK(pair->map.a(5, 2) == masked_pattern(*a, 1, 2)(4, 2));
    CHECK(same(pair->map.b, masked_pattern(*b, 1, 2)));
    CHECK(pair->map.difference(5, 4) == 0);
    CHECK(pair->map.difference(5, 2) == doctest::Approx(a->pattern(1, 2)(4, 2) - b->pattern(1, 2)(5, 2)));
    CHECK(std::isnan(pair->by_query[4]));
    CHECK(pair->by_query[1] == doctest::Approx(0).epsilon(1e-6));
    const auto missing = answer_head_pair(Runs{*a}, HeadPairRequest{runs, 1, 2, 1, 2}, pool, nullptr);
    CHECK((missing && missing->map.a.size() == 0));
    const auto delta =
        answer_delta_pair(Runs{*a, nullptr, b.get()}, DeltaPairRequest{runs, 0}, pool, nullptr);
    REQUIRE(delta);
    CHECK((delta->map.a.rows() == model->config.blocks() && delta->map.a.cols() == 11));
    const auto next =
        answer_prediction_pair(Runs{*a, nullptr, b.get()}, PredictionPairRequest{runs, -1}, pool, nullptr);
    REQUIRE(next);
    CHECK((next->position_a == 9 && next->position_b == 10));
    CHECK(std::isnan(next->divergence[4]));
    CHECK(next->divergence[0] == doctest::Approx(0).epsilon(1e-6));
    for (const ProbabilityChange& p : next->tokens)
        CHECK(p.b == doctest::Approx(probabilities_at(*b, 10, pool)[p.id]));
}

TEST_CASE("two models: heads that cannot be paired are ranked by distance from A's") {
    ThreadPool pool(2);
    const auto gpt2 = reference_model("gpt2"), llama = reference_model("llama");
    const auto a = *run_trace(gpt2, request_of(kIds), pool), b = *run_trace(llama, request_of(kIds), pool);
    const auto pair = answer_head_pair(
        Runs{*a, nullptr, b.get()}, HeadPairRequest{{Versus::other, {AlignBy::position, {}}}, 0, 0, 99, 99},
        pool, nullptr);
    REQUIRE(pair);
    CHECK(pair->distances.size() == static_cast<size_t>(llama->config.head_count()));
    CHECK(same(pair->map.b, masked_pattern(*b, llama->config.blocks() - 1, llama->config.max_heads() - 1)));
    if (!same_heads(gpt2->config, llama->config)) CHECK(!head_distances(*a, *b, {}, pool));
}

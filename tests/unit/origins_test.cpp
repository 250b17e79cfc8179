// Tests score origins: the parts sum to the score in every family, under any change.
#include <cmath>

#include "analysis/attention/score_origins.h"
#include "analysis/circuits/direct.h"
#include "base/cast.h"
#include "changed.h"

using namespace headlight;

namespace {

/// Returns the distance of the sum from the score, relative to its terms.
float error_of_sum(const ScoreOrigins& o) {
    return std::abs(o.sum - o.scaled) / std::max(1.0f, o.values.cwiseAbs().sum());
}

int place_of(const std::vector<StreamPart>& parts, const StreamPart& part) {
    const auto at = std::find(parts.begin(), parts.end(), part);
    return at == parts.end() ? -1 : narrow<int>(at - parts.begin());
}

}  // namespace

TEST_CASE("origins: the shares of a score sum to it, in every family and block") {
    ThreadPool pool(2);
    float worst = 0;
    for (const char* name : {"gpt2",       "gpt_neox", "llama",      "gemma2",  "gemma4", "phi",     "opt",
                             "bloom",      "qwen2",    "qwen3",      "mistral", "bert",   "roberta", "albert",
                             "distilbert", "electra",  "modernbert", "marian",  "bart",   "t5"}) {
        CAPTURE(name);
        const auto trace = changed(reference_model(name), {}, pool);
        for (int block = 0; block < trace->config().blocks(); ++block) {
            CAPTURE(block);
            const int queries = trace->query_count(block), keys = trace->key_count(block);
            for (const ScoreOriginsRequest w : {ScoreOriginsRequest{block, 0, queries - 1, 1},
                                                ScoreOriginsRequest{block, 1, queries - 2, keys - 3}}) {
                const auto o = answer_score_origins(*trace, w, pool);
                REQUIRE(o);
                CHECK(error_of_sum(*o) < 2e-6f);
                worst = std::max(worst, error_of_sum(*o));
                CHECK(o->capped + o->bias == doctest::Approx(o->score).epsilon(1e-4));
                CHECK((o->values.rows() == isize(o->queries) && o->values.cols() == isize(o->keys)));
            }
        }
    }
    MESSAGE("largest error of the sums of scores, by what is summed: " << worst);
}

TEST_CASE("origins: a disentangled score is q·k, q·Kr and k·Qr, split by what wrote q and k") {
    ThreadPool pool(2);
    Trace trace = *changed(reference_model("bert"), {}, pool);
    const int n = trace.query_count(1), width = narrow<int>(trace.config().d_head(1));
    const Index all = Index{width} * trace.config().heads(1);
    AttentionRule rule = trace.rule(1);
    AttentionWeights tables;
    tables.relative_keys = random_matrix(10, all, 3);
    tables.relative_queries = random_matrix(10, all, 4);
    const DisentangledSpec spec{.span = 5, .to_position = true, .from_position = true};
    rule.disentangled = disentangled_bias(spec, tables, n, {});
    StackActivations stack = trace.stack(0);
    LayerActivations layer = *stack.layers[1];
    layer.self.rule = std::make_shared<const AttentionRule>(rule);
    stack.layers[1] = std::make_shared<const LayerActivations>(layer);
    trace.activations.stacks[0] = std::make_shared<const StackActivations>(stack);
    const ScoreOrigins o = *answer_score_origins(trace, {1, 1, 4, 2}, pool);
    REQUIRE(o.disentangled);
    const Index rows = o.values.rows() - 1, columns = o.values.cols() - 1;
    CHECK(o.queries.back() == StreamPart{StreamPart::Kind::distance});
    CHECK(o.values(rows, columns) == 0);
    const int row = row_of_distance(spec, 4 - 2);
    const auto of = [&](const Rows& table) {
        return table.columns(width, width).row(row).transpose().eval();
    };
    const float to = rule.scale * trace.q(1, 1).row(4).dot(of(tables.relative_keys).transpose()),
                from = rule.scale * trace.k(1, 1).row(2).dot(of(tables.relative_queries).transpose());
    CHECK(o.values.col(columns).sum() == doctest::Approx(to).epsilon(1e-3));
    CHECK(o.values.row(rows).sum() == doctest::Approx(from).epsilon(1e-3));
    CHECK(o.to_position == doctest::Approx(to).epsilon(1e-4));
    CHECK(o.from_position == doctest::Approx(from).epsilon(1e-4));
    CHECK(o.sum == doctest::Approx(o.scaled + o.to_position + o.from_position).epsilon(1e-3));
    CHECK(o.sum == doctest::Approx(o.score).epsilon(1e-3));
    CHECK(strongest_origins(o, 3).values.sum() == doctest::Approx(o.sum).epsilon(1e-3));
}

TEST_CASE("origins: the parts are those that wrote both vectors") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("gpt2"), {}, pool);
    const int heads = trace->config().heads(0);
    const auto first = answer_score_origins(*trace, ScoreOriginsRequest{0, 0, 6, 2}, pool),
               second = answer_score_origins(*trace, ScoreOriginsRequest{1, 1, 6, 2}, pool);
    REQUIRE((first && second));
    using Kind = StreamPart::Kind;
    CHECK(first->queries == std::vector<StreamPart>{{Kind::biases}, {Kind::token}, {Kind::position}});
    CHECK(isize(second->keys) == 3 + heads + 1);
    CHECK(place_of(second->keys, {Kind::head, 0, heads - 1}) == 2 + heads);
    CHECK(place_of(second->queries, {Kind::mlp, 0}) == 3 + heads);
    const auto llama = answer_score_origins(*changed(reference_model("llama"), {}, pool),
                                            ScoreOriginsRequest{1, 1, 6, 2}, pool);
    REQUIRE(llama);
    CHECK(place_of(llama->queries, {Kind::position}) < 0);  // positions rotate q and k instead
    CHECK(place_of(llama->queries, {Kind::biases}) < 0);    // it has none
    const auto cross = changed(reference_model("marian"), {}, pool);
    const auto read =
        answer_score_origins(*cross, ScoreOriginsRequest{cross->config().blocks() - 1, 0, 3, 4}, pool);
    REQUIRE(read);
    CHECK(place_of(read->keys, {Kind::head, 1, 0}) >= 0);     // the encoder's
    CHECK(place_of(read->queries, {Kind::head, 1, 0}) < 0);   // the decoder's alone
    CHECK(place_of(read->queries, {Kind::head, 3, 1}) >= 0);  // self-attention of its own layer
}

TEST_CASE("origins: without a head its share is gone, and other shares keep their proportions") {
    ThreadPool pool(2);
    const auto model = reference_model("gpt2");
    const auto own = changed(model, {}, pool), without = changed(model, {"ablate:0.1:zero"}, pool);
    const ScoreOriginsRequest w{1, 0, 7, 3};
    const auto a = answer_score_origins(*own, w, pool), b = answer_score_origins(*without, w, pool);
    REQUIRE((a && b));
    const StreamPart head{StreamPart::Kind::head, 0, 1}, token{StreamPart::Kind::token};
    CHECK(a->values.row(place_of(a->queries, head)).cwiseAbs().maxCoeff() > 1e-4f);
    CHECK(b->values.row(place_of(b->queries, head)).cwiseAbs().maxCoeff() == 0);
    // token × token: only the scales of the two norms differ.
    const float scales = b->values(place_of(b->queries, token), place_of(b->keys, token)) /
                         a->values(place_of(a->queries, token), place_of(a->keys, token));
    const StreamPart position{StreamPart::Kind::position};
    CHECK(b->values(place_of(b->queries, token), place_of(b->keys, position)) /
              a->values(place_of(a->queries, token), place_of(a->keys, position)) ==
          doctest::Approx(scales).epsilon(1e-3));
}

TEST_CASE("origins: a user's replacement is its own part, and the sum holds") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "bert", "gemma2"}) {
        for (const char* text : {"skip-mlp:0", "skip-attention:0", "positions:off", "positions:shuffle:7"}) {
            CAPTURE(name);
            CAPTURE(text);
            const auto trace = changed(reference_model(name), {text}, pool);
            const auto o = answer_score_origins(*trace, ScoreOriginsRequest{1, 1, 7, 3}, pool);
            REQUIRE(o);
            CHECK(error_of_sum(*o) < 2e-6f);
        }
        const auto model = reference_model(name);
        using Kind = StreamPart::Kind;
        for (const auto& [kind, part] :
             {std::pair{ChangeKind::patch_resid, StreamPart{Kind::given}},
              std::pair{ChangeKind::patch_attention, StreamPart{Kind::given_attention, 0}},
              std::pair{ChangeKind::patch_mlp, StreamPart{Kind::given_mlp, 0}}}) {
            CAPTURE(name);
            ForwardRequest request = request_of(kIds);
            Change patch;
            patch.kind = kind;
            patch.block = 0;
            patch.query = 7;
            patch.pattern = std::make_shared<const Matrix>(random_matrix(10, model->config.d_model, 5));
            request.intervention.changes.push_back(patch);
            const auto trace = *run_trace(model, request, pool);
            const auto o = answer_score_origins(*trace, ScoreOriginsRequest{1, 1, 7, 3}, pool);
            REQUIRE(o);
            CHECK(error_of_sum(*o) < 2e-6f);
            CHECK(place_of(o->queries, part) >= 0);
            CHECK(place_of(o->keys, part) < 0);
        }
    }
}

TEST_CASE("origins: the strongest are listed and the rest merged, so that the sum is unchanged") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("gpt2"), {}, pool);
    const auto all = answer_score_origins(*trace, ScoreOriginsRequest{1, 1, 7, 3}, pool);
    REQUIRE(all);
    const ScoreOrigins some = strongest_origins(*all, 3);
    CHECK((isize(some.queries) == 4 && isize(some.keys) == 4));
    CHECK(some.queries.back().count == isize(all->queries) - 3);
    CHECK(some.values.sum() == doctest::Approx(all->values.sum()).epsilon(1e-4));
    CHECK(same(strongest_origins(*all, 99).values, all->values));
    CHECK(same(strongest_origins(*all, 0).values, all->values));
    const auto largest = largest_origins(*all, 5);
    CHECK(std::abs(largest[0].value) == all->values.cwiseAbs().maxCoeff());
    CHECK(std::abs(largest[3].value) >= std::abs(largest[4].value));
}

TEST_CASE("origins: a score set by the user is reported, and image patches are split too") {
    ThreadPool pool(2);
    const auto trace = changed(reference_model("gpt2"), {"score:6>2@1.1=4.5"}, pool);
    const auto given = answer_score_origins(*trace, ScoreOriginsRequest{1, 1, 6, 2}, pool),
               beside = answer_score_origins(*trace, ScoreOriginsRequest{1, 1, 6, 3}, pool);
    REQUIRE((given && beside));
    CHECK((given->given && given->score == 4.5f && !beside->given));
    CHECK(given->sum == doctest::Approx(given->scaled).epsilon(1e-3));
}

TEST_CASE("origins: parts keep their share where layers scale the stream, and add vectors of their own") {
    ThreadPool pool(2);
    const auto plain = changed(reference_model("gemma4"), {}, pool);
    using Kind = StreamPart::Kind;
    for (const char* change : {"", "skip-mlp:1", "ablate-expert:2.1", "ablate:3.1:zero"}) {
        CAPTURE(change);
        const auto trace = *change ? changed(plain->model, {change}, pool) : plain;
        const StreamParts parts = parts_left(*trace, 0, 7, pool);
        const auto left = trace->stack(0).resid_final.row(7);
        CHECK((parts.rows.colwise().sum() - left).norm() < 1e-5f * left.norm());
        CHECK(place_of(parts.parts, {Kind::layer_embedding, 4}) >= 0);
        const int head = place_of(parts.parts, {Kind::head, 1, 2});
        REQUIRE(head >= 0);
        const Eigen::RowVectorXf own =
            carried_share(*trace->model, 1) * trace->head_additions(1, 7, pool).row(2);
        CHECK((parts.rows.row(head) - own).norm() < 1e-4f * own.norm());
    }
    CHECK(carried_share(*plain->model, 1) != 1);
}

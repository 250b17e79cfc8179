// Tests views' questions about a trace against cases by hand, expected tensors and sums.
#include <cmath>

#include "analysis/attribution/pca.h"
#include "analysis/circuits/direct.h"
#include "base/cast.h"
#include "base/spectrum.h"
#include "changed.h"
#include "questions/questions.h"

using namespace headlight;

namespace {

float difference(const Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>& a,
                 const Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>& b) {
    return (a - b).cwiseAbs().maxCoeff();
}

constexpr const char* kFamilies[] = {"gpt2",       "gpt_neox", "llama", "gemma2", "gemma4",
                                     "phi",        "opt",      "bloom", "qwen3",  "bert",
                                     "modernbert", "marian",   "bart",  "t5",     "gemma3n"};

}  // namespace

TEST_CASE("steps: article 003's example, three keys and values, one query") {
    // q = (1, 2), k = (1, 0), (0, 1), (1, 1), so q·k = 1, 2, 3; softmax of these over √2 by hand.
    const double e[] = {std::exp(1 / std::sqrt(2.0)), std::exp(2 / std::sqrt(2.0)),
                        std::exp(3 / std::sqrt(2.0))},
                 sum = e[0] + e[1] + e[2];
    AttentionRule rule;
    rule.mask = MaskPlan::full(1, 3);
    rule.scale = 1 / std::sqrt(2.0f);
    Matrix q(1, 2), k(3, 2), pattern(1, 3);
    q << 1, 2;
    k << 1, 0, 0, 1, 1, 1;
    head_pattern(rule, 0, q, k, 0, pattern);
    for (int i = 0; i < 3; ++i) CHECK(pattern(0, i) == doctest::Approx(e[i] / sum));
}

TEST_CASE("steps: each row of the table follows from the one before") {
    ThreadPool pool(2);
    for (const char* name : kFamilies) {
        const auto trace = any_trace(name, pool);
        for (const StepsRequest w : {StepsRequest{0, 0, 6}, StepsRequest{1, 1, 3}}) {
            CAPTURE(name);
            const auto s = answer_steps(*trace, w, pool, nullptr);
            REQUIRE(s);
            const Matrix pattern = trace->pattern(w.block, w.head), scores = trace->scores(w.block, w.head);
            double weights = 0;
            for (size_t key = 0; key < s->keys.size(); ++key) {
                const KeyStep& step = s->keys[key];
                const auto j = Index(key);
                CHECK(step.scaled == doctest::Approx(step.dot * trace->rule(w.block).scale));
                CHECK(step.capped + step.bias == doctest::Approx(scores(w.query, j)).epsilon(1e-4));
                CHECK(step.weight == doctest::Approx(pattern(w.query, j)).epsilon(1e-5));
                CHECK(step.exp / s->sum == doctest::Approx(step.weight).epsilon(1e-4));
                CHECK(step.allowed == trace->rule(w.block).mask.allowed(w.query, static_cast<int>(key)));
                weights += step.weight;
            }
            CHECK(weights == doctest::Approx(1));
            CHECK(difference(s->delta.transpose(), trace->results(w.block, w.query, pool).row(w.head)) == 0);
        }
    }
}

TEST_CASE("delta: heads and bias sum to attn_out, keys to the head's result") {
    ThreadPool pool(2);
    float worst = 0;
    for (const char* name : kFamilies) {
        const auto trace = any_trace(name, pool);
        for (int block = 0; block < trace->config().blocks(); ++block) {
            CAPTURE(name);
            CAPTURE(block);
            const int query = trace->query_count(block) - 2;
            const Matrix out = trace->attn_out(block, pool);
            const Matrix heads = trace->head_additions(block, query, pool);
            const float* bias = trace->weights(block).o.bias;
            Eigen::RowVectorXf sum = heads.colwise().sum();
            if (bias && !trace->weights(block).post_norm)
                sum += Eigen::Map<const Eigen::RowVectorXf>(bias, sum.size());
            worst = std::max(worst, difference(sum, out.row(query)) / std::max(1.0f, out.row(query).norm()));
            const Matrix keys = key_contributions(*trace, block, 1, query, pool);
            const Matrix result = trace->results(block, query, pool).row(1);
            worst = std::max(worst, difference(keys.colwise().sum(), result) / std::max(1.0f, result.norm()));
            const auto split = answer_delta_split(*trace, DeltaSplitRequest{block, query, -1}, pool, nullptr);
            REQUIRE(split);
            float along = 0;
            for (const DeltaPart& p : split->heads) along += p.along;
            CHECK(along == doctest::Approx(out.row(query).norm()).epsilon(1e-4));
            CHECK(split->heads.size() == static_cast<size_t>(trace->config().heads(block)) + (bias ? 1 : 0));
        }
    }
    MESSAGE("largest error of the sums of ΔE: " << worst);
    CHECK(worst < 1e-5f);
}

TEST_CASE("noise: what a model lacks is exactly 0 in the steps, and not a part of sums") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "llama", "gemma2"}) {  // no position bias in scores
        const auto trace = any_trace(name, pool);
        const auto steps = answer_steps(*trace, StepsRequest{1, 1, 6}, pool, nullptr);
        REQUIRE(steps);
        for (const KeyStep& k : steps->keys) CHECK(k.bias == 0);
    }
    const auto trace = any_trace("llama", pool);  // no bias anywhere
    CHECK(!trace->adds_bias(0));
    const auto a = answer_attribution(*trace, AttributionRequest{6, 17, 3}, pool, nullptr);
    REQUIRE(a);
    for (const LogitPart& p : a->parts)
        CHECK((p.kind == LogitPart::Kind::embedding || p.kind == LogitPart::Kind::head ||
               p.kind == LogitPart::Kind::mlp));
    CHECK(answer_delta_split(*trace, DeltaSplitRequest{0, 6, -1}, pool, nullptr)->heads.size() ==
          static_cast<size_t>(trace->config().heads(0)));
}

TEST_CASE("a skipped block adds nothing: no share of heads or MLP, and the shares still sum to the logit") {
    ThreadPool pool(2);
    const auto whole = any_trace("gpt2", pool);
    ForwardRequest request = whole->request;
    request.intervention.changes = {*parse_change(whole->config(), "skip-attention:0"),
                                    *parse_change(whole->config(), "skip-mlp:1")};
    const auto trace = *run_trace(whole->model, request, pool);
    CHECK(trace->attn_out(0, pool).cwiseAbs().maxCoeff() == 0);
    CHECK(key_contributions(*trace, 0, -1, 6, pool).cwiseAbs().maxCoeff() == 0);
    const auto a = answer_attribution(*trace, AttributionRequest{6, 17, 3}, pool, nullptr);
    REQUIRE(a);
    for (const LogitPart& p : a->parts) {
        if (p.block == 0 && p.kind == LogitPart::Kind::head) CHECK(p.logit == 0);
        CHECK(!(p.block == 1 && p.kind == LogitPart::Kind::mlp));
    }
    CHECK(a->logit ==
          doctest::Approx(unembed(*trace->model, trace->normalized().middleRows(6, 1), pool)(0, 17))
              .epsilon(1e-4));
}

TEST_CASE("an answer is returned only if valid: not for another block, head, stack or run") {
    ThreadPool pool(2);
    const auto trace = any_trace("marian", pool), other = any_trace("marian", pool);
    const int cross = trace->config().blocks() - 1;
    Answers late;  // asked of encoder 0.1, as if a worker were slower than a frame
    late.set(StepsRequest{0, 1, 9}, *answer_steps(*trace, StepsRequest{0, 1, 9}, pool, nullptr), trace);
    late.set(DeltaMapsRequest{0}, *answer_delta_maps(*trace, DeltaMapsRequest{0}, pool, nullptr), trace);
    late.set(LensRequest{0, 3}, *answer_lens(*trace, LensRequest{0, 3}, pool, nullptr), trace);
    CHECK(late.get<StepsRequest>({trace.get(), 0, 1}));
    CHECK(!late.get<StepsRequest>({trace.get(), 0, 0}));
    CHECK(!late.get<StepsRequest>({trace.get(), cross, 1}));  // its seven queries have no labels for nine
    CHECK(!late.get<StepsRequest>({other.get(), 0, 1}));
    CHECK(!late.get<StepsRequest>({nullptr, 0, 1}));
    CHECK(late.get<DeltaMapsRequest>({trace.get(), 1, 0}));
    CHECK(!late.get<DeltaMapsRequest>({trace.get(), cross, 0}));
    CHECK(late.get<LensRequest>({trace.get(), cross, 2}));
    CHECK(!late.get<LensRequest>({other.get(), cross, 2}));
    CHECK(late.holds(StepsRequest{0, 1, 9}, *trace));
    CHECK(!late.holds(StepsRequest{0, 1, 9}, *other));
    late.set(RandomStatisticsRequest{}, {}, trace);
    CHECK(late.about_model().get<RandomStatisticsRequest>({other.get(), 0, 0}));
    CHECK(!late.about_model().get<LensRequest>({trace.get(), 0, 0}));
}

TEST_CASE("delta: lengths and cosines of the map") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "marian"}) {
        const auto trace = any_trace(name, pool);
        const int stack = isize(trace->config().stacks) - 1;
        const auto maps = answer_delta_maps(*trace, DeltaMapsRequest{stack}, pool, nullptr);
        REQUIRE(maps);
        for (size_t i = 0; i < maps->blocks.size(); ++i) {
            const int block = maps->blocks[i];
            const Eigen::VectorXf e = trace->resid_before(block, pool).row(4).transpose(),
                                  delta = trace->attn_out(block, 4, 1, pool).row(0).transpose();
            const auto c = Index(i);
            CHECK(maps->before(4, c) == doctest::Approx(e.norm()));
            CHECK(maps->delta(4, c) == doctest::Approx(delta.norm()));
            CHECK(maps->cosine(4, c) == doctest::Approx(e.dot(e + delta) / (e.norm() * (e + delta).norm())));
        }
    }
}

TEST_CASE("lens: the last layer equals the logits; attribution sums to the logit") {
    ThreadPool pool(2);
    float worst = 0;
    for (const char* name : {"gpt2", "gpt_neox", "llama", "gemma2", "phi", "opt", "bloom", "qwen3", "mistral",
                             "bert", "marian", "bart", "t5"}) {
        const auto trace = any_trace(name, pool);
        CAPTURE(name);
        const int position = trace->output().size() - 1;
        const auto lens = answer_lens(*trace, LensRequest{0, position + 1}, pool, nullptr);
        REQUIRE(lens);
        const Prediction want = predictions(*trace, position, 1, pool)[0], got = lens->top.back()[position];
        CHECK(got.id == want.id);
        CHECK(got.probability == doctest::Approx(want.probability));
        CHECK(lens->top.size() == static_cast<size_t>(trace->config().stacks.back().depth()) + 1);
        const auto a = answer_attribution(*trace, AttributionRequest{position, 17, 3}, pool, nullptr);
        REQUIRE(a);
        CHECK(a->tokens.size() == 3);
        CHECK(a->parts.empty() != has_direct_path(*trace->model));
        if (a->parts.empty()) continue;
        float logit = unembed(*trace->model, trace->normalized().middleRows(position, 1), pool)(0, 17);
        if (const float cap = trace->config().logit_cap; cap > 0) logit = cap * std::atanh(logit / cap);
        worst = std::max(worst, std::abs(a->logit - logit) / std::max(1.0f, std::abs(logit)));
    }
    MESSAGE("largest error of the sums of logits: " << worst);
    CHECK(worst < 1e-4f);
}

TEST_CASE("principal plane: the same plane as from an eigendecomposition") {
    const Matrix x = random_matrix(40, 12, 3) * Eigen::VectorXf::LinSpaced(12, 6, 0.5f).asDiagonal();
    const headlight::Plane plane = principal_plane(x);
    const Matrix centered = x.rowwise() - x.colwise().mean(), products = centered.transpose() * centered;
    const Eigenvectors own = symmetric_eigenvectors(products.cast<double>());
    CHECK(plane.kept == doctest::Approx((own.values[11] + own.values[10]) / own.values.sum()).epsilon(1e-3));
    for (int i = 0; i < 2; ++i) {
        const Vector want = centered * own.vectors.col(11 - i).cast<float>();
        CHECK(std::abs(want.normalized().dot(plane.points.col(i).normalized())) ==
              doctest::Approx(1).epsilon(1e-3));
    }
    CHECK(principal_plane(Matrix::Ones(5, 4)).kept == 1);
    CHECK(principal_plane(Matrix::Ones(1, 4)).points.isZero());
}

TEST_CASE("questions are clamped to the trace that answers them") {
    ThreadPool pool(1);
    const auto trace = any_trace("marian", pool);
    for (const Question& wild :
         {Question(LinksRequest{99, 0.5f}), Question(StepsRequest{99, 99, 99}), Question(DeltaMapsRequest{7}),
          Question(DeltaSplitRequest{99, 99, 99}), Question(ProjectionRequest{9, 99}),
          Question(LensRequest{99, 99}), Question(AttributionRequest{99, -1, 5}),
          Question(GraphRequest{{9, {}}, 0.5f, Origins::rollout, {}}),
          Question(RolloutRequest{{9, {}}, 99, Origins::flow, {}}), Question(HeadMapRequest{}),
          Question(RandomStatisticsRequest{}), Question(HeadPairRequest{{}, 99, 99, 99, 99}),
          Question(HeadPairRequest{{Versus::unchanged, {}}, 0, 0, 0, 0}),
          Question(HeadPairRequest{{Versus::other, {}}, 0, 0, 0, 0}), Question(DeltaPairRequest{{}, 9}),
          Question(PredictionPairRequest{{}, 99}), Question(MovedRequest{}), Question(MetricRequest{}),
          Question(StagesRequest{})}) {
        const bool answered = std::visit(
            [&](const auto& q) { return static_cast<bool>(answer(Runs{*trace}, q, pool, nullptr)); },
            clamped(wild, *trace));
        CHECK(answered);
    }
}

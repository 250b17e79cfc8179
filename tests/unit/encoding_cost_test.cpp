// Checks what the encoding of each matrix costs against runs of models put together by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <set>

#include "analysis/comparison/encodings.h"
#include "analysis/comparison/head_encoding.h"
#include "helpers.h"
#include "model/head_weights.h"

using namespace headlight;

namespace {

ForwardRequest request_of_costs() {
    ForwardRequest out;
    out.inputs.resize(1);
    out.inputs[0].ids = {5, 9, 20, 31, 7, 5, 9};
    return out;
}

}  // namespace

namespace {

/// Runs both models on one text, and restores what is asked for.
Result<EncodingCosts> costs_of(const std::shared_ptr<const Model>& exact,
                               const std::shared_ptr<const Model>& coded, Restored what, ThreadPool& pool) {
    const auto own = run_trace(exact, request_of_costs(), pool),
               now = run_trace(coded, request_of_costs(), pool);
    REQUIRE(own);
    REQUIRE(now);
    return encoding_costs(**own, **now, {MetricKind::divergence}, what, pool);
}

}  // namespace

TEST_CASE("encodings: a matrix costs what the metric loses when it alone is restored") {
    ThreadPool pool(2);
    const auto exact = reference_model("llama"),
               coded = *Model::open(kTests / "reference/models/llama_gguf/llama-q4_0.gguf");
    const ForwardRequest request = request_of_costs();
    const auto costs = costs_of(exact, coded, Restored::matrices, pool);
    REQUIRE(costs);
    CHECK(costs->whole());
    CHECK(costs->exact.value == doctest::Approx(0));
    CHECK(costs->coded.value > 0);
    CHECK(costs->exact_bytes > costs->coded_bytes);
    std::set<std::string> names;
    for (const MatrixCost& m : costs->matrices) {
        CHECK(names.insert(m.name).second);
        CHECK(std::abs(m.cost) < costs->coded.value);  // of the same order: it was restored in its own order
        CHECK(m.bytes > 0);
    }
    REQUIRE(names.contains("blocks.0.mlp.W_in"));
    const auto mixed = std::make_shared<Model>(*coded);
    mixed->weights.stacks[0].layers[0].mlp_in = exact->weights.stacks[0].layers[0].mlp_in;
    const auto own = *run_trace(exact, request, pool), with = *run_trace(mixed, request, pool);
    for (const MatrixCost& m : costs->matrices)
        if (m.name == "blocks.0.mlp.W_in")
            CHECK(m.cost == costs->coded.value - evaluate(costs->metric, *with, *own, pool).value);
}

TEST_CASE("encodings: a head is restored with its own rows and columns, all else as it was") {
    ThreadPool pool(2);
    const auto exact = reference_model("llama"),
               coded = *Model::open(kTests / "reference/models/llama_gguf/llama-q4_0.gguf");
    const auto mixed = std::make_shared<Model>(*exact);  // coded in its first attention alone
    AttentionWeights& first = mixed->weights.stacks[0].layers[0].self;
    const Norm norm = first.norm;
    first = coded->weights.stacks[0].layers[0].self;
    first.norm = norm;
    mixed->config.stacks[0].layers[0].attention = coded->config.stacks[0].layers[0].attention;
    const ModelConfig& c = mixed->config;
    REQUIRE(c.attention(0).rope.interleaved != exact->config.attention(0).rope.interleaved);
    const auto own = *run_trace(exact, request_of_costs(), pool),
               now = *run_trace(mixed, request_of_costs(), pool);
    const int apart = c.heads(0) / c.attention(0).kv_heads;
    for (int head = 0; head < c.heads(0); ++head) {
        CAPTURE(head);
        const auto with = with_exact_head(*mixed, *exact, {0, head});
        REQUIRE(with);
        const auto run = *run_trace(with, request_of_costs(), pool);
        const auto error = [&](const Trace& of) {
            return (of.pattern(0, head) - own->pattern(0, head)).cwiseAbs().maxCoeff();
        };
        CHECK(error(*now) > 1e-3f);
        CHECK(error(*run) < 1e-5f);
        for (int other = 0; other < c.heads(0); ++other)
            if (other / apart != head / apart)
                CHECK(run->pattern(0, other) == now->pattern(0, other));  // bit for bit
    }
}

TEST_CASE("encodings: the parts of all heads are the matrices") {
    ThreadPool pool(2);
    const auto exact = reference_model("llama"),
               coded = *Model::open(kTests / "reference/models/llama_gguf/llama-q4_0.gguf");
    for (const AttentionHead head : {AttentionHead{0, 1}, AttentionHead{1, 3}}) {
        const auto with = with_exact_head(*coded, *exact, head);
        REQUIRE(with);
        const HeadWeights put(*with, head), own(*exact, head);
        CHECK((put.matrix(HeadPart::v) - own.matrix(HeadPart::v)).cwiseAbs().maxCoeff() < 1e-6f);
        CHECK((put.output() - own.output()).cwiseAbs().maxCoeff() < 1e-6f);
        for (const HeadPart part : {HeadPart::q, HeadPart::k})  // in the order of the other rotation
            CHECK(put.matrix(part).squaredNorm() ==
                  doctest::Approx(own.matrix(part).squaredNorm()).epsilon(1e-5));
        const AttentionHead other{head.block, 0};
        CHECK(HeadWeights(*with, other).output() == HeadWeights(*coded, other).output());
    }
}

TEST_CASE("encodings: fused and transposed matrices have their heads restored too") {
    ThreadPool pool(2);
    for (const char* name : {"gpt2", "gpt_neox"}) {
        CAPTURE(name);
        const auto exact = reference_model(name);
        const auto coded = std::make_shared<Model>(*exact);
        LayerWeights& layer = coded->weights.stacks[0].layers[1];
        std::deque<Matrix> rounded;
        for (Linear* w : {&layer.self.q, &layer.self.k, &layer.self.v, &layer.self.o}) {
            const Matrix stored = (input_rows(*w, 0, w->in).array() * 8).round() / 8;
            rounded.push_back(stored);
            *w = Linear::of_floats(rounded.back().data(), w->bias, w->in, w->out, WeightLayout::in_out);
        }
        const AttentionHead head{1, 1};
        for (const auto& [to, from] :
             {std::pair{coded, exact},
              std::pair{std::make_shared<Model>(*exact), std::shared_ptr<const Model>(coded)}}) {
            const auto with = with_exact_head(*to, *from, head);
            REQUIRE(with);
            const HeadWeights put(*with, head), own(*from, head);
            for (const HeadPart part : {HeadPart::q, HeadPart::k, HeadPart::v})
                CHECK((put.matrix(part) - own.matrix(part)).cwiseAbs().maxCoeff() < 1e-6f);
            CHECK((put.output() - own.output()).cwiseAbs().maxCoeff() < 1e-6f);
            CHECK(HeadWeights(*with, {1, 0}).matrix(HeadPart::q) ==
                  HeadWeights(*to, {1, 0}).matrix(HeadPart::q));
        }
    }
}

TEST_CASE("encodings: costs of heads are those of passes with the head restored") {
    ThreadPool pool(2);
    const auto exact = reference_model("llama"),
               coded = *Model::open(kTests / "reference/models/llama_gguf/llama-q4_0.gguf");
    const auto costs = costs_of(exact, coded, Restored::heads, pool);
    REQUIRE(costs);
    CHECK(costs->matrices.empty());
    CHECK(costs->steps == coded->config.head_count());
    const auto own = *run_trace(exact, request_of_costs(), pool),
               with = *run_trace(with_exact_head(*coded, *exact, {1, 2}), request_of_costs(), pool);
    CHECK(costs->heads[AttentionHead{1, 2}] ==
          costs->coded.value - evaluate(costs->metric, *with, *own, pool).value);
}

TEST_CASE("encodings: a model costs nothing beside itself, and another one is refused") {
    ThreadPool pool(2);
    const auto llama = reference_model("llama");
    const auto none = costs_of(llama, reference_model("llama"), Restored::both, pool);
    REQUIRE(none);
    CHECK(none->matrices.empty());
    CHECK(none->steps == 0);
    const auto other = costs_of(llama, reference_model("gpt2"), Restored::both, pool);
    REQUIRE(!other);
    CHECK(other.error().message.find("not two encodings of one model") != std::string::npos);
}

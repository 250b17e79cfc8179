// Checks what the encoding of each matrix costs against runs of models put together by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "analysis/comparison/encodings.h"
#include "helpers.h"

using namespace headlight;

namespace {

ForwardRequest request_of_costs() {
    ForwardRequest out;
    out.inputs.resize(1);
    out.inputs[0].ids = {5, 9, 20, 31, 7, 5, 9};
    return out;
}

}  // namespace

TEST_CASE("encodings: a matrix costs what the metric loses when it alone is put back") {
    ThreadPool pool(2);
    const auto exact = reference_model("llama"),
               coded = *Model::open(kTests / "reference/models/llama_gguf/llama-q4_0.gguf");
    const ForwardRequest request = request_of_costs();
    const auto costs = encoding_costs(exact, coded, request, "kl", pool);
    REQUIRE(costs);
    CHECK(costs->exact.value == doctest::Approx(0));
    CHECK(costs->coded.value > 0);
    std::set<std::string> names;
    for (const MatrixCost& m : costs->matrices) {
        CHECK(names.insert(m.name).second);
        CHECK(std::abs(m.cost) < costs->coded.value);  // of the same order: it went back in its own order
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

TEST_CASE("encodings: a model costs nothing beside itself, and another one is refused") {
    ThreadPool pool(2);
    const auto llama = reference_model("llama");
    const auto none = encoding_costs(llama, reference_model("llama"), request_of_costs(), "kl", pool);
    REQUIRE(none);
    CHECK(none->matrices.empty());
    const auto other = encoding_costs(llama, reference_model("gpt2"), request_of_costs(), "kl", pool);
    REQUIRE(!other);
    CHECK(other.error().message.find("not two encodings of one model") != std::string::npos);
}

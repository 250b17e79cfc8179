// Checks by hand what a contact head reads of a pattern.
#include "analysis/attention/contacts.h"

#include <cmath>

#include "helpers.h"
#include "io/safetensors.h"

using namespace headlight;

TEST_CASE("contacts: a pattern is made symmetric, and loses the product of its sums") {
    Matrix pattern(2, 2);
    pattern << 1, 2, 3, 5;  // P + Pᵀ: rows 2 5 and 5 10, sums 7 and 15 of 22
    const Matrix corrected = corrected_pattern(pattern);
    CHECK(corrected(0, 0) == doctest::Approx(2 - 7.0 * 7 / 22));
    CHECK(corrected(0, 1) == doctest::Approx(5 - 7.0 * 15 / 22));
    CHECK(corrected(1, 0) == doctest::Approx(corrected(0, 1)));
    CHECK(corrected(1, 1) == doctest::Approx(10 - 15.0 * 15 / 22));
}

TEST_CASE(
    "contacts: what falls into a product of rows and columns is no contact, and nothing stays nothing") {
    Vector shares(3);
    shares << 1, 2, 4;
    CHECK(corrected_pattern(shares * shares.transpose()).cwiseAbs().maxCoeff() < 1e-5f);
    CHECK(corrected_pattern(Matrix::Zero(2, 2)).isZero(0));
}

TEST_CASE("contacts: the most probable pairs are listed once, those too near along the chain left out") {
    Matrix map = Matrix::Constant(9, 9, 0.1f);
    const auto touch = [&](int i, int j, float p) { map(i, j) = map(j, i) = p; };
    touch(0, 7, 0.9f);
    touch(1, 8, 0.9f);
    touch(2, 8, 0.7f);
    touch(3, 4, 0.99f);
    const auto far = likely_contacts(map, 6, 3);
    REQUIRE(far.size() == 3);
    CHECK((far[0].first == 0 && far[0].second == 7 && far[0].apart() == 7));
    CHECK((far[1].first == 1 && far[1].probability == 0.9f));  // of equal ones the first
    CHECK((far[2].first == 2 && far[2].second == 8));
    CHECK(likely_contacts(map, 1, 1).front().probability == 0.99f);
    CHECK(likely_contacts(map, 6, 100).size() == 6);  // 3 · 4 / 2 pairs
    CHECK(likely_contacts(map, 9, 5).empty());
}

TEST_CASE("contacts: the map is σ of the heads' corrected patterns between residues, times coefficients") {
    ThreadPool pool(2);
    const auto model = reference_model("bert");
    const std::vector<int> ids{7, 9, 20, 31, 44, 7, 12, 3};
    CHECK(!answer_contacts(*trace_of(model, ids, pool), {}, pool));
    Model with;
    with.config = model->config;
    const Matrix coefficients = random_matrix(1, model->config.head_count(), 5);
    const float bias = 0.25f;
    with.weights.contact =
        Linear::of_floats(coefficients.data(), &bias, coefficients.cols(), 1, WeightLayout::out_in);
    Trace trace = *trace_of(model, ids, pool);
    trace.model = std::shared_ptr<const Model>(&with, [](const Model*) {});
    const Matrix map = *answer_contacts(trace, {}, pool);
    REQUIRE(map.rows() == 6);
    Matrix sum = Matrix::Constant(6, 6, bias);
    for (int i = 0; i < model->config.head_count(); ++i) {
        const AttentionHead head = model->config.head_at(i);
        sum += coefficients(0, i) * corrected_pattern(trace.pattern(head.block, head.head).block(1, 1, 6, 6));
    }
    for (Index i = 0; i < 6; ++i)
        for (Index j = 0; j < 6; ++j) {
            CHECK(map(i, j) == doctest::Approx(1 / (1 + std::exp(-sum(i, j)))).epsilon(1e-4));
            CHECK(map(i, j) == doctest::Approx(map(j, i)).epsilon(1e-5));
        }
}

TEST_CASE("contacts: the map of a protein is that of transformers") {
    ThreadPool pool(2);
    const auto model = reference_model("esm");
    const auto expected = open_safetensors(kTests / "reference/models/esm/expected.safetensors");
    REQUIRE(expected);
    const StoredTensor& ids = expected->tensors.at("case0/input_ids");
    const auto* first = reinterpret_cast<const int64_t*>(ids.bytes.data());
    const auto trace = trace_of(model, std::vector<int>(first, first + element_count(ids.shape)), pool);
    const Matrix map = *answer_contacts(*trace, {}, pool);
    const StoredTensor& theirs = expected->tensors.at("case0/contacts");
    REQUIRE(theirs.shape == std::vector<int64_t>{map.rows(), map.cols()});
    Matrix want(map.rows(), map.cols());
    theirs.dtype->decode(theirs.bytes.data(), want.size(), want.data());
    CHECK((map - want).cwiseAbs().maxCoeff() < 2e-3f);  // coefficients of 40 multiply errors of patterns
    CHECK(likely_contacts(map, 6, 1)[0].probability > 0.9f);
}

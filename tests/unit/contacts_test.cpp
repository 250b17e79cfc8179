// Checks by hand what a contact head reads of a pattern.
#include "analysis/attention/contacts.h"

#include <doctest/doctest.h>

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

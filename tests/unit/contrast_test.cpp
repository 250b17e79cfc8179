// Tests the mapping of weights to positions on a color map.
#include "figure/contrast.h"

#include <cmath>
#include <limits>

#include "figure/style.h"
#include "helpers.h"
#include "trace/large_pattern.h"

using namespace headlight;

TEST_CASE("contrast: positions of weights by hand, and weights at positions") {
    const auto place = [](Contrast contrast, float weight) {
        return Shades{contrast, 0.8f, 0.4f}.place(weight, 0.5f);
    };
    CHECK(place(Contrast::linear, 0.4f) == doctest::Approx(0.4));
    CHECK(place(Contrast::range, 0.4f) == doctest::Approx(0.5));
    CHECK(place(Contrast::root, 0.2f) == doctest::Approx(0.5));
    CHECK(place(Contrast::percentile, 0.2f) == doctest::Approx(0.5));
    CHECK(place(Contrast::percentile, 0.7f) == 1);
    CHECK(place(Contrast::row, 0.25f) == doctest::Approx(0.5));
    CHECK(place(Contrast::log, kLogFloor) == doctest::Approx(0));
    CHECK(place(Contrast::log, 0.8f) == doctest::Approx(1));
    CHECK(Shades{Contrast::log, 1, 1}.place(0.01f, 1) == doctest::Approx(0.5));
    for (size_t i = 1; i < contrasts().size(); ++i) {
        const Shades shades{static_cast<Contrast>(i), 0.8f, 0.4f};
        CAPTURE(contrasts()[i].name);
        CHECK(std::isnan(shades.place(std::numeric_limits<float>::quiet_NaN(), 1)));
        CHECK(shades.place(-1, 1) == 0);
        CHECK(shades.place(0, 1) == 0);
        for (const float at : {0.0f, 0.25f, 0.5f, 1.0f})
            CHECK(shades.place(shades.weight_at(at), 1) == doctest::Approx(at).epsilon(1e-5));
    }
    CHECK(Shades{Contrast::range, 0, 0}.place(0, 0) == 0);
}

TEST_CASE("contrast: the square root by itself beyond 64 tokens, the true range up to them") {
    CHECK(resolve_contrast(Contrast::automatic, 64) == Contrast::range);
    CHECK(resolve_contrast(Contrast::automatic, 65) == Contrast::root);
    CHECK(resolve_contrast(Contrast::linear, 500) == Contrast::linear);
    CHECK(shades_of(Contrast::automatic, Matrix::Constant(2, 65, 0.1f)).contrast == Contrast::root);
    CHECK(shades_of(Contrast::automatic, Matrix::Constant(2, 5, 0.1f)).largest == 0.1f);
}

TEST_CASE("contrast: the 99th percentile of unmasked weights") {
    Matrix weights(20, 10);
    for (int i = 0; i < 200; ++i) weights.data()[i] = i < 100 ? kMasked : float(i - 99) / 100;  // 0.01 … 1.00
    CHECK(percentile_99(weights) == doctest::Approx(0.99));
    CHECK(percentile_99(Matrix::Constant(3, 3, kMasked)) == 0);
    CHECK(percentile_99(Matrix::Constant(1, 1, 0.3f)) == doctest::Approx(0.3));
    Matrix large(400, 400);
    for (Index i = 0; i < large.size(); ++i) large.data()[i] = float(i) / float(large.size());
    CHECK(percentile_99(large) == doctest::Approx(0.99).epsilon(0.001));
}

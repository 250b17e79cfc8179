// What color bars say: their ends, apart from one another however short the bar and large the value.
#include "figure/color_bar.h"

#include <cmath>

#include "helpers.h"

using namespace headlight;

TEST_CASE("a color bar says the values at its ends") {
    const Colormap& colors = signed_colormap(true);
    const ColorBar both = range_bar(colors, 3.5, true), one = range_bar(colors, 0.125);
    REQUIRE(both.ticks.size() == 3);
    CHECK(both.ticks[0].text == "−3.50");
    CHECK(both.ticks[1].text == "0");
    CHECK(both.ticks[2].text == "+3.50");
    REQUIRE(one.ticks.size() == 2);
    CHECK(one.ticks[0].text == "0");
    CHECK(one.ticks[1].text == "0.125");
    CHECK(weight_bar(colors, {Contrast::linear, 1, 1}).ticks.size() == 5);
}

TEST_CASE("the numbers under a color bar stand apart, and are fewer where it is short") {
    constexpr double kType = 13;
    const ColorBar both = range_bar(signed_colormap(false), 0.5, true);
    for (const auto& [length, count] : {std::pair{130.0, 3}, {90.0, 2}, {60.0, 1}})
        CHECK(shape_of(both, {.length = length, .type = kType}).texts.size() == size_t(count));
    for (const double largest : {3e-6, 0.004, 0.05, 1.0, 99.99, 12345.0})
        for (const bool is_signed : {false, true}) {
            const ColorBar bar = range_bar(signed_colormap(false), largest, is_signed);
            const ColorBarShape shape = shape_of(bar, {.length = 130.0, .type = kType});
            double behind = -1;
            for (const ColorBarShape::Text& t : shape.texts) {
                const double wide = text_width(t.text, kType, t.face),
                             left = t.at.x - wide * (t.align == Align::left     ? 0
                                                     : t.align == Align::center ? 0.5
                                                                                : 1);
                INFO(largest << ": " << t.text);
                CHECK(left > behind);
                behind = left + wide;
            }
            CHECK(behind <= 130.0 + 0.01);
        }
}

TEST_CASE("a mark stays at a color bar") {
    ColorBar bar = range_bar(signed_colormap(false), 1);
    for (const auto& [place, x] : {std::pair{-2.0f, 0.0}, {0.25f, 25.0}, {7.0f, 100.0}}) {
        bar.marked = place;
        const auto mark = shape_of(bar, {.length = 100}).mark;
        REQUIRE(mark);
        CHECK((*mark)[2].x == doctest::Approx(x));
    }
}

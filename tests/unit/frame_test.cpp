// Tests what a frame draws: tiles that differ from the previous one, lines as strips or as a picture.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "gpu/tiles.h"
#include "paint/curve_picture.h"
#include "paint/ribbon.h"

using namespace headlight;

namespace {

size_t area_of(const std::vector<PixelBox>& boxes) {
    size_t area = 0;
    for (const PixelBox& b : boxes) area += size_t(b.right - b.left) * (b.bottom - b.top);
    return area;
}

bool covers(const std::vector<PixelBox>& boxes, int x, int y) {
    for (const PixelBox& b : boxes)
        if (x >= b.left && x < b.right && y >= b.top && y < b.bottom) return true;
    return false;
}

/// Returns what a frame of some boxes changes, each with its look.
std::vector<PixelBox> changed_by(Tiles& tiles, const std::vector<std::pair<PixelBox, uint64_t>>& drawn) {
    tiles.begin(200, 100);
    for (const auto& [box, look] : drawn) tiles.add(box, look);
    return tiles.changed();
}

}  // namespace

TEST_CASE("a frame redraws exactly the tiles that changed") {
    Tiles tiles;
    const PixelBox window{0, 0, 200, 100}, here{40, 40, 50, 70}, there{150, 10, 199, 20};
    CHECK(changed_by(tiles, {{here, 1}, {there, 2}}) == std::vector{window});
    CHECK(changed_by(tiles, {{here, 1}, {there, 2}}).empty());
    CHECK(changed_by(tiles, {{here, 3}, {there, 2}}) == std::vector{PixelBox{32, 32, 64, 96}});
    CHECK(changed_by(tiles, {{here, 3}}) == std::vector{PixelBox{128, 0, 200, 32}});
    CHECK(changed_by(tiles, {{here, 3}}).empty());
    SUBCASE("drawing order matters") {
        changed_by(tiles, {{here, 1}, {here, 2}});
        CHECK(changed_by(tiles, {{here, 2}, {here, 1}}).size() == 1);
        CHECK(changed_by(tiles, {{here, 2}, {here, 1}, {here, 1}}).size() == 1);
    }
    SUBCASE("a box that ends at a tile's edge does not reach into the next") {
        CHECK(changed_by(tiles, {{{32, 32, 64, 64}, 1}, {{40, 64, 50, 70}, 4}}) ==
              std::vector{PixelBox{32, 32, 64, 96}});
        CHECK(changed_by(tiles, {{{32, 32, 64, 64}, 2}, {{40, 64, 50, 70}, 4}}) ==
              std::vector{PixelBox{32, 32, 64, 64}});
    }
    SUBCASE("everything is new after a resize, and after forget") {
        tiles.forget();
        CHECK(changed_by(tiles, {{here, 3}}) == std::vector{window});
        tiles.begin(201, 100);
        tiles.add(here, 3);
        CHECK(tiles.changed() == std::vector{PixelBox{0, 0, 201, 100}});
    }
}

TEST_CASE("changes are covered by a few disjoint boxes") {
    std::mt19937 random(7);
    Tiles tiles;
    constexpr int kWide = 1000, kHigh = 700, kSide = Tiles::kSide;
    const auto frame = [&](const std::vector<PixelBox>& boxes) {
        tiles.begin(kWide, kHigh);
        for (const PixelBox& b : boxes) tiles.add(b, 1);
    };
    for (const int count : {1, 3, 20, 300}) {
        CAPTURE(count);
        frame({});
        std::vector<PixelBox> drawn;
        for (int i = 0; i < count; ++i) {
            const int x = int(random() % (kWide - 20)), y = int(random() % (kHigh - 20));
            drawn.push_back({x, y, x + 1 + int(random() % 20), y + 1 + int(random() % 20)});
        }
        frame(drawn);
        const auto boxes = tiles.changed();
        CHECK(boxes.size() <= 24);
        for (const PixelBox& b : drawn) {
            CHECK(covers(boxes, b.left, b.top));
            CHECK(covers(boxes, b.right - 1, b.bottom - 1));
        }
        size_t covered = 0;  // by tile: a pixel of two boxes would be counted once here and twice there
        for (int y = 0; y < kHigh; y += kSide)
            for (int x = 0; x < kWide; x += kSide)
                if (covers(boxes, x, y))
                    covered += size_t(std::min(kSide, kWide - x)) * std::min(kSide, kHigh - y);
        CHECK(covered == area_of(boxes));
        if (count == 1) CHECK(area_of(boxes) <= size_t{4} * kSide * kSide);
    }
}

TEST_CASE("a moving crosshair and its numbers redraw a small part of the window") {
    std::mt19937 random(11);
    Tiles tiles;
    constexpr int kWide = 1600, kHigh = 1000, kLeft = 420, kTop = 160, kSide = 750;
    const auto frame = [&](int x, int y, uint64_t numbers) {
        tiles.begin(kWide, kHigh);
        tiles.add({0, 0, kWide, kHigh}, 1);
        tiles.add({kLeft - 110, y - 9, kLeft, y + 9}, 2);  // the row's name
        tiles.add({x, kTop - 90, x + 64, kTop}, 3);        // the column's, leaning
        tiles.add({kLeft, y, kLeft + kSide, y + 1}, 4);
        tiles.add({x, kTop, x + 1, kTop + kSide}, 5);
        for (int line = 0; line < 26; ++line)
            tiles.add({1240 + 20 * (line * 7 % 13), 100 + 24 * line, 1580 - 9 * (line % 4), 118 + 24 * line},
                      numbers + uint64_t(line));
    };
    for (uint64_t move = 0; move < 200; ++move) {
        frame(kLeft + int(random() % kSide), kTop + int(random() % kSide), 100 * move);
        const auto boxes = tiles.changed();
        CHECK(boxes.size() <= 24);
        if (move > 0) CHECK(area_of(boxes) < size_t{kWide} * kHigh * 35 / 100);
    }
}

TEST_CASE("boxes between two corners are whole pixels within a box; NaN is at its side") {
    const PixelBox window{10, 0, 100, 50};
    CHECK(pixels_between({20.2f, 3.9f}, {30.1f, 4.1f}, window) == PixelBox{20, 3, 31, 5});
    CHECK(pixels_between({-1e9f, -5}, {1e9f, 1e20f}, window) == window);
    CHECK(pixels_between({120, 3}, {130, 4}, window).empty());
    CHECK(pixels_between({std::nanf(""), 3}, {std::nanf(""), 4}, window).empty());
}

TEST_CASE("a curve becomes a strip of few triangles within a third of a pixel") {
    ImGui::CreateContext();
    ImGui::GetIO().Fonts->Build();
    for (const float rise : {0.0f, 3.0f, 40.0f, -700.0f}) {
        CAPTURE(rise);
        ImDrawList list(ImGui::GetDrawListSharedData());
        list._ResetForNewFrame();
        draw_curve(list, {100, 50}, {700, 50 + rise}, IM_COL32_WHITE, 2);
        const int points = list.VtxBuffer.Size / 2;
        REQUIRE(points >= 2);
        CHECK(list.IdxBuffer.Size == 6 * (points - 1));
        CHECK(points <= 40);
        const auto middle = [&](int i) {
            const ImVec2 a = list.VtxBuffer[2 * i].pos, b = list.VtxBuffer[2 * i + 1].pos;
            return ImVec2{(a.x + b.x) / 2, (a.y + b.y) / 2};
        };
        CHECK(middle(0).x == doctest::Approx(100));
        CHECK(middle(points - 1).y == doctest::Approx(50 + rise));
        double farthest = 0;
        for (int step = 0; step <= 2000; ++step) {  // of the curve from the strip's middle line
            const double t = step / 2000.0, v = 1 - t;
            const double x = 100 + 600 * (3 * v * v * t * 0.45 + 3 * v * t * t * 0.55 + t * t * t),
                         y = 50 + double(rise) * (3 * t * t - 2 * t * t * t);
            double nearest = 1e9;
            for (int i = 0; i + 1 < points; ++i) {
                const ImVec2 a = middle(i), b = middle(i + 1);
                const double dx = double(b.x - a.x), dy = double(b.y - a.y);
                const double along = std::clamp(
                    ((x - double(a.x)) * dx + (y - double(a.y)) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
                nearest =
                    std::min(nearest, std::hypot(x - double(a.x) - along * dx, y - double(a.y) - along * dy));
            }
            farthest = std::max(farthest, nearest);
        }
        CHECK(farthest < 1.0 / 3);
    }
    ImGui::DestroyContext();
}

TEST_CASE("a line that turns back at every point keeps its width") {
    ImGui::CreateContext();
    ImGui::GetIO().Fonts->Build();
    ImDrawList list(ImGui::GetDrawListSharedData());
    list._ResetForNewFrame();
    std::vector<ImVec2> zigzag;
    for (int i = 0; i < 20; ++i) zigzag.push_back({3.0f * float(i), i % 2 ? 100.0f : 0.0f});
    draw_polyline(list, zigzag, IM_COL32_WHITE, 2);
    double covered = 0, length = 0;
    for (int i = 0; i + 2 < list.IdxBuffer.Size; i += 3) {
        const auto at = [&](int corner) { return list.VtxBuffer[list.IdxBuffer[i + corner]].pos; };
        const ImVec2 a = at(0), b = at(1), c = at(2);
        covered += std::abs(double((b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y))) / 2;
    }
    for (size_t i = 1; i < zigzag.size(); ++i)
        length += std::hypot(double(zigzag[i].x - zigzag[i - 1].x), double(zigzag[i].y - zigzag[i - 1].y));
    CHECK(covered >= 1.99 * length);
    ImGui::DestroyContext();
}

namespace {

/// Returns the height and slope at x of a curve from (0, 0) to (across, rise), by bisection.
std::pair<double, double> height_at(double x, double across, double rise) {
    const auto place = [&](double t) {
        const double v = 1 - t;
        return across * (3 * v * v * t * 0.45 + 3 * v * t * t * 0.55 + t * t * t);
    };
    const auto height = [&](double t) { return rise * (3 * t * t - 2 * t * t * t); };
    double low = 0, high = 1;
    for (int i = 0; i < 60; ++i) (place((low + high) / 2) < x ? low : high) = (low + high) / 2;
    constexpr double kStep = 1e-5;
    return {height(low),
            (height(low + kStep) - height(low - kStep)) / (place(low + kStep) - place(low - kStep))};
}

int red_of(const CurvePixels& p, int x, int y) {
    return int(p.pixels()[size_t(y) * size_t(p.width()) + size_t(x)] >> IM_COL32_R_SHIFT & 255);
}

}  // namespace

TEST_CASE("a curve's pixels follow its formula and cover its width") {
    constexpr int kWide = 300, kHigh = 240;
    CurvePixels p;
    for (const double rise : {0.0, 3.0, 60.0, -150.0})
        for (const double width : {1.0, 2.5, 6.0}) {
            p.begin(kWide, kHigh, IM_COL32_BLACK, 0, kWide);
            p.draw({float(120 - rise / 2), float(120 + rise / 2), IM_COL32_WHITE, float(width)});
            for (const int x : {3, 75, 150, 225, 290}) {
                CAPTURE(rise);
                CAPTURE(width);
                CAPTURE(x);
                double covered = 0, moment = 0;
                for (int y = 0; y < kHigh; ++y) {
                    covered += red_of(p, x, y) / 255.0;
                    moment += (y + 0.5) * red_of(p, x, y) / 255.0;
                }
                const auto [height, slope] = height_at(x + 0.5, kWide, rise);
                const double share = covered / (width * std::hypot(1, slope));
                CHECK(std::abs(share - 1) < (width < 2 ? 0.12 : 0.06));  // of few pixels
                CHECK(std::abs(moment / covered - (120 - rise / 2 + height)) < 0.1);
            }
        }
}

TEST_CASE("curves blend in order, end between pixels and are clipped to the picture") {
    CurvePixels p;
    p.begin(40, 20, IM_COL32(100, 0, 0, 255), 10.25f, 30.5f);
    const ImU32 half_white = IM_COL32(255, 255, 255, 128);
    p.draw({10, 10, half_white, 4});
    const double share = 128 / 255.0, once = 100 + 155 * share, twice = once + (255 - once) * share;
    CHECK(std::abs(red_of(p, 20, 9) - once) <= 1);
    CHECK(red_of(p, 20, 6) == 100);
    CHECK(red_of(p, 9, 9) == 100);
    CHECK(std::abs(red_of(p, 10, 9) - (100 + 155 * share * 0.75)) <= 1);
    CHECK(std::abs(red_of(p, 30, 9) - (100 + 155 * share * 0.5)) <= 1);
    CHECK(red_of(p, 31, 9) == 100);
    p.draw({10, 10, half_white, 4});
    CHECK(std::abs(red_of(p, 20, 9) - twice) <= 1);
    const std::vector<ImU32> before(p.pixels().begin(), p.pixels().end());
    p.draw({-50, -50, half_white, 4});
    p.draw({1e6f, 1e6f, half_white, 4});
    CHECK(std::equal(before.begin(), before.end(), p.pixels().begin()));
    p.draw({-1e6f, 1e6f, half_white, 4});
    CHECK(std::all_of(p.pixels().begin(), p.pixels().end(),
                      [](ImU32 c) { return c >> IM_COL32_A_SHIFT == 255; }));
}

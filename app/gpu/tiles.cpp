#include "gpu/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace headlight {

namespace {

constexpr size_t kMostBoxes = 16;  // each is drawn by itself
constexpr size_t kMostRuns = 48;   // that are joined pair by pair

/// Also of what is no number: then the lower bound.
int within(float v, int low, int high) { return v > float(low) ? v < float(high) ? int(v) : high : low; }

int area(const PixelBox& b) { return (b.right - b.left) * (b.bottom - b.top); }

/// Joins the two boxes that take least more room together, and those that their box meets.
void join_nearest(std::vector<PixelBox>& boxes) {
    size_t first = 0, second = 1;
    int least = std::numeric_limits<int>::max();
    for (size_t i = 0; i < boxes.size(); ++i)
        for (size_t j = i + 1; j < boxes.size(); ++j)
            if (const int more = area(around(boxes[i], boxes[j])) - area(boxes[i]) - area(boxes[j]);
                more < least)
                std::tie(least, first, second) = std::tuple(more, i, j);
    PixelBox joined = around(boxes[first], boxes[second]);
    for (size_t count = 0; count != boxes.size();) {
        count = boxes.size();
        std::erase_if(boxes, [&](const PixelBox& b) {
            const bool taken = meet(b, joined);
            if (taken) joined = around(joined, b);
            return taken;
        });
    }
    boxes.push_back(joined);
}

}  // namespace

PixelBox common(const PixelBox& a, const PixelBox& b) {
    return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
            std::min(a.bottom, b.bottom)};
}

PixelBox around(const PixelBox& a, const PixelBox& b) {
    return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
            std::max(a.bottom, b.bottom)};
}

PixelBox pixels_between(ImVec2 low, ImVec2 high, const PixelBox& box) {
    return {within(std::floor(low.x), box.left, box.right), within(std::floor(low.y), box.top, box.bottom),
            within(std::ceil(high.x), box.left, box.right), within(std::ceil(high.y), box.top, box.bottom)};
}

void Tiles::begin(int width, int height) {
    const bool same = width == width_ && height == height_;
    width_ = width;
    height_ = height;
    across_ = (width + kSide - 1) / kSide;
    down_ = (height + kSide - 1) / kSide;
    if (same)
        std::swap(now_, before_);
    else
        before_.clear();
    now_.assign(size_t(across_) * down_, 0);
}

void Tiles::add(const PixelBox& box, uint64_t look) {
    if (box.empty()) return;
    const int left = box.left / kSide, right = (box.right - 1) / kSide, bottom = (box.bottom - 1) / kSide;
    for (int row = box.top / kSide; row <= bottom; ++row)
        for (int column = left; column <= right; ++column) {
            uint64_t& tile = now_[size_t(row) * across_ + column];
            tile = Fingerprint(tile).with(look).value();
        }
}

bool Tiles::differs(int column, int row) const {
    const size_t i = size_t(row) * across_ + column;
    return now_[i] != before_[i];
}

PixelBox Tiles::pixels(int left, int top, int right, int bottom) const {
    return {left * kSide, top * kSide, std::min(right * kSide, width_), std::min(bottom * kSide, height_)};
}

/// Tiles that differ, joined over up to `apart` that do not; runs in the same columns one under another are
/// one box.
std::vector<PixelBox> Tiles::runs(int apart) const {
    std::vector<PixelBox> out, above;  // above: boxes that reach down to this row
    for (int row = 0; row < down_; ++row) {
        std::vector<PixelBox> here;
        for (int column = 0; column < across_; ++column) {
            if (!differs(column, row)) continue;
            if (!here.empty() && column - here.back().right <= apart)
                here.back().right = column + 1;
            else
                here.push_back({column, row, column + 1, row + 1});
        }
        for (PixelBox& run : here) {
            const auto same = [&](const PixelBox& b) { return b.left == run.left && b.right == run.right; };
            const auto over = std::find_if(above.begin(), above.end(), same);
            if (over == above.end()) continue;
            run.top = over->top;
            above.erase(over);
        }
        out.insert(out.end(), above.begin(), above.end());
        above = std::move(here);
    }
    out.insert(out.end(), above.begin(), above.end());
    return out;
}

std::vector<PixelBox> Tiles::changed() const {
    const PixelBox all{0, 0, width_, height_};
    if (all.empty()) return {};
    if (before_.size() != now_.size()) return {all};
    std::vector<PixelBox> boxes;
    for (const int apart : {1, 2, 4, across_}) {
        boxes = runs(apart);
        if (boxes.size() <= kMostRuns) break;
    }
    while (boxes.size() > kMostBoxes) join_nearest(boxes);
    for (PixelBox& b : boxes) b = pixels(b.left, b.top, b.right, b.bottom);
    return boxes;
}

}  // namespace headlight

#include "gpu/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headlight {

namespace {

constexpr size_t kMaxBoxes = 24;  // each is drawn separately
constexpr size_t kMaxRuns = 48;   // they are merged pairwise

/// Clamps to a range; NaN becomes the lower bound.
int within(float v, int low, int high) { return v > float(low) ? v < float(high) ? int(v) : high : low; }

int area(const PixelBox& b) { return (b.right - b.left) * (b.bottom - b.top); }

/// The merged box of two, and of all boxes that it meets; how many tiles or pixels it adds.
struct Joined {
    PixelBox box;
    int more = 0;
};

Joined join(const std::vector<PixelBox>& boxes, size_t first, size_t second) {
    Joined j{around(boxes[first], boxes[second]), 0};
    const auto holds = [](const PixelBox& box, const PixelBox& b) { return around(box, b) == box; };
    for (bool grows = true; grows;) {
        grows = false;
        for (const PixelBox& b : boxes)
            if (meet(b, j.box) && !holds(j.box, b)) {
                j.box = around(j.box, b);
                grows = true;
            }
    }
    j.more = area(j.box);
    for (const PixelBox& b : boxes)
        if (meet(b, j.box)) j.more -= area(b);
    return j;
}

/// Merges the two boxes that add the least area, with all boxes that theirs meets: an arm of a cross between
/// two others would otherwise turn them into the whole cross.
void join_nearest(std::vector<PixelBox>& boxes) {
    Joined min{{}, std::numeric_limits<int>::max()};
    for (size_t i = 0; i < boxes.size(); ++i)
        for (size_t j = i + 1; j < boxes.size(); ++j) {
            const int alone = area(around(boxes[i], boxes[j])) - area(boxes[i]) - area(boxes[j]);
            if (alone >= min.more) continue;
            if (const Joined joined = join(boxes, i, j); joined.more < min.more) min = joined;
        }
    std::erase_if(boxes, [&](const PixelBox& b) { return meet(b, min.box); });
    boxes.push_back(min.box);
}

/// Merges a box with the one of `above` that ends where it begins, if that adds little and meets no other.
void grow_down(PixelBox& box, std::vector<PixelBox>& above, const std::vector<PixelBox>& here,
               const std::vector<PixelBox>& out) {
    constexpr int kMore = 4;  // tiles
    for (size_t i = 0; i < above.size(); ++i) {
        const PixelBox joined = around(above[i], box);
        if (area(joined) - area(above[i]) - area(box) > kMore) continue;
        const auto met = [&](const std::vector<PixelBox>& boxes) {
            return std::count_if(boxes.begin(), boxes.end(),
                                 [&](const PixelBox& b) { return meet(b, joined); });
        };
        if (met(above) > 1 || met(here) > 1 || met(out) > 0) continue;
        box = joined;
        above.erase(above.begin() + std::ptrdiff_t(i));
        return;
    }
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
    const PixelBox tiles = touched_by(box);
    for (int row = tiles.top; row < tiles.bottom; ++row)
        for (int column = tiles.left; column < tiles.right; ++column) {
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

/// Changed tiles, merged across up to `apart` unchanged ones; similar runs of consecutive rows become a box.
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
        for (PixelBox& run : here) grow_down(run, above, here, out);
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
        if (boxes.size() <= kMaxRuns) break;
    }
    while (boxes.size() > kMaxBoxes) join_nearest(boxes);
    for (PixelBox& b : boxes) b = pixels(b.left, b.top, b.right, b.bottom);
    return boxes;
}

}  // namespace headlight

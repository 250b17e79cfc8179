#include "paint/curve_picture.h"

#include <algorithm>
#include <cmath>

#include "paint/ribbon.h"

namespace headlight {

namespace {

/// The curve's parameter at a horizontal position, by Newton's method: its horizontal speed is at least 0.8.
CurvePoint point_across(float across) {
    constexpr int kSteps = 5;
    float t = across;
    for (int i = 0; i < kSteps; ++i) {
        const CurvePoint p = curve_at(t);
        t = std::clamp(t - (p.across - across) / p.across_by_t, 0.0f, 1.0f);
    }
    return curve_at(t);
}

/// Blends two colors, by `share` of 256: two channels at a time, each with room for its product.
ImU32 mixed(ImU32 under, ImU32 over, uint32_t share) {
    constexpr uint32_t kEven = 0x00FF00FF, kHalf = 0x00800080;
    const uint32_t rest = 256 - share;
    const uint32_t even = ((over & kEven) * share + (under & kEven) * rest + kHalf) >> 8 & kEven,
                   odd = ((over >> 8 & kEven) * share + (under >> 8 & kEven) * rest + kHalf) & ~kEven;
    return even | odd;
}

/// A height in whole rows, clamped to them; the first for NaN.
int row_at(float y, int rows) { return y > 0 ? y < float(rows) ? int(y) : rows : 0; }

uint64_t look_of(const PixelBox& box, float left, float right, std::span<const LevelCurve> curves,
                 ImU32 back) {
    Fingerprint look;
    look.with(box).with(left).with(right).with(uint64_t{back});
    for (const LevelCurve& c : curves) look.with(c.from).with(c.to).with(uint64_t{c.color}).with(c.width);
    return look.value();
}

}  // namespace

void CurvePixels::begin(int width, int height, ImU32 back, float left, float right) {
    width_ = width;
    height_ = height;
    pixels_.assign(size_t(width) * size_t(height), back | IM_COL32_A_MASK);
    columns_.clear();
    const float span = std::max(right - left, 1.0f);
    for (int x = 0; x < width; ++x) {
        const auto begin = float(x), end = begin + 1;
        const CurvePoint p = point_across(std::clamp((begin + 0.5f - left) / span, 0.0f, 1.0f));
        columns_.push_back({p.rise, p.rise_by_t / p.across_by_t / span,
                            std::clamp(std::min(end, right) - std::max(begin, left), 0.0f, 1.0f)});
    }
}

void CurvePixels::draw(const LevelCurve& curve) {
    const float rise = curve.to - curve.from;
    for (int x = 0; x < width_; ++x)
        draw_column(x, curve.from + rise * columns_[x].rise, rise * columns_[x].slope, curve);
}

/// A strip of width w covers w / cos of a column; its edges fade over a pixel across it.
void CurvePixels::draw_column(int column, float middle, float slope, const LevelCurve& curve) {
    constexpr float kWhole = 256.0f / 255;
    const float share = float(curve.color >> IM_COL32_A_SHIFT) * kWhole * columns_[column].covered,
                across = 1 / std::sqrt(1 + slope * slope), half = std::max(curve.width, 1.0f) / 2 + 0.5f,
                reach = half / across;
    const int first = row_at(middle - reach + 0.5f, height_), end = row_at(middle + reach + 0.5f, height_);
    ImU32* at = pixels_.data() + size_t(first) * size_t(width_) + size_t(column);
    for (int y = first; y < end; ++y, at += width_) {
        const float covered = std::clamp(half - std::abs(float(y) + 0.5f - middle) * across, 0.0f, 1.0f);
        *at = mixed(*at, curve.color | IM_COL32_A_MASK, uint32_t(covered * share + 0.5f));
    }
}

void CurvePicture::draw(ImDrawList& list, const PixelBox& box, float left, float right,
                        std::span<const LevelCurve> curves, ImU32 back) {
    if (box.empty()) return;
    const uint64_t look = look_of(box, left, right, curves, back);
    if (!texture_ || look != look_) {
        const auto begin = float(box.left), top = float(box.top);
        pixels_.begin(box.right - box.left, box.bottom - box.top, back, left - begin, right - begin);
        for (const LevelCurve& c : curves) pixels_.draw({c.from - top, c.to - top, c.color, c.width});
        texture_.set_pixels(pixels_.width(), pixels_.height(), pixels_.pixels().data());
        look_ = look;
    }
    list.AddImage(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(texture_.id())),
                  {float(box.left), float(box.top)}, {float(box.right), float(box.bottom)});
}

}  // namespace headlight

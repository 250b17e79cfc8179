// Records where texts are drawn, for tests.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "paint/text.h"

namespace headlight {

namespace {

constexpr float kCapital = 0.36f;  // half the height of a capital, relative to the font's size
constexpr float kMayLeave = 2;     // points of a text that may be cut off unseen

std::string layer_of(const ImDrawList& list) {
    return std::string(list._OwnerName ? list._OwnerName : "") + "/" +
           std::to_string(list._Splitter._Current);
}

/// Returns the smallest upright box around the turned one.
ImVec4 box_around(const DrawnText& d) {
    const float cos = std::cos(d.angle), sin = std::sin(d.angle), x = d.box.x, y = (d.box.y + d.box.w) / 2;
    ImVec4 out{FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (const float right : {0.0f, d.box.z - d.box.x})
        for (const float down : {d.box.y - y, d.box.w - y}) {
            const float at_x = x + right * cos - down * sin, at_y = y + right * sin + down * cos;
            out = {std::min(out.x, at_x), std::min(out.y, at_y), std::max(out.z, at_x),
                   std::max(out.w, at_y)};
        }
    return out;
}

/// Returns whether a part is seen and a part is not, though it should be.
bool is_cut(const DrawnText& d, TextPainter::MayCut may, float slack) {
    const ImVec4 b = box_around(d), &s = d.seen;
    const bool seen = b.z > s.x && b.x < s.z && b.w > s.y && b.y < s.w,
               beside = b.x < s.x - slack || b.z > s.z + slack, over = b.y < s.y - slack || b.w > s.w + slack;
    return seen &&
           ((beside && may != TextPainter::MayCut::words) || (over && may == TextPainter::MayCut::nothing));
}

}  // namespace

void TextPainter::note(ImVec2 at, Font font, std::string_view text, const Measured& measured, float angle) {
    const float half = kCapital * font.points * scale_;
    const ImVec2 min = list_->GetClipRectMin(), max = list_->GetClipRectMax();
    drawn_.push_back({std::string(text),
                      {at.x, at.y - half, at.x + measured.pixels, at.y + half},
                      angle,
                      {min.x, min.y, max.x, max.y},
                      layer_of(*list_),
                      false,
                      false,
                      shortened_.contains(std::string(text))});
    drawn_.back().cut = is_cut(drawn_.back(), may_cut_, kMayLeave * scale_);
}

void TextPainter::cover(ImVec2 min, ImVec2 max) {
    if (!notes_) return;
    const ImVec2 clip_min = list_->GetClipRectMin(), clip_max = list_->GetClipRectMax();
    min = {std::max(min.x, clip_min.x), std::max(min.y, clip_min.y)};
    max = {std::min(max.x, clip_max.x), std::min(max.y, clip_max.y)};
    const std::string layer = layer_of(*list_);
    const auto hides = [&](DrawnText& d) {
        const ImVec4 seen{std::max(d.box.x, d.seen.x), std::max(d.box.y, d.seen.y),
                          std::min(d.box.z, d.seen.z), std::min(d.box.w, d.seen.w)};
        if (d.angle != 0 || d.layer != layer || std::min(seen.z, max.x) - std::max(seen.x, min.x) <= 1 ||
            std::min(seen.w, max.y) - std::max(seen.y, min.y) <= 1)
            return false;
        d.covered = true;
        return seen.x >= min.x && seen.y >= min.y && seen.z <= max.x && seen.w <= max.y;
    };
    std::erase_if(drawn_, hides);
}

}  // namespace headlight

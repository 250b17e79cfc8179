// Records where texts are drawn, for tests.
#include <algorithm>

#include "paint/text.h"

namespace headlight {

namespace {

constexpr float kCapital = 0.36f;  // half the height of a capital, relative to the font's size

std::string layer_of(const ImDrawList& list) {
    return std::string(list._OwnerName ? list._OwnerName : "") + "/" +
           std::to_string(list._Splitter._Current);
}

}  // namespace

void TextPainter::note(ImVec2 at, Font font, std::string_view text, const Measured& measured, float angle) {
    const float half = kCapital * font.points * scale_;
    const ImVec2 min = list_->GetClipRectMin(), max = list_->GetClipRectMax();
    drawn_.push_back({std::string(text),
                      {at.x, at.y - half, at.x + measured.pixels, at.y + half},
                      angle,
                      {min.x, min.y, max.x, max.y},
                      layer_of(*list_)});
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

#include "window/slide_pictures.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/cast.h"
#include "gpu/framebuffer.h"
#include "panels/present.h"

namespace headlight {

namespace {

constexpr size_t kMaxPictures = 400;

using MeanColor = std::array<unsigned char, 3>;

/// The mean color of a part of the pixels.
MeanColor mean_of(const std::vector<unsigned char>& pixels, int width, int height, Rect r) {
    const int x0 = std::clamp(int(r.x), 0, width - 1), x1 = std::clamp(int(r.right()), x0 + 1, width),
              y0 = std::clamp(int(r.y), 0, height - 1), y1 = std::clamp(int(r.bottom()), y0 + 1, height);
    std::array<unsigned, 3> sums{};
    for (int y = y0; y < y1; ++y)
        for (int x = x0; x < x1; ++x) {
            const unsigned char* pixel = &pixels[(size_t(height - 1 - y) * size_t(width) + size_t(x)) * 4];
            for (int c = 0; c < 3; ++c) sums[size_t(c)] += pixel[2 - c];
        }
    const unsigned count = unsigned((x1 - x0) * (y1 - y0));
    MeanColor out;
    for (size_t c = 0; c < 3; ++c) out[c] = static_cast<unsigned char>(sums[c] / count);
    return out;
}

MeanColor rgb_of(ImU32 color) {
    return {static_cast<unsigned char>(color >> IM_COL32_R_SHIFT),
            static_cast<unsigned char>(color >> IM_COL32_G_SHIFT),
            static_cast<unsigned char>(color >> IM_COL32_B_SHIFT)};
}

}  // namespace

RgbImage shrunk_part(const std::vector<unsigned char>& pixels, int width, int height, Rect part,
                     std::pair<int, int> size, ImU32 around) {
    RgbImage out{size.first, size.second, {}};
    const float pitch = std::max(part.w / float(out.width), part.h / float(out.height));
    const float left = part.middle_x() - pitch * float(out.width) / 2,
                top = part.middle_y() - pitch * float(out.height) / 2;
    for (int y = 0; y < out.height; ++y)
        for (int x = 0; x < out.width; ++x) {
            const Rect cell{left + pitch * float(x), top + pitch * float(y), pitch, pitch};
            const bool inside = part.contains(cell.middle());
            const MeanColor color = inside ? mean_of(pixels, width, height, cell) : rgb_of(around);
            out.rgb.insert(out.rgb.end(), color.begin(), color.end());
        }
    return out;
}

bool SlidePictures::is_due() const {
    const Session& s = state_.session;
    const bool shown = state_.shown() && state_.answer->picture && !state_.worker->busy() &&
                       !state_.answer->measures() && state_.dim == 0;
    const bool whole = !s.presenting || (s.revealed == kReveals && !s.blank);
    return s.pictures_slide && s.slide >= 0 && s.slide < isize(s.document.slides) && shown && whole &&
           !s.sheet && !s.selection.hovered.cell;
}

void SlidePictures::take(const std::vector<unsigned char>& pixels, int width, int height) {
    Session& s = state_.session;
    s.pictures_slide = false;
    const Ui& ui = *state_.ui;
    auto place = ui.widgets.find("slide");
    if (place == ui.widgets.end()) place = ui.widgets.find("center");
    if (place == ui.widgets.end()) return;
    const std::pair size{int(std::lround(kThumbWide * ui.scale)), int(std::lround(kThumbHigh * ui.scale))};
    const RgbImage image = shrunk_part(pixels, width, height, ui.pixels(place->second), size, ui.colors->bg1);
    auto& all = state_.pictures.slides;
    if (all.size() >= kMaxPictures) all.clear();
    all[card_of(s.document.slides[size_t(s.slide)]).picture] =
        Texture::of_rgb(image.width, image.height, image.rgb.data());
    state_.want_frames(1);
}

void SlidePictures::update() {
    if (!is_due()) return;
    int width = 0, height = 0;
    glfwGetFramebufferSize(state_.window, &width, &height);
    if (width <= 0 || height <= 0) return;
    const Framebuffer target(width, height);
    frame_.draw();
    take(target.pixels(), width, height);
}

}  // namespace headlight

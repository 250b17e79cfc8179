// The visible part of a view that is larger than its area.
#pragma once

#include <algorithm>
#include <optional>

namespace headlight {

/// Zoom and scroll position in points. The wheel and commands change them; drawing sets the size and clamps.
struct Viewport {
    float zoom = 1, min = 1, max = 1;  // relative to fitting; equal bounds disable zooming
    float x = 0, y = 0;                // hidden at the left and top
    float wide = 0, high = 0;          // size of the area
    float across = 60, down = 60;      // scroll step
    /// Is a part of the content, in shares of its size, that drawing shows once.
    struct Part {
        float x0 = 0, y0 = 0, x1 = 1, y1 = 1;
    };
    std::optional<Part> wanted = {};

    bool zooms() const { return min < max; }
    /// Zooms within the range; the point of the area under the mouse stays in place.
    void zoom_to(float wanted, float at_x, float at_y) {
        const float before = zoom;
        zoom = std::clamp(wanted, min, max);
        x = (x + at_x) * zoom / before - at_x;
        y = (y + at_y) * zoom / before - at_y;
    }
    /// Zooms about the center of the area.
    void zoom_to(float wanted) { zoom_to(wanted, wide / 2, high / 2); }
    /// Scrolls by steps, or by pages that overlap by one step.
    void scroll(float right, float below) {
        x += right * across;
        y += below * down;
    }
    void page(float right, float below) {
        x += right * std::max(across, wide - across);
        y += below * std::max(down, high - down);
    }
    /// Zooms so that the wanted part fits, …
    void zoom_to_wanted() {
        if (wanted) zoom = 1 / std::max({wanted->x1 - wanted->x0, wanted->y1 - wanted->y0, 1e-6f});
    }
    /// … and scrolls to it in content of this size.
    void scroll_to_wanted(float content_wide, float content_high) {
        if (!wanted) return;
        x = wanted->x0 * content_wide;
        y = wanted->y0 * content_high;
        wanted.reset();
    }
    /// Clamps the scroll position to the content's size.
    void keep_within(float content_wide, float content_high) {
        x = std::clamp(x, 0.0f, std::max(0.0f, content_wide - wide));
        y = std::clamp(y, 0.0f, std::max(0.0f, content_high - high));
    }
};

inline constexpr float kEnlargedByStep = 1.2f;  // by a step of the wheel, and by the command

}  // namespace headlight

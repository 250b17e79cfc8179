// What is seen of a picture that is larger than its room.
#pragma once

#include <algorithm>

namespace headlight {

/// How far a picture is enlarged and scrolled, in points. The wheel and commands move it; drawing says how
/// large its room is, and brings it back into its range.
struct Viewport {
    float zoom = 1, min = 1, max = 1;  // of what fits; with one bound alone it cannot be enlarged
    float x = 0, y = 0;                // what lies hidden at the left and above
    float wide = 0, high = 0;          // of the room
    float across = 60, down = 60;      // what a step scrolls

    bool zooms() const { return min < max; }
    /// Enlarges, as far as its range goes; what lies at a place of the room stays there.
    void zoom_to(float wanted, float at_x, float at_y) {
        const float before = zoom;
        zoom = std::clamp(wanted, min, max);
        x = (x + at_x) * zoom / before - at_x;
        y = (y + at_y) * zoom / before - at_y;
    }
    /// The same about the middle of the room.
    void zoom_to(float wanted) { zoom_to(wanted, wide / 2, high / 2); }
    /// Scrolls by steps, and by rooms, of which a step stays in sight.
    void scroll(float right, float below) {
        x += right * across;
        y += below * down;
    }
    void page(float right, float below) {
        x += right * std::max(across, wide - across);
        y += below * std::max(down, high - down);
    }
    /// No more is hidden than there is of a content so large.
    void keep_within(float content_wide, float content_high) {
        x = std::clamp(x, 0.0f, std::max(0.0f, content_wide - wide));
        y = std::clamp(y, 0.0f, std::max(0.0f, content_high - high));
    }
};

inline constexpr float kEnlargedByStep = 1.2f;  // by a step of the wheel, and by the command

}  // namespace headlight

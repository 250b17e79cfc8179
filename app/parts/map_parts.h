// What maps share: the color bar, the crosshair.
#pragma once

#include <optional>

#include "figure/color_bar.h"
#include "paint/layout.h"
#include "paint/toolbar.h"
#include "parts/scene.h"

namespace headlight {

/// How the weights of the shown picture are colored; and those of one row alone, up to its own largest.
Shades shown_shades(const Scene& scene);
Shades row_shades(const Scene& scene, int query);

/// The choice of the contrast.
void choose_contrast(Scene& scene, Toolbar& bar);

/// The color bar of a map: upright in a tall rectangle, level in a wide one.
void draw_color_bar(Ui& ui, const ColorBar& bar, Rect at);
/// Where it lies under a map, at most as far as `right`, or stands so far beside it; and how much room it
/// takes there.
Rect level_bar(const Grid& map, float right);
Rect upright_bar(const Grid& map, float away);
inline constexpr float kLevelBarRoom = gap::medium + float(kLevelBarHeight) * 13,
                       kUprightBarRoom = float(kUprightBarWidth) * 13;

/// Lines along the row and the column of a cell, and a frame around it where it is large enough.
struct Crosshair {
    Rect map, cell;
    ImU32 row, column, ink;  // colors of its lines, 0: none, and of the frame
    float frame = 2;         // its width
};
void draw_crosshair(Ui& ui, const Crosshair& cross);

}  // namespace headlight

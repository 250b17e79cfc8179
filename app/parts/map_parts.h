// Draws what maps share: the color bar, the crosshair.
#pragma once

#include "figure/color_bar.h"
#include "paint/layout.h"
#include "paint/toolbar.h"
#include "parts/scene.h"

namespace headlight {

/// The color scale of the shown pattern; or of one row, up to its largest weight.
Shades shown_shades(const Scene& scene);
/// Returns the colors of the picture: the chosen ones, or those of signed values.
const Colormap& shown_colormap(const Scene& scene);
Shades row_shades(const Scene& scene, int query);

void choose_contrast(Scene& scene, Toolbar& bar);

/// Draws the color bar of a map: vertical in a tall rectangle, horizontal in a wide one.
void draw_color_bar(Ui& ui, const ColorBar& bar, Rect at);
/// The place of a color bar under a map, ending at `right`; or `away` to its right; and its size there.
Rect level_bar(const Grid& map, float right);
Rect upright_bar(const Grid& map, float away);
inline constexpr float kLevelBarRoom = gap::medium + float(kLevelBarHeight) * 13,
                       kUprightBarRoom = float(kUprightBarWidth) * 13;

/// Lines along the row and the column of a cell, and a frame around it if it is large enough.
struct Crosshair {
    Rect map, cell;
    ImU32 row, column, ink;  // colors of its lines, 0: none, and of the frame
    float frame = 2;         // its width
};
void draw_crosshair(Ui& ui, const Crosshair& cross);

}  // namespace headlight

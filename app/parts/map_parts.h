// What maps of tokens by tokens share: color bars, the crosshair, labels that lean.
#pragma once

#include <optional>

#include "paint/toolbar.h"
#include "parts/scene.h"

namespace headlight {

/// How the weights of the shown picture are colored; and those of one row alone, up to its own largest.
Shades shown_shades(const Scene& scene);
Shades row_shades(const Scene& scene, int query);

/// The choice of the contrast.
void choose_contrast(Scene& scene, Toolbar& bar);

/// The color bar beside a map of weights: five ticks with the weights that stand there, and a mark at the
/// shown weight's place, 0 … 1.
void draw_weight_bar(Scene& scene, Rect bar, const Shades& shades, std::optional<float> marked);

/// The color bar under a map, from 0 or −largest to largest, and a mark at a place, 0 … 1.
struct RangeBar {
    Rect at;
    const Colormap& colors;
    float largest = 1;
    int digits = 2;
    bool is_signed = false;
    std::optional<float> marked = std::nullopt;
};
void draw_range_bar(Ui& ui, const RangeBar& bar);

/// Lines along the row and the column of a cell, and a frame around it where it is large enough.
struct Crosshair {
    Rect map, cell;
    ImU32 row, column, ink;  // colors of its lines, 0: none, and of the frame
    float frame = 2;         // its width
};
void draw_crosshair(Ui& ui, const Crosshair& cross);

/// A label that leans upwards from where it begins, or downwards; on `back` where that is a color.
void draw_slanted(Ui& ui, ImVec2 from, ImU32 ink, const std::string& label, ImU32 back = 0,
                  bool down = false);
/// How high a label of this width leans.
inline float slanted_height(float width) { return width * 0.7071f; }

}  // namespace headlight

// The parts of the diagram of a model.
#pragma once

#include "views/parts.h"

namespace headlight {

/// The number of a kind of attention, in the diagram and over its map.
void draw_kind_number(Ui& ui, ImVec2 at, int number);

/// The kinds of attention of the chosen layer, side by side.
void draw_layer_maps(Scene& scene, Rect area);

}  // namespace headlight

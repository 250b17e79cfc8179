// What the model generates, in the window: the bar of steps, and what an alignment shows of it.
#pragma once

#include "views/parts.h"

namespace headlight {

/// Whether the model that is open can generate tokens.
bool offers_generation(const Scene& scene);

/// What stood to choice at a step, most probable first; and whether a token is the one that was written
/// there.
std::vector<Prediction> choices_at(const Scene& scene, int step);
bool is_written(const Scene& scene, int step, int id);

/// Puts a token in the place of the one at a step; the model goes on from there.
void go_on_from(const Scene& scene, int step, int id);

/// The bar under the center, where something is written; it lists the choices unless the view does.
float generation_bar_height(const Scene& scene, bool shows_others);
void draw_generation_bar(Scene& scene, Rect area, bool shows_others);

}  // namespace headlight

// What the model generates, as views show it.
#pragma once

#include "parts/controls.h"

namespace headlight {

/// Whether the model that is open can generate tokens.
bool offers_generation(const Scene& scene);

/// What stood to choice at a step, most probable first; and whether a token is the one that was written
/// there.
std::vector<Prediction> choices_at(const Scene& scene, int step);
bool is_written(const Scene& scene, int step, int id);

/// Puts a token in the place of the one at a step; the model goes on from there.
void go_on_from(const Scene& scene, int step, int id);

}  // namespace headlight

// Reads and edits the generated text, for views.
#pragma once

#include "parts/controls.h"

namespace headlight {

/// True if the open model can generate tokens.
bool can_generate(const Scene& scene);

/// The alternatives at a step, most probable first; and whether a token is the one generated there.
std::vector<Prediction> alternatives_at(const Scene& scene, int step);
bool is_generated(const Scene& scene, int step, int id);

/// Replaces the token at a step, and regenerates what follows.
void continue_from(const Scene& scene, int step, int id);

}  // namespace headlight

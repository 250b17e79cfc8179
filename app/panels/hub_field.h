// "Get a model": a name on the Hugging Face hub, models to begin with, and how far what is fetched is.
#pragma once

#include "parts/scene.h"

namespace headlight {

/// How high it is.
float hub_field_height(const Scene& scene);

/// At the foot of the models' sheet.
void draw_hub_field(Scene& scene, Rect r);

}  // namespace headlight

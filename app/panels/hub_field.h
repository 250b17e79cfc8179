// "Download a model": its ID on the Hugging Face hub, models to start with, and progress.
#pragma once

#include "parts/scene.h"

namespace headlight {

/// Height of the field.
float hub_field_height(const Scene& scene);

/// Draws it at the bottom of the models sheet.
void draw_hub_field(Scene& scene, Rect r);

}  // namespace headlight

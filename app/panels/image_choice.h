// The image that a vision–language model reads beside the text.
#pragma once

#include "parts/scene.h"

namespace headlight {

/// Draws at the right of a line what opens an image, or the image and what closes it.
void draw_image_choice(Scene& scene, Rect& line);

}  // namespace headlight

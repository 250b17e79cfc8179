// What a vision model reads, with its patches.
#pragma once

#include "views/scene.h"

namespace headlight {

void draw_picture(Scene& scene, Rect area);

}  // namespace headlight

// F1: lists what keys do, from the table of commands.
#pragma once

#include "parts/scene.h"

namespace headlight {

void draw_help(Scene& scene, Rect window);

}  // namespace headlight

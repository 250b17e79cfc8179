// A field for a text in any script.
#pragma once

#include "parts/scene.h"

namespace headlight {

/// Draws a text field and answers to the mouse; `path` names its widget.
void draw_text_field(Scene& scene, TextField& field, const char* path, Rect r, const char* placeholder);

}  // namespace headlight

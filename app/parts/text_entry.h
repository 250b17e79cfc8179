// Draws a field for text in any script.
#pragma once

#include "parts/scene.h"

namespace headlight {

/// Draws a text field and handles the mouse; `path` names its widget.
void draw_text_field(Scene& scene, TextField& field, const char* path, Rect r, const char* placeholder);

}  // namespace headlight

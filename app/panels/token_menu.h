// The menu of a token, wherever its label is drawn.
#pragma once

#include "parts/token_place.h"

namespace headlight {

void draw_token_menu(Scene& scene, Rect window);

/// Opening it, and its own commands: copying and counting.
std::vector<Command> token_commands();

}  // namespace headlight

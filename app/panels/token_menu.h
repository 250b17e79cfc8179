// The menu of a token, wherever its label stands.
#pragma once

#include "parts/token_place.h"

namespace headlight {

void draw_token_menu(Scene& scene, Rect window);

/// Opening it, and what it does beyond the commands of others: copying and counting.
std::vector<Command> token_commands();

}  // namespace headlight

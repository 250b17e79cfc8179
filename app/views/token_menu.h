// The menu of a token, wherever its label stands.
#pragma once

#include "views/parts.h"

namespace headlight {

/// A token of what one stack reads.
struct TokenPlace {
    int stack = 0, position = 0;
    bool operator==(const TokenPlace&) const = default;
};

struct TokenMenu {
    TokenPlace of;
    ImVec2 at{-1, -1};  // where the mouse pressed; −1: beside the token's chip
};

/// Opens the menu where a token's label is pressed with the right button.
void offer_token_menu(Scene& scene, bool hovered, TokenPlace token);
void draw_token_menu(Scene& scene, Rect window);

/// Opening it, and what it does beyond the commands of others: copying and counting.
std::vector<Command> token_commands();

}  // namespace headlight

// A token under the mouse: where it stands, and the menu that its label opens.
#pragma once

#include "parts/controls.h"

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

}  // namespace headlight

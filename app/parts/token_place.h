// Opens the menu of a token.
#pragma once

#include "parts/controls.h"

namespace headlight {

struct TokenPlace {
    int stack = 0, position = 0;
    bool operator==(const TokenPlace&) const = default;
};

struct TokenMenu {
    TokenPlace of;
    ImVec2 at{-1, -1};  // position of the click; −1: beside the token's chip
};

/// Opens the menu if the hovered token is right-clicked.
void offer_token_menu(Scene& scene, bool hovered, TokenPlace token);

}  // namespace headlight

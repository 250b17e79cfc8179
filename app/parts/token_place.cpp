#include "parts/token_place.h"

namespace headlight {

void offer_token_menu(Scene& s, bool hovered, TokenPlace token) {
    if (s.ui.on_page() || !hovered || !ImGui::IsMouseClicked(1)) return;
    s.of<TokenMenu>() = {token, s.ui.mouse};
    s.send("token menu", "here");
}

}  // namespace headlight

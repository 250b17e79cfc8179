// What opens over the window.
#pragma once

#include <string>
#include <vector>

#include "hub/library.h"
#include "parts/scene.h"

namespace headlight {

struct ModelMenu {
    std::string path;               // as typed
    std::vector<FoundModel> found;  // models on this computer, once they were looked for
    bool found_all = false;
    float scroll = 0;
};

/// Where the selected head gets a label by hand.
struct LabelMenu {
    std::string typed;
};

/// What a file of text that was dropped is to be.
void draw_text_file_menu(Scene& scene, Rect window);
void draw_menus(Scene& scene, Rect window);

}  // namespace headlight

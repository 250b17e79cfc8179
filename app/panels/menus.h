// What opens over the window.
#pragma once

#include <string>
#include <vector>

#include "parts/model_names.h"
#include "parts/scene.h"

namespace headlight {

/// Where the selected head gets a label by hand.
struct LabelMenu {
    std::string typed;
};

/// What a file of text that was dropped is to be.
void draw_text_file_menu(Scene& scene, Rect window);
void draw_menus(Scene& scene, Rect window);

}  // namespace headlight

// What opens over the window.
#pragma once

#include <string>
#include <vector>

#include "model/library.h"
#include "views/scene.h"

namespace headlight {

struct ModelMenu {
    std::string path;               // as typed
    std::vector<FoundModel> found;  // models on this computer, once they were looked for
    bool found_all = false;
    float scroll = 0;
};

/// The name of the model at a path, as it was opened or found; the disk is not asked for it.
std::string shown_model_name(const Scene& scene, const std::string& path);

/// Where the selected head gets a label by hand.
struct LabelMenu {
    std::string typed;
};

/// What a file of text that was dropped is to be.
void draw_text_file_menu(Scene& scene, Rect window);
void draw_menus(Scene& scene, Rect window);

}  // namespace headlight

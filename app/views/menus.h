// What opens over the window.
#pragma once

#include <map>
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
    std::map<std::string, std::string> names;  // of paths, once each: finding one out asks the disk
};

/// The name of the model at a path, which the disk is asked for once.
const std::string& shown_model_name(Scene& scene, const std::string& path);

/// Where the selected head gets a label by hand.
struct LabelMenu {
    std::string typed;
};

/// What a file of text that was dropped is to be.
void draw_text_file_menu(Scene& scene, Rect window);
void draw_menus(Scene& scene, Rect window);

}  // namespace headlight

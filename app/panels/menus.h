// The sheets over the window.
#pragma once

#include <string>
#include <vector>

#include "parts/model_names.h"
#include "parts/scene.h"

namespace headlight {

/// State of the sheet that labels the selected head.
struct LabelMenu {
    std::string typed;
};

/// State of the sheet that lists the steps of undo.
struct HistoryMenu {
    float scroll = 0;
};
void draw_history_menu(Scene& scene, Rect window);

/// State of the sheet that asks what a dropped text file is.
void draw_text_file_menu(Scene& scene, Rect window);
void draw_menus(Scene& scene, Rect window);

}  // namespace headlight

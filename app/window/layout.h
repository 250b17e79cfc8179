// Lays out the parts of the window.
#pragma once

#include <utility>

#include "parts/scene.h"

namespace headlight {

struct LayoutState {
    bool inspector_over = false;     // narrow windows: whether the inspector is shown
    std::pair<float, float> center;  // size of the view in points: the size of its page
};

void draw_parts(Scene& scene, Rect window);

}  // namespace headlight

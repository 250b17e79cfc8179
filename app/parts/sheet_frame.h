// Draws a panel over the window.
#pragma once

#include <imgui.h>

#include "parts/scene.h"

namespace headlight {

/// In the order of Sheet.
inline constexpr const char* kSheetNames[] = {"models", "compared models", "settings", "save",  "label",
                                              "keys",   "palette",         "metric",   "token", "text file",
                                              "history"};

/// Redirects drawing to the panel while it lives. A click outside, or Esc, closes the panel.
class SheetFrame {
public:
    SheetFrame(Scene& s, const char* name, Rect r);
    ~SheetFrame();
    SheetFrame(const SheetFrame&) = delete;
    SheetFrame& operator=(const SheetFrame&) = delete;

private:
    Scene& s_;
    ImDrawList* below_;
};

}  // namespace headlight

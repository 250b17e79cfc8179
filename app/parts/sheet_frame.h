// A panel over the window.
#pragma once

#include <imgui.h>

#include "parts/scene.h"

namespace headlight {

/// By their places in Sheet.
inline constexpr const char* kSheetNames[] = {"models", "compared models", "settings", "save",  "label",
                                              "keys",   "palette",         "metric",   "token", "text file"};

/// A click that begins and ends outside closes it, and so does Esc. What is drawn while it lives is drawn on
/// it.
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

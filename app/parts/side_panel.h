// Lays out the panel right of a view.
#pragma once

#include "paint/layout.h"
#include "parts/scene.h"

namespace headlight {

/// Scrolling lines between the title and the button "Save figure…". Call `finish` at the end.
class SidePanel : public Column {
public:
    /// Whether it begins with the result of the active interventions.
    enum class Top { none, result };
    /// `foot`: height reserved at the bottom for buttons of the view.
    SidePanel(Scene& scene, Rect area, float foot = 0, Top top = Top::result);
    /// The scroll offset, and the bottom in scrolled coordinates: filling up to it does not cause scrolling.
    float hidden() const { return hidden_; }
    float end() const { return end_ - hidden_; }
    void finish();
    /// Begins a fold below a hairline: its heading, and the name of its values. Returns whether to draw its
    /// lines.
    bool fold(const std::string& key, const std::string& title, const std::string& right = "");
    bool fold(const std::string& title) { return fold(title, title); }
    /// Draws "red attends to" above its keys.
    void attends_to(const std::string& token);

private:
    Scene& scene_;
    Rect save_, seen_;
    float end_, hidden_;
    float first_ = y;  // the middle of the first line, unscrolled
};

/// The column of the panel's lines, and the button at the bottom.
Rect panel_column(Rect area);
Rect panel_foot(Rect area);

}  // namespace headlight

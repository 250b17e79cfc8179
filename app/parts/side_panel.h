// Lays out the panel right of a view.
#pragma once

#include "paint/layout.h"
#include "parts/scene.h"

namespace headlight {

/// Scrolling lines between the title and the button "Save figure…". Call `finish` at the end.
class SidePanel : public Column {
public:
    /// Whether it begins with the result of the active interventions.
    enum class Fold { none, result };
    /// `foot`: height reserved at the bottom for buttons of the view.
    SidePanel(Scene& scene, Rect area, float foot = 0, Fold fold = Fold::result);
    /// The scroll offset, and the bottom in scrolled coordinates: filling up to it does not cause scrolling.
    float hidden() const { return hidden_; }
    float end() const { return end_ - hidden_; }
    void finish();

private:
    Scene& scene_;
    Rect save_, seen_;
    float end_, hidden_;
};

/// The column of the panel's lines, and the button at the bottom.
Rect panel_column(Rect area);
Rect panel_foot(Rect area);

}  // namespace headlight

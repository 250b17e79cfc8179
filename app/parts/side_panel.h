// The panel right of a view.
#pragma once

#include "paint/layout.h"
#include "parts/scene.h"

namespace headlight {

/// Lines from under the title down to above the foot, where "Save figure…" stands; they scroll where they are
/// more. `finish` ends it.
class SidePanel : public Column {
public:
    /// `foot`: how much of the panel's bottom is taken by buttons of the view.
    SidePanel(Scene& scene, Rect area, float foot = 0);
    /// How far its lines are scrolled, and where they end, which moves with them: what fills the panel to
    /// there does not make it scroll.
    float hidden() const { return hidden_; }
    float end() const { return end_ - hidden_; }
    void finish();

private:
    Scene& scene_;
    Rect save_, seen_;
    float end_, hidden_;
};

/// The room of the panel's lines, and of the button at its foot.
Rect panel_column(Rect area);
Rect panel_foot(Rect area);

}  // namespace headlight

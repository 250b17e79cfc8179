// The panel right of a view.
#pragma once

#include "paint/layout.h"
#include "views/scene.h"

namespace headlight {

/// Lines from under the title down, clipped above the foot, where "Save figure…" stands. `finish` ends it.
class SidePanel : public Column {
public:
    /// `foot`: how much of the panel's bottom is taken by buttons of the view.
    SidePanel(Scene& scene, Rect area, float foot = 0);
    float end() const { return end_; }
    void finish();

private:
    Scene& scene_;
    Rect save_;
    float end_;
};

/// The room of the panel's lines, and of the button at its foot.
Rect panel_column(Rect area);
Rect panel_foot(Rect area);

}  // namespace headlight

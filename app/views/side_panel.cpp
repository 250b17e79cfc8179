#include "views/side_panel.h"

namespace headlight {

namespace {
constexpr float kFirstLine = 74, kFoot = 48;
}

Rect panel_column(Rect area) { return inset(area, size::inspector_pad, 0); }

Rect panel_foot(Rect area) {
    const Rect column = panel_column(area);
    return {column.x, area.bottom() - kFoot, column.w, size::button};
}

SidePanel::SidePanel(Scene& scene, Rect area, float foot)
    : Column(scene.ui, panel_column(area), area.y + kFirstLine),
      scene_(scene),
      save_(panel_foot(area)),
      end_(save_.y - foot - gap::small) {
    ui.clip({area.x, area.y, area.w, end_ - area.y});
}

void SidePanel::finish() {
    ui.unclip();
    if (ui.button("save", save_, "Save figure…")) scene_.send("save figure");
}

}  // namespace headlight

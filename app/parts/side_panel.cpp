#include "parts/side_panel.h"

#include "parts/controls.h"
#include "parts/result.h"

namespace headlight {

namespace {
constexpr float kPanelFirstLine = 74, kPanelFoot = 48;

struct PanelScroll {
    float hidden = 0;  // of the lines
};
}  // namespace

Rect panel_column(Rect area) { return inset(area, size::inspector_pad, 0); }

Rect panel_foot(Rect area) {
    const Rect column = panel_column(area);
    return {column.x, area.bottom() - kPanelFoot, column.w, size::button};
}

SidePanel::SidePanel(Scene& scene, Rect area, float foot, Fold fold)
    : Column(scene.ui, panel_column(area), area.y + kPanelFirstLine),
      scene_(scene),
      save_(panel_foot(area)),
      end_(save_.y - foot - gap::small),
      hidden_(scene.of<PanelScroll>().hidden) {
    const float top = area.y + size::view_header + ui.line();
    seen_ = {area.x, top, area.w, end_ - top};
    y -= hidden_;
    ui.scroll_area(seen_);
    if (fold == Fold::result) draw_result_fold(scene, *this);
}

void SidePanel::finish() {
    constexpr float kAfterLast = 12;  // from the last line's foot to the middle of the next
    ui.end_scroll_area();
    scene_.of<PanelScroll>().hidden = scrolled(ui, seen_, y + hidden_ - kAfterLast - seen_.y, hidden_);
    if (ui.button("save", save_, "Save figure…")) scene_.send("save figure");
}

}  // namespace headlight

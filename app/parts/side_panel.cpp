#include "parts/side_panel.h"

#include "parts/controls.h"
#include "parts/fold.h"
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

SidePanel::SidePanel(Scene& scene, Rect area, float foot, Top top)
    : Column(scene.ui, panel_column(area), area.y + kPanelFirstLine),
      scene_(scene),
      save_(panel_foot(area)),
      end_(save_.y - foot - gap::small),
      hidden_(scene.of<PanelScroll>().hidden) {
    const float under = area.y + size::view_header + ui.line();
    seen_ = {area.x, under, area.w, end_ - under};
    y -= hidden_;
    ui.scroll_area(seen_);
    if (top == Top::result) draw_result_fold(scene, *this);
    if (y + hidden_ <= first_ + 1) return;
    rule();
    first_ = y + hidden_;
}

bool SidePanel::fold(const std::string& key, const std::string& title, const std::string& right) {
    constexpr float kAbove = 28, kBelow = 32;
    if (y + hidden_ > first_ + 1) {
        ui.hairline(at.x, y, at.right(), y);
        skip(kAbove);
    }
    Rect heading = line();
    const bool open = turn_fold(scene_, heading, key);
    if (open && !right.empty()) {
        const Rect named = take_right(heading, ui.text.width(kCaption, right), gap::small);
        ui.explain("number/" + right, named);
        caption(ui, named, right, Flush::right);
    }
    write(ui, heading, kBody, ui.colors->t1, title);
    skip(kBelow);
    return open;
}

void SidePanel::attends_to(const std::string& token) {
    constexpr float kRaised = 7, kBelow = 24;
    skip(-kRaised);
    Rect said = line();
    const float named = ui.text.width(kCaption, "attends to") + gap::close;
    take_left(
        said,
        write(ui, {said.x, said.y, said.w - named, said.h}, kCaptionMono, ui.colors->accent_text, token),
        gap::close);
    write(ui, said, kCaption, ui.colors->t2, "attends to");
    skip(kBelow);
}

void SidePanel::finish() {
    constexpr float kAfterLast = 12;  // from the last line's foot to the middle of the next
    ui.end_scroll_area();
    scene_.of<PanelScroll>().hidden = scrolled(ui, seen_, y + hidden_ - kAfterLast - seen_.y, hidden_);
    if (ui.button("save", save_, "Save figure…")) scene_.send("save figure");
}

}  // namespace headlight

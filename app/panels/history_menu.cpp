// Lists the steps of the undo history, newest first; a click goes there.
#include "paint/layout.h"
#include "panels/menus.h"
#include "parts/controls.h"
#include "parts/sheet_frame.h"

namespace headlight {

namespace {

constexpr float kStepRow = size::row, kStepNumber = 36;

/// Draws the row of the state after a step. Those undone are pale, the present one is marked.
void draw_step(Scene& s, Rect r, size_t step, const std::string& name) {
    Ui& ui = s.ui;
    const size_t now = s.session.document.history.steps();
    const std::string path = "history/" + std::to_string(step);
    const Hit h = ui.control(path, r);
    if (step == now)
        ui.fill(r, ui.colors->accent_fill, size::corner);
    else if (h.hovered)
        ui.fill(r, ui.colors->bg3, size::corner);
    Rect line = inset(r, gap::small, 0);
    const std::string number = step == 0 ? "" : std::to_string(step);
    write(ui, take_left(line, kStepNumber), kCaptionMono, ui.colors->t3, number);
    if (step == now) {
        const std::string present = "now";
        const float width = ui.text.width(kCaption, present);
        write(ui, take_right(line, width, gap::small), kCaption, ui.colors->accent_text, present);
    }
    const ImU32 ink = step == now ? ui.colors->accent_text : step > now ? ui.colors->t3 : ui.colors->t1;
    write(ui, line, kBody, ink, name);
    if (h.clicked && step != now) s.send("history go", std::to_string(step));
}

}  // namespace

void draw_history_menu(Scene& s, Rect window) {
    constexpr float kWide = 440, kTop = 104, kTitleLine = 52, kFoot = 12;
    Ui& ui = s.ui;
    const std::vector<std::string> names = s.session.document.history.names();
    const float rows = kStepRow * float(names.size() + 1), around = kTitleLine + kFoot;
    const float high = std::min(rows + around, window.h - kTop - gap::section);
    const Rect r{window.right() - gap::large - kWide, window.y + kTop, kWide, high};
    SheetFrame sheet(s, "history menu", r);
    Rect rest = inset(r, gap::medium, 0);
    const Rect title = inset(take_top(rest, kTitleLine), gap::small, 0);
    take_bottom(rest, kFoot);
    write(ui, title, kTitle, ui.colors->t1, "History");
    write(ui, title, kCaptionMono, ui.colors->t3, "F4", Flush::right);
    float& scroll = s.of<HistoryMenu>().scroll;
    scroll = scrolled(ui, rest, rows, scroll, 2 * kStepRow);
    const Grid grid{rest, isize(names) + 1, 1, rest.w - gap::small, kStepRow, 0, scroll};
    ui.scroll_area(rest);
    for (int i = 0; i < grid.rows; ++i) {
        if (!grid.touches_row(i)) continue;
        const size_t step = names.size() - size_t(i);
        draw_step(s, grid.cell(i, 0), step, step > 0 ? names[step - 1] : "Back to the start");
    }
    ui.end_scroll_area();
}

}  // namespace headlight

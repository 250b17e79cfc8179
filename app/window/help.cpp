#include "window/help.h"

#include <algorithm>
#include <cmath>

#include "session/command.h"
#include "views/sheet_frame.h"
#include "window/commands.h"

namespace headlight {

namespace {

constexpr float kLine = 24, kHeading = 34, kKeys = 176, kColumn = 520, kTop = 64, kPad = 24, kFoot = 40;

float height_of(const HelpGroup& group) { return kHeading + kLine * float(group.lines.size()) + 14; }

/// How many groups stand in the left of two columns, so that both are about as high.
size_t split(const std::vector<HelpGroup>& groups) {
    float all = 0, left = 0;
    for (const HelpGroup& g : groups) all += height_of(g);
    size_t count = 0;
    while (count < groups.size() && left + height_of(groups[count]) / 2 < all / 2)
        left += height_of(groups[count++]);
    return count;
}

float draw_group(Ui& ui, float x, float y, float column, const HelpGroup& group) {
    ui.text.draw(x, y + kHeading / 2, kBody, ui.colors->t3, group.title);
    y += kHeading;
    for (const auto& [keys, help] : group.lines) {
        ui.text.draw(x, y + kLine / 2, kCaptionMono, ui.colors->accent_text, keys);
        ui.text.draw(x + kKeys, y + kLine / 2, kCaption, ui.colors->t1,
                     ui.text.fitted(kCaption, help, column - (kKeys + 16)));
        y += kLine;
    }
    return y + 14;
}

}  // namespace

void draw_help(Scene& s, Rect window) {
    if (!s.session.shows(Sheet::help)) return;
    Ui& ui = s.ui;
    const auto groups = key_help(commands());
    const size_t left = split(groups);
    float high[2] = {0, 0};
    for (size_t i = 0; i < groups.size(); ++i) high[i < left ? 0 : 1] += height_of(groups[i]);
    const float column = std::min(kColumn, (window.w - (2 * kPad + 32)) / 2), w = 2 * kPad + 2 * column,
                h = kTop + std::max(high[0], high[1]) + kFoot;
    const Rect r{ui.whole(window.middle_x() - w / 2), ui.whole(std::max(0.0f, window.middle_y() - h / 2)), w,
                 h};
    SheetFrame sheet(s, "help", r);
    const float x = r.x + kPad;
    ui.text.draw(x, r.y + 32, kTitle, ui.colors->t1, "Keys");
    ui.text.draw_right(r.right() - kPad, r.y + 32, kCaption, ui.colors->t3,
                       "Ctrl+K finds every command, with a key or without");
    float y[2] = {r.y + kTop, r.y + kTop};
    for (size_t i = 0; i < groups.size(); ++i) {
        const int side = i < left ? 0 : 1;
        y[side] = draw_group(ui, x + column * float(side), y[side], column, groups[i]);
    }
    ui.text.draw(x, r.bottom() - 24, kCaption, ui.colors->t3,
                 "Any letter types into the text. Arrows and digits act while no text has the keyboard; Esc "
                 "leaves it.");
}

}  // namespace headlight

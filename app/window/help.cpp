#include "window/help.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "parts/sheet_frame.h"
#include "session/commands/command.h"
#include "window/commands.h"

namespace headlight {

namespace {

constexpr float kLine = 24, kMinLine = 15, kTop = 64, kPad = 24, kFoot = 40, kBetween = 36;

float height_of(const HelpGroup& group, float line) {
    return line * (float(group.lines.size()) + 2);  // a heading, and the gap to the next group
}

/// The number of groups in the left of two columns, to balance their heights.
size_t split(const std::vector<HelpGroup>& groups) {
    float all = 0, left = 0;
    for (const HelpGroup& g : groups) all += height_of(g, 1);
    size_t count = 0;
    while (count < groups.size() && left + height_of(groups[count], 1) / 2 < all / 2)
        left += height_of(groups[count++], 1);
    return count;
}

/// Draws groups one below the other, as wide as their widest keys and help.
struct HelpColumn {
    std::span<const HelpGroup> groups;
    float keys = 0, words = 0;

    HelpColumn(Ui& ui, std::span<const HelpGroup> of) : groups(of) {
        for (const HelpGroup& group : groups)
            for (const auto& [pressed, help] : group.lines) {
                keys = std::max(keys, ui.text.width(kCaptionMono, pressed) + 16);
                words = std::max(words, ui.text.width(kCaption, help) + 1);
            }
    }
    float width() const { return keys + words; }
    float height(float line) const {
        float out = 0;
        for (const HelpGroup& group : groups) out += height_of(group, line);
        return out;
    }
    void draw(Ui& ui, float x, float y, float line) const {
        for (const HelpGroup& group : groups) {
            ui.text.draw(x, y + line / 2, kBody, ui.colors->t3, group.title);
            for (const auto& [pressed, help] : group.lines) {
                y += line;
                ui.text.draw(x, y + line / 2, kCaptionMono, ui.colors->accent_text, pressed);
                ui.text.draw(x + keys, y + line / 2, kCaption, ui.colors->t1,
                             ui.text.fitted(kCaption, help, words));
            }
            y += 2 * line;
        }
    }
};

}  // namespace

void draw_help(Scene& s, Rect window) {
    if (!s.session.shows(Sheet::help)) return;
    Ui& ui = s.ui;
    const auto groups = key_help(commands());
    const size_t parted = split(groups);
    const HelpColumn left(ui, std::span(groups).first(parted));
    HelpColumn right(ui, std::span(groups).subspan(parted));
    right.words = std::min(right.words, window.w - 2 * kPad - kBetween - left.width() - right.keys);
    const auto high = [&](float line) {
        return kTop + std::max(left.height(line), right.height(line)) + kFoot;
    };
    float line = kLine;
    while (line > kMinLine && high(line) > window.h) line -= 1;
    const float w = 2 * kPad + left.width() + kBetween + right.width(), h = high(line);
    const Rect r{ui.whole(window.middle_x() - w / 2), ui.whole(std::max(0.0f, window.middle_y() - h / 2)), w,
                 h};
    ui.fill(window, IM_COL32(0, 0, 0, ui.colors->dark ? 150 : 90));
    SheetFrame sheet(s, "help", r);
    const float x = r.x + kPad, top = r.y + kTop;
    ui.text.draw(x, r.y + 32, kTitle, ui.colors->t1, "Keys");
    ui.text.draw_right(r.right() - kPad, r.y + 32, kCaption, ui.colors->t3,
                       "Ctrl+K finds every command, even those without a key");
    left.draw(ui, x, top, line);
    right.draw(ui, x + left.width() + kBetween, top, line);
    ui.text.draw(x, r.bottom() - 24, kCaption, ui.colors->t3,
                 "Letters type into the text. Arrows and digits are commands while no text field has focus; "
                 "Esc leaves the field.");
}

}  // namespace headlight

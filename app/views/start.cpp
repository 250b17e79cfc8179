// What stands in the center while there is no sentence; and the three hints of the first start.
#include "base/cast.h"
#include "paint/layout.h"
#include "session/examples.h"
#include "views/panels.h"
#include "views/views.h"

namespace headlight {

namespace {

/// A sentence, and under it why one may want it; whether it was pressed.
bool draw_choice(Scene& s, const std::string& path, Rect r, const std::string& text, const std::string& why) {
    constexpr float kAbove = 6;
    Ui& ui = s.ui;
    const Hit h = ui.control(path, r);
    ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    if (h.hovered) ui.frame(r, ui.colors->l2, 1, size::corner);
    const Rect inside = inset(r, gap::large, why.empty() ? 0 : kAbove);
    const int lines = why.empty() ? 1 : 2;
    write(ui, nth_row(inside, 0, lines), kBody, ui.colors->t1, text);
    if (lines == 2) caption(ui, nth_row(inside, 1, lines), why);
    return h.clicked;
}

struct Card {
    const char *title, *text;
};
constexpr Card kCards[] = {
    {"Type anything", "Every view follows each key press."},
    {"Pick a head", "Each small square is one head. Arrow keys move between them."},
    {"Point at a cell", "Its numbers appear on the right. Click locks the cell, Esc unlocks it."}};

constexpr float kCardTop = 14, kCardLine = 24, kCardMargin = 14;  // of a card: its title's line, its text
constexpr float kCardNumber = 50;                                 // its text begins behind this

/// A card and the line that ties it to what it speaks of.
void draw_card(Ui& ui, int number, Rect r, ImVec2 from, ImVec2 to) {
    constexpr float kTieEnd = 3.5f, kDisc = 12, kDiscRoom = 52;
    ui.stroke(from, to, ui.colors->accent, 2);
    ui.disc(to, kTieEnd, ui.colors->accent);
    ui.fill(r, ui.colors->dark ? ui.colors->bg3 : ui.colors->bg2, size::popup_corner);
    ui.frame(r, ui.colors->accent, 1, size::popup_corner);
    const ImVec2 disc{r.x + kDiscRoom / 2, r.y + kDiscRoom / 2};
    ui.disc(disc, kDisc, ui.colors->accent);
    ui.text.draw_centered(disc.x, disc.y, kBody, ui.colors->on_accent, std::to_string(number + 1));
    Rect inside = r;
    take_left(inside, kCardNumber);
    take_right(inside, kCardMargin);
    take_top(inside, kCardTop);
    write(ui, take_top(inside, kCardLine, 2), kBody, ui.colors->t1, kCards[number].title);
    ui.text.draw_wrapped(inside.x, inside.y, inside.w, kCaption, ui.colors->t2, kCards[number].text);
    ui.name("hint/" + std::to_string(number + 1), r);
    ui.cover(r);
}

/// What to do while a vision model has no picture.
void draw_start_picture(Scene& s, Rect area) {
    constexpr float kWide = 520, kHigh = 150, kTop = 80, kLine = 32, kAbove = 36;
    Ui& ui = s.ui;
    Rect rest = inset(area, std::max(size::center_pad, (area.w - kWide) / 2), 0);
    take_top(rest, kTop);
    const Rect r = take_top(rest, kHigh, gap::large);
    ui.frame(r, ui.colors->l2, 1, size::popup_corner);
    Rect inside = inset(r, gap::large, kAbove);
    write(ui, take_top(inside, kLine), kTitle, ui.colors->t1, "Drop an image here", Flush::center);
    write(ui, take_top(inside, kLine), kBody, ui.colors->t2, "or type its path above. PNG and JPEG are read.",
          Flush::center);
    if (!s.answer->text_error.empty())
        ui.text.draw_wrapped(rest.x, rest.y, rest.w, kBody, ui.colors->warning, s.answer->text_error);
    ui.name("start picture", r);
}

/// Sentences to begin with, as many as there is room for; returns the room under them.
Rect draw_samples(Scene& s, Rect rest) {
    constexpr float kHigh = 56, kHeading = 26, kUnder = 13, kRecent = 40;
    write(s.ui, take_top(rest, kHeading, kUnder), kBody, s.ui.colors->t1, "Sentences to start from");
    const bool translates = s.model() && s.model()->config.can.write_target;
    for (int i = 0, shown = 0; i < isize(examples()); ++i) {
        const Example& example = examples()[i];
        if (example.translate != translates) continue;
        if (rest.h < kHigh + kRecent) break;
        const Rect place = take_top(rest, kHigh, gap::small);
        if (draw_choice(s, "sample/" + std::to_string(shown++), place, example.text, example.why))
            s.send("example", std::to_string(i));
    }
    return rest;
}

void draw_recent(Scene& s, Rect rest) {
    constexpr float kHigh = 36, kHeading = 36;
    Ui& ui = s.ui;
    const auto& recent = s.session.preferences.recent_texts;
    Rect line = take_top(rest, kHeading);
    take_left(line, write(ui, line, kCaption, ui.colors->t3, "Recent"), gap::large);
    if (recent.empty()) write(ui, line, kCaption, ui.colors->t2, "none yet");
    for (size_t i = 0; i < recent.size() && rest.h > kHigh; ++i)
        if (draw_choice(s, "recent/" + std::to_string(i), take_top(rest, kHigh, gap::close), recent[i], ""))
            s.send("text", recent[i]);
}

}  // namespace

void draw_start_sentences(Scene& s, Rect area) {
    constexpr float kWide = 680, kMostLeft = 192, kTop = 41;
    if (s.model() && s.model()->config.can.read_image) return draw_start_picture(s, area);
    Rect rest = area;
    take_top(rest, kTop);
    rest.w = std::min(kWide, area.w - 2 * gap::wide);
    rest.x += std::min(kMostLeft, (area.w - rest.w) / 2);
    rest = draw_samples(s, rest);
    if (rest.h > 0) draw_recent(s, rest);
}

namespace {

/// The last card's button; a press anywhere ends the hints.
void draw_hints_button(Ui& ui, Rect card) {
    constexpr float kWide = 120;
    take_left(card, kCardNumber + gap::tight);
    take_bottom(card, kCardMargin);
    Rect line = take_bottom(card, size::button);
    const Rect button = take_left(line, kWide, gap::medium);
    ui.name("hint/done", button);
    ui.fill(button, ui.colors->dark ? ui.colors->accent : ui.colors->accent_text, size::corner);
    write(ui, button, kBody, ui.colors->on_accent, "Got it", Flush::center);
    caption(ui, line, "shown once");
}

/// Each card beside what it speaks of: the sentence, the grid of heads, the inspector.
void draw_cards(Ui& ui, Rect window, Rect field, Rect grid, Rect title) {
    constexpr float kAlongField = 0.63f, kTieIn = 70, kUnderGrid = 56, kLeastInside = 20;
    constexpr float kThirdLeft = 420, kThirdTop = 318, kFirstTop = 114, kWide = 288, kSecondHigh = 94;
    const ImVec2 kFirst{240, 92}, kThird{272, 150};
    const Rect one{field.x + field.w * kAlongField, window.y + kFirstTop, kFirst.x, kFirst.y};
    draw_card(ui, 0, one, {one.x + kTieIn, one.y}, {one.x + kTieIn, field.bottom()});
    const Rect two{gap::large, grid.bottom() + kUnderGrid, std::min(kWide, title.x - 2 * gap::large),
                   kSecondHigh};
    const float tie = std::min(grid.right() - kLeastInside, two.right() - gap::medium);
    draw_card(ui, 1, two, {tie, two.y}, {tie, grid.bottom() + gap::tight});
    const Rect three{title.x - kThirdLeft, window.y + kThirdTop, kThird.x, kThird.y};
    const float y = three.y + gap::wide;
    draw_card(ui, 2, three, {three.right(), y}, {title.x + kCardMargin, y});
    draw_hints_button(ui, three);
}

}  // namespace

void draw_hints(Scene& s, Rect window) {
    Ui& ui = s.ui;
    if (s.session.preferences.hints_seen || !ui.widgets.count("sentence") || !ui.widgets.count("grid") ||
        !ui.widgets.count("inspector/title") || !s.sentence())
        return;
    ImDrawList* below = ui.list;
    ui.use_list(ImGui::GetForegroundDrawList());
    draw_cards(ui, window, ui.widgets["sentence"], ui.widgets["grid"], ui.widgets["inspector/title"]);
    ui.use_list(below);
}

}  // namespace headlight

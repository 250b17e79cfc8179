// Guides new users below the views: an introduction with three hints, then a card of things to try.
#include <array>

#include "base/cast.h"
#include "paint/layout.h"
#include "panels/panels.h"
#include "parts/controls.h"
#include "session/commands/experiments.h"
#include "session/commands/try_out.h"
#include "session/examples.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kAboveGuide = 8, kHeading = 26, kItems = 54, kDisc = 11, kDiscRoom = 32, kButton = 88;

void draw_number(Ui& ui, ImVec2 center, int number, float radius) {
    ui.disc(center, radius, ui.colors->accent);
    ui.text.draw_centered(center.x, center.y, kCaption, ui.colors->on_accent, std::to_string(number));
}

struct Hint {
    const char *title, *text;
};

/// The hints differ with and without the inspector.
std::array<Hint, 3> hints_of(bool inspector) {
    return {{{"Type anything", "Every view follows each key press."},
             {"Pick a head", "Each small square is one head. Arrow keys move between them."},
             {"Point at a cell",
              inspector ? "Its numbers appear on the right. Click to lock the cell, Esc to unlock it."
                        : "Click to lock the cell; Ctrl+I shows its numbers."}}};
}

void draw_hint(Ui& ui, Rect r, int number, const Hint& hint) {
    ui.name("hint/" + std::to_string(number), r);
    const Rect disc = take_left(r, kDiscRoom);
    draw_number(ui, {disc.x + kDisc, disc.y + kDisc}, number, kDisc);
    write(ui, take_top(r, 2 * kDisc), kBody, ui.colors->t1, hint.title);
    ui.text.draw_wrapped(r.x, r.y, r.w, kCaption, ui.colors->t2, hint.text);
}

/// Marks the place that a hint points at with its number.
void mark(Ui& ui, int number, ImVec2 at) {
    constexpr float kRadius = 7;
    ui.name("hint/mark/" + std::to_string(number), square_at(at, 2 * kRadius));
    draw_number(ui, at, number, kRadius);
}

void draw_marks(Scene& s) {
    Ui& ui = s.ui;
    const Rect field = ui.widgets["sentence"], grid = ui.widgets["grid"];
    mark(ui, 1, {field.x - gap::small, field.middle_y()});
    mark(ui, 2, {grid.right() + size::panel_pad, grid.middle_y()});
    if (const auto title = ui.widgets.find("inspector/title"); title != ui.widgets.end())
        mark(ui, 3, {title->second.x - gap::small, title->second.middle_y()});
}

/// Introduces the program and, if the story is read, what it shows.
void draw_hints(Scene& s, Rect rest) {
    Ui& ui = s.ui;
    Rect line = take_top(rest, kHeading, gap::close);
    const Rect done = take_right(line, kButton, gap::large);
    if (ui.button("hint/done", done, "Got it", Ui::Look::primary)) s.send("guide", "on");
    const std::string what =
        "Headlight shows what every attention head of a language model looks at, while you type.";
    take_left(line, write(ui, line, kBody, ui.colors->t1, what), gap::large);
    const Example& story = examples().front();
    const std::string shows = "Head " + story.head + " shows " + story.why + ".";
    if (s.sentence()->text == story.text && ui.text.width(kCaption, shows) <= line.w)
        caption(ui, line, shows);
    if (rest.h < kItems / 2) return;
    const auto hints = hints_of(ui.widgets.count("inspector/title") > 0);
    for (int i = 0; i < isize(hints); ++i)
        draw_hint(ui, nth_column(rest, i, isize(hints), gap::wide), i + 1, hints[i]);
    draw_marks(s);
}

void draw_try(Scene& s, Rect r, int number, const ThingToTry& thing, bool on) {
    Ui& ui = s.ui;
    const std::string path = "tries/" + std::to_string(number);
    const Hit h = ui.control(path, r);
    ui.fill(r, on ? ui.colors->accent_fill : h.hovered ? ui.colors->bg3 : ui.colors->bg1, size::corner);
    ui.frame(r, on ? ui.colors->accent : ui.colors->l2, 1, size::corner);
    Rect inside = inset(r, gap::close, gap::small);
    const Rect disc = take_left(inside, 2 * kDisc, gap::close);  // seven cards at 1024 keep whole words
    draw_number(ui, {disc.x + kDisc, disc.middle_y()}, number, kDisc);
    const float high = ui.text.draw_wrapped(-1e4f, -1e4f, inside.w, kCaption, ui.colors->t1, thing.title);
    ui.text.draw_wrapped(inside.x, inside.middle_y() - high / 2, inside.w, kCaption,
                         on ? ui.colors->accent_text : ui.colors->t1, thing.title);
    ui.tooltip(path, h, on ? "Active; click again to undo." : thing.see);
    if (h.clicked) s.send("try", thing.commands);
}

/// " ball: 80.4 % → 12.0 %": the effect of the interventions on the prediction.
std::string effect_text(const Scene& s) {
    if (!s.sentence()->unchanged || s.sentence()->effects.empty()) return "";
    const ProbabilityChange& first = s.sentence()->effects[0];
    return " " + first.label + ": " + percent(first.a) + " → " + percent(first.b) + ".";
}

void draw_tries(Scene& s, Rect rest) {
    Ui& ui = s.ui;
    const auto& all = things_to_try();
    std::string see = "Click one to try it; click again to undo.";
    Rect line = take_top(rest, kHeading, gap::close);
    for (int i = 0; i < isize(all); ++i) {
        const bool on = trial_is_active(s.session, all[i].commands);
        if (on) see = all[i].see + effect_text(s);
        draw_try(s, nth_column(rest, i, isize(all), gap::small), i + 1, all[i], on);
    }
    if (ui.link("tries/close", line.right(), line.middle_y(), "Close")) s.send("guide", "off");
    take_right(line, ui.text.width(kCaption, "Close"), gap::large);
    take_left(line, write(ui, line, kBody, ui.colors->t1, "Try"), gap::medium);
    ui.name("tries/see", line);
    caption(ui, line, see);
}

}  // namespace

/// Windows below the minimum height show the introduction without hints.
float guide_height(const Scene& s) {
    constexpr float kMinHigh = 600, kWideTries = 1180, kThreeLines = 16;  // narrow cards have three
    if (s.session.guide == Guide::none || !s.sentence() || !s.sentence()->trace->can_run()) return 0;
    const ImVec2 window = s.ui.points(ImGui::GetIO().DisplaySize);
    const bool tries = s.session.guide == Guide::tries, low = !tries && window.y < kMinHigh;
    const float more = tries && window.x < kWideTries ? kThreeLines : 0;
    return kAboveGuide + kHeading + (low ? 0 : gap::close + kItems + more) + gap::medium;
}

void draw_guide(Scene& s, Rect area) {
    Ui& ui = s.ui;
    ui.fill(area, ui.colors->bg2);
    ui.fill({area.x, area.y, area.w, ui.line()}, ui.colors->accent);
    Rect rest = inset(area, size::panel_pad, 0);
    take_top(rest, kAboveGuide);
    take_bottom(rest, gap::medium);
    s.session.guide == Guide::hints ? draw_hints(s, rest) : draw_tries(s, rest);
}

}  // namespace headlight

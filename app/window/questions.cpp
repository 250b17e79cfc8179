#include "window/questions.h"

#include <algorithm>

#include "base/cast.h"
#include "paint/layout.h"
#include "session/commands/word_parsers.h"
#include "views/doors.h"

namespace headlight {

namespace {

constexpr float kNumber = 18, kBetweenGroups = 28, kBetweenGroupsLow = 24, kUnderline = 2, kFind = 196,
                kFindLow = 156;
constexpr float kMinQuestion = 60;

/// Returns the width of the groups with their digits, `between` apart.
float groups_width(const Ui& ui, float between) {
    float wide = 2 * size::panel_pad;
    for (const GroupRow& group : view_groups()) wide += kNumber + ui.text.width(kBody, group.name) + between;
    return wide;
}

/// Draws the groups, without their digits where these do not fit; returns where they end.
float draw_groups(Scene& s, Rect row, bool low, const Door* on) {
    constexpr float kBetweenBare = 10;
    Ui& ui = s.ui;
    const float usual = low ? kBetweenGroupsLow : kBetweenGroups;
    const bool bare = groups_width(ui, usual) > row.w;
    const float number = bare ? 0 : kNumber, between = bare ? kBetweenBare : usual;
    float x = row.x + (bare ? gap::medium : size::panel_pad);
    for (size_t i = 0; i < view_groups().size(); ++i) {
        const std::string name = view_groups()[i].name;
        const bool shown = on && static_cast<size_t>(on->group) == i;
        const float width = number + ui.text.width(kBody, name);
        const Rect whole = inset({x, row.y, width, row.h}, -std::min(gap::close, between / 2), 0);
        const std::string path = "question/" + lower_case(name);
        const Hit h = ui.control(path, whole);
        if (h.clicked) s.send("question " + lower_case(name));
        if (!bare) ui.text.draw(x, row.middle_y(), kCaptionMono, ui.colors->t3, std::to_string(i + 1));
        ui.text.draw(x + number, row.middle_y(), kBody, shown || h.hovered ? ui.colors->t1 : ui.colors->t2,
                     name);
        if (Rect under = whole; shown) ui.fill(take_bottom(under, kUnderline), ui.colors->accent);
        x += width + between;
    }
    return x;
}

/// Draws a word that opens a view, underlined while the view is shown.
void draw_place(Scene& s, Rect& rest, const std::string& path, const std::string& name,
                const std::string& command, bool on) {
    Ui& ui = s.ui;
    const Rect word = take_right(rest, ui.text.width(kBody, name), gap::wide);
    const Hit h = ui.control(path, inset(word, -gap::small, 0));
    if (h.clicked) s.send(command);
    write(ui, word, kBody, on || h.hovered ? ui.colors->t1 : ui.colors->t2, name);
    if (Rect under = inset(word, -gap::close, 0); on)
        ui.fill(take_bottom(under, kUnderline), ui.colors->accent);
}

void draw_find(Scene& s, Rect& rest, bool low) {
    Ui& ui = s.ui;
    const Rect field = band(take_right(rest, low ? kFindLow : kFind, gap::large), low ? 26 : size::chip);
    const Hit h = ui.control("find", field);
    ui.fill(field, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(field, ui.colors->l2, 1, size::corner);
    const Rect inside = inset(field, gap::small, 0);
    write(ui, inside, kCaptionMono, ui.colors->t3, "Ctrl K", Flush::right);
    write(ui, inside, kCaption, ui.colors->t3, low ? "Find" : "Find anything");
    if (h.clicked) s.send("palette");
}

}  // namespace

void draw_questions(Scene& s, Rect row) {
    Ui& ui = s.ui;
    const bool low = row.h < 40;
    const Door* on = shown_door(s.session, *s.model());
    Rect rest = inset(row, size::panel_pad, 0);
    const float end = draw_groups(s, row, low, on);
    const bool learns = std::string_view(shown_view(s.session, *s.model()).key) == "learn";
    const float places =
        ui.text.width(kBody, "Learn") + ui.text.width(kBody, "Present") + 2 * gap::wide + gap::small;
    if (rest.right() - end > places) {  // the palette has both anyway
        draw_place(s, rest, "learn", "Learn", learns ? "back" : "view learn", learns);
        draw_place(s, rest, "present", "Present", "slides", false);
    }
    if (rest.right() - end > kFindLow) draw_find(s, rest, low || rest.right() - end < kFind + kMinQuestion);
    const Rect question{end, row.y, rest.right() - end, row.h};
    if (!low && on && question.w > kMinQuestion) {
        ui.fill(band({end - gap::small, row.y, ui.line(), row.h}, 20), ui.colors->l2);
        write(ui, inset(question, gap::medium, 0), kBody, ui.colors->t3,
              row_of(view_groups(), on->group).question);
    }
    ui.hairline(row.x, row.bottom() - 1, row.right(), row.bottom() - 1);
}

}  // namespace headlight

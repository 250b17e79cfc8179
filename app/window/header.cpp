// Draws the title of the view, the pills of its question, and its controls.
#include "window/header.h"

#include <algorithm>

#include "base/cast.h"
#include "paint/layout.h"
#include "parts/controls.h"
#include "parts/lock_sign.h"
#include "session/lesson.h"
#include "views/doors.h"
#include "views/page.h"

namespace headlight {

namespace {

constexpr float kPillPad = 10, kClosePad = 6, kBetweenPills = 4, kPillsFrom = 144, kPillsFromLow = 104,
                kListSides = 38, kChevronRoom = 20, kLockRoom = 18;

struct Pills {
    std::vector<const Door*> doors;
    float pad = kPillPad;  // at each side of a name
    size_t shown = 0;      // those from here on are in the list

    float width(Scene& s, const Door& door) const {
        const float lock = view_locked(s.session, door.view->key) ? kLockRoom : 0;
        return s.ui.text.width(kCaption, door.name) + 2 * pad + lock;
    }
};

/// The number of pills that fit beside the list of the rest.
size_t count_fitting(Scene& s, const Pills& pills, float room) {
    Ui& ui = s.ui;
    float used = -kBetweenPills, rest = 0;
    std::vector<float> lists(pills.doors.size() + 1, 0.0f);  // by the first in it: how wide it is
    for (size_t i = pills.doors.size(); i > 0; --i)
        lists[i - 1] = rest = std::max(rest, ui.text.width(kCaption, pills.doors[i - 1]->name) + kListSides);
    size_t fitting = 0;
    for (size_t i = 0; i <= pills.doors.size(); ++i) {
        if (used + (lists[i] > 0 ? kBetweenPills + lists[i] : 0) <= room) fitting = i;
        if (i < pills.doors.size()) used += pills.width(s, *pills.doors[i]) + kBetweenPills;
    }
    return fitting;
}

/// Moves the pills together where not all fit, then leaves out those that do not apply.
Pills arrange_pills(Scene& s, ViewGroup group, float room) {
    Pills out{doors_of(group, *s.model())};
    const auto fits = [&] { return (out.shown = count_fitting(s, out, room)) == out.doors.size(); };
    if (fits()) return out;
    out.pad = kClosePad;
    if (fits()) return out;
    std::erase_if(out.doors, [&](const Door* d) { return d->missing(*s.model()); });
    out.pad = kPillPad;
    if (fits()) return out;
    const size_t apart = out.shown;
    out.pad = kClosePad;
    fits();
    if (out.shown == apart) out.pad = kPillPad;
    return out;
}

void draw_pill(Scene& s, Rect r, const Door& door, bool on, float pad) {
    Ui& ui = s.ui;
    const std::string path = "tab/" + door.name;
    const Hit h = ui.control(path, r);
    const bool locked = view_locked(s.session, door.view->key);
    const char* missing = locked ? kLockedByLesson : door.missing(*s.model());
    if (missing)
        ui.tooltip(path, h, missing);
    else if (h.clicked)
        s.send("view " + door.key);
    if (on || (h.hovered && !missing)) ui.fill(r, on ? ui.colors->bg4 : ui.colors->bg3, size::corner);
    const ImU32 ink = missing ? ui.colors->t3 : on || h.hovered ? ui.colors->t1 : ui.colors->t2;
    ui.text.draw(r.x + pad, r.middle_y(), kCaption, ink, door.name);
    if (locked) draw_padlock(ui, {r.right() - pad - 5, r.middle_y() - 1}, ui.colors->t3);
}

/// Draws the list of pills that do not fit.
void draw_folded(Scene& s, float x, float right, float middle, const Pills& pills, const Door* on) {
    std::vector<std::string> names;
    int current = -1;
    for (size_t i = pills.shown; i < pills.doors.size(); ++i) {
        if (pills.doors[i] == on) current = isize(names);
        names.push_back(pills.doors[i]->name);
    }
    if (names.empty()) return;
    float width = 0;
    const int chosen = s.ui.drop_down("tab/more", x, middle, names, current, width, right - x);
    if (current < 0)
        s.ui.text.draw(x + kPillPad, middle, kCaption, s.ui.colors->t2,
                       std::to_string(names.size()) + " more");
    if (chosen >= 0) s.send("view " + pills.doors[pills.shown + chosen]->key);
}

/// Draws the title, with a way back from a view that fills the window; returns where it ends.
float draw_title(Scene& s, Rect r, const View& shown, const Door* on) {
    Ui& ui = s.ui;
    float x = r.x + (r.h < size::view_header ? gap::large : gap::wide);
    const std::string title = shown.fills_window() && on ? on->name : view_title(s, shown);
    if (!shown.fills_window()) return x + ui.text.draw(x, r.middle_y(), kTitle, ui.colors->t1, title);
    const float width = kChevronRoom + ui.text.width(kTitle, title);
    const Hit back = ui.control("back", {x - gap::close, r.y, width + gap::close, r.h});
    const ImU32 ink = back.hovered ? ui.colors->accent_text : ui.colors->t1;
    const float to = x + 3, y = r.middle_y();
    ui.polyline(std::array<ImVec2, 3>{{{to + 5, y - 5}, {to, y}, {to + 5, y + 5}}}, ink, 1.5f);
    ui.text.draw(x + kChevronRoom, y, kTitle, ink, title);
    if (back.clicked) s.send("back");
    return x + width;
}

}  // namespace

void draw_header(Scene& s, Rect r, const View& shown, float left) {
    constexpr float kRoomOfPills = 320;
    const bool low = r.h < size::view_header;
    const Door* on = shown_door(s.session, *s.model());
    const float end = draw_title(s, r, shown, on), pad = low ? gap::large : gap::wide;
    const float usual = left + (low ? kPillsFromLow : kPillsFrom) + pad;
    float x = std::max(usual, end + gap::large);
    const float right = r.right() - (s.of<InspectorState>().handle ? kHandleRoom + gap::small : pad);
    const bool tools = shown.tools && s.sentence() && right - x > kRoomOfPills;
    const float taken = tools ? shown.tools(s, {x, r.y, right - x, r.h}) + gap::medium : 0;
    if (on) {
        s.of<VisitedDoors>().note(on->key);
        const Pills pills = arrange_pills(s, on->group, right - taken - x);
        const float high = low ? size::row_low : size::chip;
        for (size_t i = 0; i < pills.shown; ++i) {
            const float width = pills.width(s, *pills.doors[i]);
            draw_pill(s, band({x, r.y, width, r.h}, high), *pills.doors[i], pills.doors[i] == on, pills.pad);
            x += width + kBetweenPills;
        }
        draw_folded(s, x, std::max(right - taken, x + size::chip), r.middle_y(), pills, on);
    }
    s.ui.hairline(r.x, r.bottom(), r.right(), r.bottom());
}

}  // namespace headlight

// Lists the stations.
#include <algorithm>

#include "parts/controls.h"
#include "parts/lesson_shelf.h"
#include "views/learn/learn.h"

namespace headlight {

namespace {

constexpr float kStationRow = 28, kNumber = 26;
constexpr float kGuessRoom = 110;         // height of the count of guesses
constexpr const char* kApart = "follow";  // stands above the numbered stations

bool is_learned(const Scene& s, const learn::Station& station) {
    const auto& learned = s.session.preferences.learned;
    return std::find(learned.begin(), learned.end(), station.key) != learned.end();
}

/// Draws a tick if the station was read, else its minutes where the title leaves room.
void draw_station_end(Scene& s, Rect& line, const learn::Station& station, ImU32 ink) {
    Ui& ui = s.ui;
    if (is_learned(s, station)) {
        const ImVec2 c = take_right(line, 14, gap::close).middle();  // the longest title fits beside it
        const ImVec2 tick[] = {{c.x - 5, c.y}, {c.x - 1, c.y + 4}, {c.x + 6, c.y - 4}};
        return ui.polyline(tick, ink, 1.5f);
    }
    const learn::StationText& text = learn::station_text(station.key);
    const std::string minutes = std::to_string(text.minutes) + " min";
    const float wide = ui.text.width(kCaptionMono, minutes);
    if (line.w < ui.text.width(kBody, text.title) + wide + gap::small) return;
    write(ui, take_right(line, wide, gap::small), kCaptionMono, ink, minutes, Flush::right);
}

/// `number`: 0 for the one that stands apart.
void draw_station_row(Scene& s, Rect r, int number, const learn::Station& station, bool shown) {
    Ui& ui = s.ui;
    const std::string path = std::string("learn/") + station.key,
                      &title = learn::station_text(station.key).title;
    const Hit h = ui.control(path, r);
    if (shown || h.hovered) ui.fill(r, shown ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
    const ImU32 ink = shown ? ui.colors->accent_text : h.hovered ? ui.colors->t1 : ui.colors->t2;
    Rect line = r;
    write(ui, take_left(line, kNumber, gap::small), kCaptionMono, shown ? ink : ui.colors->t3,
          number ? std::to_string(number) : "▸", Flush::right);
    take_right(line, gap::small);
    draw_station_end(s, line, station, shown ? ink : ui.colors->t2);
    write(ui, line, kBody, ink, title);
    if (ui.text.width(kBody, title) > line.w) ui.tooltip(path, h, title);
    if (!h.clicked) return;
    s.leave_text();  // the keys answer there
    s.send("learn", station.key);
}

void draw_tries_row(Scene& s, Rect r) {
    Ui& ui = s.ui;
    const Hit h = ui.control("learn/tries", r);
    if (h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
    Rect line = r;
    write(ui, take_left(line, kNumber, gap::small), kCaptionMono, ui.colors->t3, "→", Flush::right);
    write(ui, line, kBody, h.hovered ? ui.colors->t1 : ui.colors->t2, "Things to try");
    ui.tooltip("learn/tries", h, "Shows things to try, below the views.");
    if (h.clicked) send_tries(s);
}

auto learned_stations(const Scene& s) {
    const auto stations = learn::stations();
    return std::count_if(stations.begin(), stations.end(),
                         [&](const learn::Station& one) { return is_learned(s, one); });
}

/// Draws a row for each station from y down, and the one that leads to things to try; returns the bottom.
float draw_station_rows(Scene& s, Rect area, float y, int shown) {
    const auto stations = learn::stations();
    const Rect inside = inset(area, size::panel_pad, 0);
    int number = 0;
    for (int i = 0; i < isize(stations); ++i, y += kStationRow) {
        const bool apart = std::string_view(stations[i].key) == kApart;
        draw_station_row(s, inset({area.x, y, area.w, kStationRow}, gap::small, 1), apart ? 0 : ++number,
                         stations[i], i == shown);
        if (!apart) continue;
        y += gap::medium;
        const float line = y + kStationRow - gap::close;
        s.ui.hairline(inside.x, line, inside.right(), line);
    }
    draw_tries_row(s, inset({area.x, y, area.w, kStationRow}, gap::small, 1));
    return y + kStationRow;
}

}  // namespace

void send_tries(const Scene& s) {
    s.send("guide", "on");
    s.send("back");
}

void draw_station_list(Scene& s, Rect area) {
    Ui& ui = s.ui;
    LearnState& state = s.of<LearnState>();
    const auto stations = learn::stations();
    const int shown = narrow<int>(&state.shown() - stations.data());
    Rect below = area;
    Toolbar bar = title_toolbar(s, below, "learn/back", "Learn");
    write(ui, bar.rest(), kCaptionMono, ui.colors->t3,
          std::to_string(learned_stations(s)) + " of " + std::to_string(stations.size()), Flush::right);
    ui.scroll_area(below);
    const Rect inside = inset(area, size::panel_pad, 0);
    float y = draw_station_rows(s, area, below.y - state.list_scroll, shown);
    const float listed = size::title_bar + kStationRow * float(stations.size() + 1) + gap::medium;
    if (area.h >= listed + kGuessRoom) {
        y += gap::medium;
        ui.hairline(inside.x, y, inside.right(), y);
        const bool follows = std::string_view(stations[shown].key) == kApart;
        y = (follows ? draw_story_card : draw_guesses)(s, inside.x, y + gap::medium, inside.w);
    }
    y = draw_lesson_shelf(s, inside.x, y, inside.w);
    ui.end_scroll_area();
    state.list_scroll = scrolled(ui, below, y + state.list_scroll - below.y, state.list_scroll);
}

}  // namespace headlight

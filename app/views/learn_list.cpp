// The path of stations, and what a station says.
#include "views/learn.h"
#include "views/parts.h"

namespace headlight {

namespace {

constexpr float kHeader = 52, kStationRow = 28, kWords = 280;  // what a text takes

void draw_station_row(Scene& s, Rect r, int number, const learn::Station& station, bool shown) {
    Ui& ui = s.ui;
    const std::string path = std::string("learn/") + station.key,
                      &title = learn::station_text(station.key).title;
    const Hit h = ui.control(path, r);
    if (shown || h.hovered) ui.fill(r, shown ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
    const ImU32 ink = shown ? ui.colors->accent_text : h.hovered ? ui.colors->t1 : ui.colors->t2;
    ui.text.draw_right(r.x + 26, r.middle_y(), kCaptionMono, shown ? ink : ui.colors->t3,
                       std::to_string(number));
    const std::string fitted = ui.text.fitted(kBody, title, r.w - 46);
    ui.text.draw(r.x + 38, r.middle_y(), kBody, ink, fitted);
    if (fitted != title) ui.tooltip(path, h, title);
    if (h.clicked) s.send("learn", station.key);
}

/// The signs as small boxes; what each stands for is said where it is pointed at.
float draw_signs(Ui& ui, float x, float y, float width, const learn::StationText& text) {
    if (text.symbols.empty()) return y;
    ui.text.draw(x, y + 8, kCaption, ui.colors->t3, "Symbols (hover for meaning)");
    float left = x;
    y += 22;
    for (const learn::Symbol& symbol : text.symbols) {
        const std::string sign = ui.text.fitted(kCaptionMono, symbol.sign, width - 16);
        const float wide = ui.text.width(kCaptionMono, sign) + 16;
        if (left > x && left + wide > x + width) {
            left = x;
            y += 30;
        }
        const Rect r{left, y, wide, 26};
        const Hit h = ui.hit("learn/sign/" + symbol.sign, r);
        ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
        ui.text.draw(r.x + 8, r.middle_y(), kCaptionMono, ui.colors->t1, sign);
        ui.tooltip("learn/sign/" + symbol.sign, h, symbol.sign + ": " + symbol.meaning);
        left += wide + 6;
    }
    return y + 34;
}

}  // namespace

float draw_station_words(Scene& s, float x, float y, float width, const learn::Station& station) {
    Ui& ui = s.ui;
    const learn::StationText& text = learn::station_text(station.key);
    ui.text.draw(x, y + 8, kCaption, ui.colors->t3, "What to look for");
    y += 24;
    y += ui.text.draw_wrapped(x, y, width, kBody, ui.colors->t1, text.text) + 18;
    return draw_signs(ui, x, y, width, text);
}

bool draw_station_list(Scene& s, Rect area) {
    Ui& ui = s.ui;
    LearnState& state = s.of<LearnState>();
    const auto stations = learn::stations();
    const int shown = narrow<int>(&state.shown() - stations.data());
    Rect below = area;
    Toolbar bar = title_toolbar(s, below, "learn/back", "Learn");
    write(ui, bar.rest(), kCaptionMono, ui.colors->t3,
          std::to_string(shown + 1) + " of " + std::to_string(stations.size()), Flush::right);
    ui.scroll_area(below);
    float y = below.y - state.list_scroll;
    for (int i = 0; i < isize(stations); ++i, y += kStationRow)
        draw_station_row(s, {area.x + 8, y, area.w - 16, kStationRow - 2}, i + 1, stations[i], i == shown);
    const bool room = area.h >= kHeader + kStationRow * float(stations.size()) + kWords;
    if (room) {
        ui.hairline(area.x + size::panel_pad, y + 10, area.right() - size::panel_pad, y + 10);
        y = draw_station_words(s, area.x + size::panel_pad, y + 24, area.w - 2 * size::panel_pad,
                               stations[shown]);
    }
    ui.end_scroll_area();
    state.list_scroll = scrolled(ui, below, y + state.list_scroll - below.y, state.list_scroll);
    return room;
}

}  // namespace headlight

// What can be chosen at a station, each drawn by its kind, and what can be tried.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "learn/controls.h"
#include "views/learn.h"

namespace headlight {

namespace {

constexpr float kControlLine = 40, kGap = 20, kTrack = 96, kValue = 64, kText = 220;
constexpr double kStepSeconds = 0.8;

/// A range as a slider goes through it: where it spans more than a hundredfold, by ratios.
struct SliderRange {
    double low, high;
    bool whole, ratios;

    SliderRange(double low, double high, bool whole)
        : low(low), high(high), whole(whole), ratios(high > 128 * std::max(low, 1.0)) {}

    double least() const { return std::max(low, whole ? 1.0 : high * 1e-5); }  // of ratios: 0 has none
    float place(double value) const {
        if (!ratios) return float((value - low) / (high - low));
        return value < least() ? 0 : float(std::log(value / least()) / std::log(high / least()));
    }
    double value(float at) const {
        double v = !ratios   ? low + double(at) * (high - low)
                   : at <= 0 ? low
                             : least() * std::pow(high / least(), double(at));
        if (whole) return std::round(v);
        const double unit = v > 0 ? std::pow(10.0, std::floor(std::log10(v)) - 1) : 1;  // two digits
        return std::clamp(std::round(v / unit) * unit, low, high);
    }
    /// One step of an arrow key.
    double stepped(double value, int by) const {
        if (whole && (!ratios || value < 20)) return std::clamp(value + by, low, high);
        const float moved = std::clamp(place(value) + float(by) / 40, 0.0f, 1.0f);
        const double next = this->value(moved);
        return whole && next == value ? std::clamp(value + by, low, high) : next;
    }
};

/// Draws each control of a station from left to right, in as many lines as they need.
class ControlRow final : public learn::ControlVisitor {
public:
    ControlRow(Scene& s, Rect room)
        : s_(s), ui_(s.ui), room_(room), x_(room.x), y_(room.y + kControlLine / 2) {}

    float bottom() const { return y_ + kControlLine / 2; }

    void choice(const char* key, const char* label, int& place, std::span<const char* const> words) override {
        const std::vector<std::string> items(words.begin(), words.end());
        take_room(ui_.choice_width(label, items));
        const int chosen = ui_.choice(x_, y_, label, path(key), items, place);
        if (chosen >= 0 && chosen != place) set(key, items[chosen]);
    }
    void flag(const char* key, const char* label, bool& value) override {
        const float wide = ui_.text.width(kCaption, label) + 24;
        take_room(wide);
        bool on = value;
        ui_.toggle(path(key), {x_, y_ - size::chip / 2, wide, size::chip}, label, on);
        if (on != value) set(key, on ? "on" : "off");
        x_ += wide + kGap;
    }
    void number(const char* key, const char* label, float& value, float low, float high) override {
        slider(key, label, double(value), {double(low), double(high), false});
    }
    void whole(const char* key, const char* label, int& value, int low, int high) override {
        slider(key, label, double(value), {double(low), double(high), true});
    }
    void played(const char* key, const char* label, int& value, int low, int high) override {
        whole(key, label, value, low, high);
        LearnState& state = s_.of<LearnState>();
        const bool plays = state.playing == key;
        const float wide = ui_.text.width(kCaption, "Pause") + 24;
        take_room(wide);
        bool on = plays;
        ui_.toggle("learn/play", {x_, y_ - size::chip / 2, wide, size::chip}, plays ? "Pause" : "Play", on);
        x_ += wide + kGap;
        if (on && !plays) {
            state.next_step = ImGui::GetTime() + kStepSeconds;
            state.going.clear();
            if (value == high) go_on_to(key, std::to_string(low));
        }
        state.playing = on ? key : "";
        if (on && plays) go_on(key, value, high);
    }
    void text(const char* key, const char* label, std::string& value) override {
        label_of(label, kText);
        value_box(key, kText, value);
    }
    void numbers(const char*, std::vector<float>&) override {}  // their Grid edits them

    /// Things that a click carries out, behind a word.
    void tries(const std::vector<learn::Try>& all) {
        if (all.empty()) return;
        new_line();
        x_ += ui_.text.draw(x_, y_, kCaption, ui_.colors->t3, "Try") + 10;
        for (int i = 0; i < isize(all); ++i) {
            const std::string label = ui_.text.fitted(kCaption, all[i].label, room_.w - 60);
            const float wide = ui_.text.width(kCaption, label) + 24;
            take_room(wide);
            bool pressed = false;
            ui_.toggle("learn/try/" + std::to_string(i), {x_, y_ - size::chip / 2, wide, size::chip},
                       label.c_str(), pressed);
            if (pressed) s_.send("do", all[i].command);
            x_ += wide + 8;
        }
    }
    void reset() {
        x_ += kGap - 8;
        const float wide = ui_.text.width(kCaption, "Reset");
        take_room(wide);
        if (ui_.link("learn/reset", x_ + wide, y_, "Reset")) s_.send("learn reset");
        x_ += wide + kGap;
    }
    void new_line() {
        if (x_ > room_.x) y_ += kControlLine - 4;
        x_ = room_.x;
    }

private:
    static std::string path(const std::string& key) { return "learn/set/" + key; }
    void set(const std::string& key, const std::string& value, bool joins = false) {
        s_.send("learn set", key + "=" + value, joins);
    }
    /// What a drag or Play comes to is one step of undo.
    void go_on_to(const std::string& key, const std::string& value) {
        set(key, value, std::exchange(s_.of<LearnState>().going, key) == key);
    }
    void take_room(float wide) {
        if (x_ + wide > room_.right()) new_line();
    }
    /// A label in front of something so wide, with which it stays together.
    void label_of(const char* label, float wide) {
        take_room(ui_.text.width(kCaption, label) + 8 + wide);
        x_ += ui_.text.draw(x_, y_, kCaption, ui_.colors->t3, label) + 8;
    }
    void value_box(const std::string& key, float wide, const std::string& value) {
        const Rect r{x_, y_ - size::chip / 2, wide, size::chip};
        const Ui::Entry entry = ui_.entry(path(key) + "/value", r, value);
        if (!entry.open) {
            ui_.fill(r, entry.hit.hovered ? ui_.colors->bg3 : ui_.colors->bg2, size::corner);
            ui_.frame(r, ui_.colors->l2, 1, size::corner);
            ui_.text.draw(r.x + 10, r.middle_y(), kCaptionMono, ui_.colors->t1,
                          ui_.text.fitted(kCaptionMono, value, wide - 16));
        }
        if (entry.typed) set(key, *entry.typed);
        x_ += wide + kGap;
    }
    /// The next number of what plays, where its time has come.
    void go_on(const std::string& key, int value, int high) {
        LearnState& state = s_.of<LearnState>();
        const double now = ImGui::GetTime();
        if (now >= state.next_step) {
            state.next_step = now + kStepSeconds;
            if (value < high) go_on_to(key, std::to_string(value + 1));
            if (value + 1 >= high) state.playing.clear();
        }
        ui_.wake_after = float(std::max(0.01, state.next_step - now));
    }
    void slider(const std::string& key, const char* label, double value, const SliderRange& range) {
        label_of(label, kTrack + 8 + kValue);
        const Rect track{x_, y_ - size::chip / 2, kTrack, size::chip};
        double wanted = value;
        const auto dragged = ui_.slider(path(key), track, range.place(value));
        if (dragged) wanted = range.value(*dragged);
        if (const int step = ui_.take_step(path(key)); step != 0) wanted = range.stepped(value, -step);
        if (LearnState& state = s_.of<LearnState>(); !dragged && state.going == key && state.playing != key)
            state.going.clear();
        const std::string words =
            learn::spelled(wanted);  // of a float: a press that moves nothing says nothing
        if (words != learn::spelled(value)) dragged ? go_on_to(key, words) : set(key, words);
        x_ += kTrack + 8;
        value_box(key, kValue, learn::spelled(value));
    }

    Scene& s_;
    Ui& ui_;
    Rect room_;
    float x_, y_;  // where the next one begins, and the middle of the line
};

/// The numbers of a field that were changed already; the page may still be the one before.
std::vector<std::string> chosen_numbers(const Scene& s, const std::string& field) {
    const LearnState& state = s.of<LearnState>();
    std::vector<std::string> out;
    for (const std::string& word : state.words(state.shown())) {
        if (!word.starts_with(field + "=")) continue;
        std::istringstream in(word.substr(field.size() + 1));
        for (std::string number; std::getline(in, number, ',');) out.push_back(number);
    }
    return out;
}

}  // namespace

float draw_station_controls(Scene& s, Rect area, float y, const learn::Station& station) {
    const float pad = size::center_pad;
    ControlRow row(s, {area.x + pad, y + 6, area.w - 2 * pad, 0});
    const std::vector<std::string> words = s.of<LearnState>().words(station);
    std::any state = learn::state_of(station, words);
    station.visit(state, row);
    row.tries(learn::station_text(station.key).tries);
    if (!words.empty()) row.reset();  // behind what stays, so that nothing moves under the pointer
    const float bottom = row.bottom() + 4;
    s.ui.hairline(area.x, bottom, area.right(), bottom);
    return bottom;
}

void set_cell(const Scene& s, const learn::Page& page, const learn::TypedCell& cell) {
    for (const learn::Block& block : page.blocks) {
        const auto* grid = std::get_if<learn::Grid>(&block);
        if (!grid || grid->editable != cell.field) continue;
        const auto columns = narrow<int>(grid->values.cols());
        std::vector<std::string> numbers = chosen_numbers(s, cell.field);
        if (isize(numbers) != grid->values.size()) {
            numbers.clear();
            for (int i = 0; i < grid->values.rows(); ++i)
                for (int j = 0; j < columns; ++j)
                    numbers.push_back(learn::spelled(double(grid->values(i, j))));
        }
        numbers[cell.row * columns + cell.column] = cell.text;
        std::string all;
        for (const auto& number : numbers) all += (all.empty() ? "" : ",") + number;
        return s.send("learn set", cell.field + "=" + all);
    }
}

}  // namespace headlight

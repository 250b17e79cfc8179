// Draws a station's controls, each by its kind, and its experiments.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "learn/controls.h"
#include "paint/toolbar.h"
#include "parts/fold.h"
#include "session/commands/try_out.h"
#include "views/learn/learn.h"

namespace headlight {

namespace {

constexpr float kControlLine = 40, kTrack = 96, kValue = 64, kText = 220;
constexpr float kLowStation = 640;
constexpr size_t kFewControls = 3;
constexpr double kPlaySeconds = 0.8;

/// Maps a range to a slider: logarithmic if it spans more than a factor of 128.
struct SliderRange {
    double low, high;
    bool whole, ratios;

    SliderRange(double low, double high, bool whole)
        : low(low), high(high), whole(whole), ratios(high > 128 * std::max(low, 1.0)) {}

    double min() const { return std::max(low, whole ? 1.0 : high * 1e-5); }  // log 0 is −∞
    float place(double value) const {
        value = std::min(value, high);
        if (!ratios) return high > low ? float((value - low) / (high - low)) : 0;
        return value < min() ? 0 : float(std::log(value / min()) / std::log(high / min()));
    }
    double value(float at) const {
        double v = !ratios   ? low + double(at) * (high - low)
                   : at <= 0 ? low
                             : min() * std::pow(high / min(), double(at));
        if (whole) return std::round(v);
        const double unit = v > 0 ? std::pow(10.0, std::floor(std::log10(v)) - 1) : 1;  // two digits
        return std::clamp(std::round(v / unit) * unit, low, high);
    }
    /// Moves the value by one arrow key.
    double stepped(double value, int by) const {
        if (whole && (!ratios || value < 20)) return std::clamp(value + by, low, high);
        const float moved = std::clamp(place(value) + float(by) / 40, 0.0f, 1.0f);
        const double next = this->value(moved);
        return whole && next == value ? std::clamp(value + by, low, high) : next;
    }
};

/// Draws a station's controls from left to right, in several lines if needed.
class ControlRow final : public learn::ControlVisitor {
public:
    ControlRow(Scene& s, Rect line, const learn::Station& station, const learn::Page* page)
        : s_(s),
          bar_(s.ui, line, Toolbar::Lines::many),
          room_(line.w),
          text_(learn::station_text(station.key)),
          page_(page) {}

    float bottom() const { return bar_.bottom(); }

    void choice(const char* key, const char* label, int& place, std::span<const char* const> words) override {
        const std::vector<std::string> items(words.begin(), words.end());
        const int chosen = bar_.choice(label, path(key), items, place);
        explain_control(key);
        if (chosen >= 0 && chosen != place) set(key, items[chosen]);
    }
    void flag(const char* key, const char* label, bool& value) override {
        if (bar_.press(path(key), label, value).clicked) set(key, value ? "off" : "on");
        explain_control(key);
    }
    void number(const char* key, const char* label, float& value, float low, float high) override {
        slider(key, label, double(value), {double(low), double(high), false});
    }
    void whole(const char* key, const char* label, int& value, int low, int high) override {
        const int max = highest(key, high);  // a larger value acts like it in the open model
        slider(key, label, double(std::min(value, max)), {double(low), double(max), true});
    }
    void played(const char* key, const char* label, int& value, int low, int high) override {
        whole(key, label, value, low, high);
        LearnState& state = s_.of<LearnState>();
        const bool plays = state.playing == key,
                   on = bar_.press("learn/play", plays ? "Pause" : "Play", plays).clicked != plays;
        explain("learn/play", "Plays all steps in order.");
        if (on && !plays) {
            state.next_step = ImGui::GetTime() + kPlaySeconds;
            state.going.clear();
            if (value == high) go_on_to(key, std::to_string(low));
        }
        state.playing = on ? key : "";
        if (on && plays) go_on(key, value, high);
    }
    void text(const char* key, const char* label, std::string& value) override {
        value_box(key, after_label(label, kText), value);
        explain_control(key);
    }
    void numbers(const char*, std::vector<float>&) override {}  // edited in their Grid

    void tries() {
        if (text_.tries.empty()) return;
        const std::string word = "Try";
        bar_.say(kCaption, bar_.ui.colors->t3, word, gap::small);
        const float room = room_ - bar_.ui.text.width(kCaption, word) - 2 * gap::wide;
        for (int i = 0; i < isize(text_.tries); ++i) {
            const learn::Try& one = text_.tries[i];
            const std::string path = "learn/try/" + std::to_string(i);
            const bool on = trial_is_active(s_.session, one.command);
            if (bar_.press(path, bar_.ui.text.fitted(kCaption, one.label, room), on).clicked)
                s_.send("try", one.command);
            explain(path, on ? "Active; click again to undo." : "Click to apply; click again to undo.");
        }
    }
    void new_line() { bar_.new_line(); }
    /// In a low window many controls are shown once they are asked for; returns whether they are.
    bool opened() {
        const std::string fold = "learn/controls";
        const bool open = is_open(s_, fold, Begins::closed);
        if (bar_.press("fold/" + fold, "Controls", open).clicked) turn(s_, fold);
        explain("fold/" + fold, "Shows this station’s controls, or hides them.");
        return open;
    }
    void reset() {
        if (bar_.link("learn/reset", "Reset")) s_.send("learn reset");
        explain("learn/reset", "Undoes experiments and resets this station’s controls.");
    }

private:
    static std::string path(const std::string& key) { return "learn/set/" + key; }
    /// Attaches a tooltip to what was drawn last.
    void explain(const std::string& path, const std::string& what) {
        bar_.ui.tooltip(path, bar_.ui.over(bar_.last()), what);
    }
    void explain_control(const std::string& key) { explain(path(key), text_.controls.at(key)); }
    /// Returns a control's maximum in the open model.
    int highest(const std::string& key, int high) const {
        if (!page_) return high;
        for (const learn::Limit& limit : page_->limits)
            if (limit.control == key) high = std::min(high, limit.high);
        return high;
    }
    /// Returns what would give an inactive control an effect; null if it is active.
    const learn::Idle* idle(const std::string& key) const {
        if (!page_) return nullptr;
        const auto found = std::find_if(page_->idle.begin(), page_->idle.end(),
                                        [&](const learn::Idle& one) { return one.control == key; });
        return found == page_->idle.end() ? nullptr : &*found;
    }
    void set(const std::string& key, const std::string& value, bool joins = false) {
        const learn::Idle* sleeps = idle(key);
        const bool wakes = sleeps && !sleeps->makes_count.empty();
        if (wakes) s_.send("learn set", sleeps->makes_count, joins);
        s_.send("learn set", key + "=" + value, joins || wakes);
    }
    /// Joins all values of a drag or of Play into one step of undo.
    void go_on_to(const std::string& key, const std::string& value) {
        set(key, value, std::exchange(s_.of<LearnState>().going, key) == key);
    }
    /// Takes this width after a label, on one line.
    Rect after_label(const char* label, float wide) {
        Rect at = bar_.take(bar_.ui.text.width(kCaption, label) + gap::small + wide);
        const Rect taken = take_right(at, wide, gap::small);
        write(bar_.ui, at, kCaption, bar_.ui.colors->t3, label);
        return taken;
    }
    void value_box(const std::string& key, Rect at, const std::string& value) {
        Ui& ui = bar_.ui;
        const Rect r = band(at, size::chip);
        const Ui::Entry entry = ui.entry(path(key) + "/value", r, value);
        if (!entry.open) {
            ui.fill(r, entry.hit.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
            ui.frame(r, ui.colors->l2, 1, size::corner);
            write(ui, inset(r, gap::small, 0), kCaptionMono, idle(key) ? ui.colors->t3 : ui.colors->t1,
                  value);
        }
        if (entry.typed) set(key, *entry.typed);
    }
    /// Advances Play by one value per kPlaySeconds.
    void go_on(const std::string& key, int value, int high) {
        LearnState& state = s_.of<LearnState>();
        const double now = ImGui::GetTime();
        if (now >= state.next_step) {
            state.next_step = now + kPlaySeconds;
            if (value < high) go_on_to(key, std::to_string(value + 1));
            if (value + 1 >= high) state.playing.clear();
        }
        bar_.ui.wake_after = float(std::max(0.01, state.next_step - now));
    }
    void slider(const std::string& key, const char* label, double value, const SliderRange& range) {
        Rect at = after_label(label, kTrack + gap::small + kValue);
        double wanted = value;
        const auto dragged = bar_.ui.slider(path(key), band(take_left(at, kTrack, gap::small), size::chip),
                                            range.place(value), !idle(key));
        if (dragged) wanted = range.value(*dragged);
        if (const int step = bar_.ui.take_step(path(key)); step != 0) wanted = range.stepped(value, -step);
        if (LearnState& state = s_.of<LearnState>(); !dragged && state.going == key && state.playing != key)
            state.going.clear();
        const std::string words =
            learn::spelled(wanted);  // rounded as a float, so an unmoved slider sets nothing
        if (words != learn::spelled(value)) dragged ? go_on_to(key, words) : set(key, words);
        value_box(key, at, learn::spelled(value));
        explain_control(key);
    }

    Scene& s_;
    Toolbar bar_;
    float room_;
    const learn::StationText& text_;
    const learn::Page* page_;  // null until known
};

/// Returns a field's edited numbers, because the shown page may predate the edit.
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

float draw_station_controls(Scene& s, Rect area, float y, const learn::Station& station,
                            const learn::Page* page) {
    const float pad = size::center_pad;
    ControlRow row(s, {area.x + pad, y + gap::close, area.w - 2 * pad, kControlLine}, station, page);
    const std::vector<std::string> words = s.of<LearnState>().words(station);
    std::any state = learn::state_of(station, words);
    row.tries();  // in words, before the controls and their symbols
    const bool folds =
        area.h < kLowStation && learn::station_text(station.key).controls.size() > kFewControls;
    const bool shown = !folds || row.opened();
    row.new_line();
    if (shown) station.visit(state, row);
    if (!words.empty() || trial_is_active(s.session))
        row.reset();  // last, so that nothing moves under the pointer
    const float bottom = row.bottom() + gap::tight;
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

// Lists the largest differences of a comparison, and draws a distance per token.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/utf8.h"
#include "views/compare/compare.h"

namespace headlight {

namespace {

constexpr float kDifference = 72;  // width of a value

/// "red 16 → ball 4": truncates tokens to `max` characters, never positions.
std::string name_of_place(const Scene& s, const PairedMap& m, int row, int column, size_t max) {
    const TokenPair &query = m.rows[row], &key = m.columns[column];
    const bool pattern = s.of<CompareState>().show == ComparedShow::pattern;
    const auto at = [](const TokenPair& pair) {
        const int position = pair.a >= 0 ? pair.a : pair.b;
        return position >= 0 ? " " + std::to_string(position) : std::string();
    };
    return shorten_middle(m.row_labels[row], max) + (pattern ? at(query) + " → " : " at ") +
           shorten_middle(m.column_labels[column], max) + at(key);
}

/// Truncates the names to fit.
std::vector<std::string> names_of_places(const Scene& s, const PairedMap& m, float room) {
    constexpr size_t kWhole = 40, kLeast = 4;  // characters of a token
    std::vector<std::string> names;
    for (const auto& [row, column, v] : m.largest) {
        size_t max = kWhole;
        names.push_back(name_of_place(s, m, row, column, max));
        while (--max >= kLeast && s.ui.text.width(kBodyMono, names.back()) > room)
            names.back() = name_of_place(s, m, row, column, max);
    }
    return names;
}

void draw_difference(Scene& s, Rect line, const PairedMap& m, int i, float named, const std::string& name) {
    const float largest = std::abs(m.largest[0].value);
    Ui& ui = s.ui;
    const auto [row, column, v] = m.largest[i];
    const Rect back = inset(line, -gap::close, 0);
    const Hit h = ui.hit("compare/largest/" + std::to_string(i), back);
    if (h.hovered) ui.fill(back, ui.colors->bg3, size::corner);
    if (h.hovered) s.of<CompareState>().cell = std::pair{row, column};
    const TokenPair &query = m.rows[row], &key = m.columns[column];
    const bool cell = s.of<CompareState>().show == ComparedShow::pattern && query.a >= 0 && key.a >= 0;
    if (h.hovered && cell) s.point_at(std::pair{query.a, key.a});
    if (h.clicked && cell) s.lock(std::pair{query.a, key.a});
    write(ui, take_left(line, named, gap::small), kBodyMono, ui.colors->t1, name);
    write(ui, take_right(line, kDifference, gap::small), kBodyMono, ui.colors->t1, signed_number(v, 3),
          Flush::right);
    ui.signed_bar(band(line, 10), v / largest);
}

}  // namespace

void draw_largest(Scene& s, Rect area, const PairedMap& m) {
    constexpr float kStep = 26, kLeastBar = 56;
    const float largest = m.largest.empty() ? 0 : std::abs(m.largest[0].value);
    write(s.ui, take_top(area, size::line, gap::close), kBody, s.ui.colors->t1,
          largest < kNoise ? "No difference" : "Largest differences");
    const auto names = names_of_places(s, m, area.w - kDifference - kLeastBar - 2 * gap::small);
    const float named = widest_of(s.ui, kBodyMono, names);
    for (int i = 0; i < isize(m.largest) && area.h >= kStep; ++i)
        if (std::abs(m.largest[i].value) >= kNoise)
            draw_difference(s, take_top(area, kStep), m, i, named, names[i]);
}

namespace {

/// Shows the hovered bar's token and value; returns its index, or −1.
int pointed_bar(Scene& s, Rect bars, const std::vector<float>& values,
                const std::vector<std::string>& labels) {
    constexpr const char* kPath = "compare/tokens";
    Ui& ui = s.ui;
    const Hit h = ui.hit(kPath, bars);
    const int count = isize(values);
    if (!h.hovered || count == 0) return -1;
    const int i = Grid{bars, 1, count, bars.w / float(count), bars.h}.column_at(h.mouse.x);
    ui.tooltip(kPath, h, (i < isize(labels) ? "“" + labels[i] + "”: " : "") + fine_number(values[i], 4));
    return i;
}

/// Draws a bar per token; returns the index of the highest, or −1.
int draw_token_bars(Scene& s, Rect bars, const std::vector<float>& values,
                    const std::vector<std::string>& labels, int highlighted, float largest) {
    constexpr float kMinNamed = 3;  // bars from this width are named as widgets
    Ui& ui = s.ui;
    const int count = isize(values), every = label_step(bars.w / float(count), count > 100 ? 40 : 22),
              pointed = pointed_bar(s, bars, values, labels);
    int highest = -1;
    for (int i = 0; i < count; ++i) {
        const Rect column = nth_column(bars, i, count);
        const bool on = i == highlighted, known = !std::isnan(values[i]);
        if (column.w >= kMinNamed) ui.name("compare/token/" + std::to_string(i), column);
        if (i % every == 0)
            ui.text.draw_centered(column.middle_x(), bars.bottom() + gap::medium, kCaptionMono,
                                  on ? ui.colors->accent_text : ui.colors->t3, std::to_string(i));
        if (!known) continue;
        Rect bar{column.x, column.y, column.w - (column.w >= 6 ? 2 : 0), column.h};
        ui.fill(bar, ui.colors->dark ? ui.colors->bg2 : ui.colors->bg3);
        ui.fill(take_bottom(bar, bar.h * std::clamp(values[i] / largest, 0.0f, 1.0f)),
                on || i == pointed ? ui.colors->accent : ui.colors->t3);
        if (highest < 0 || values[i] > values[highest]) highest = i;
    }
    return highest;
}

/// Ignores NaN.
double mean_of(const std::vector<float>& values) {
    double sum = 0;
    int count = 0;
    for (const float v : values) {
        if (std::isnan(v)) continue;
        sum += double(v);
        ++count;
    }
    return sum / std::max(count, 1);
}

}  // namespace

void draw_by_token(Scene& s, Rect area, const char* title, const char* unit, const std::vector<float>& values,
                   const std::vector<std::string>& labels, int highlighted) {
    constexpr float kNumbers = 24, kSummary = 26, kLeastUnit = 60, kLeast = 100;
    Ui& ui = s.ui;
    float largest = float(kNoise);
    for (const float v : values) largest = std::isnan(v) ? largest : std::max(largest, v);
    const bool low = area.h < kLeast;
    Rect head = take_top(area, size::line, 10);
    take_left(head, write(ui, head, kBody, ui.colors->t1, title), gap::large);
    const std::string range = "0 to " + fine_number(largest, 3);
    if (head.w > kLeastUnit)
        caption(ui, head,
                first_that_fits(ui, kCaption, {std::string(unit) + ", " + range, range, ""}, head.w),
                Flush::right);
    if (values.empty() || low) return;
    const Rect summary = take_bottom(area, kSummary);
    take_bottom(area, kNumbers);
    const int highest = draw_token_bars(s, area, values, labels, highlighted, largest);
    if (highest < 0) return;
    const std::string at =
        highest < isize(labels) ? " at " + labels[highest] + " " + std::to_string(highest) : "";
    write(ui, summary, kCaptionMono, ui.colors->t2,
          "mean " + fine_number(mean_of(values), 3) + "   largest " + fine_number(values[highest], 3) + at);
}

}  // namespace headlight

// Filters heads by a threshold on the histogram of a statistic.
#include <algorithm>
#include <array>
#include <cmath>

#include "views/all_heads/all_heads.h"

namespace headlight {

namespace {

constexpr int kBins = 40;
constexpr float kNoRange = 1e-12f, kByKey = 0.05f;  // smallest range; step of an arrow key

/// Maps a value to 0 … 1 in the range of the column.
float share_of(const HeadChoice& choice, float value) {
    return (value - choice.low) / std::max(choice.high - choice.low, kNoRange);
}

std::array<int, kBins> spread_of(const HeadChoice& choice) {
    std::array<int, kBins> bins{};
    for (const float v : choice.values)
        if (!std::isnan(v)) ++bins[std::clamp(int(share_of(choice, v) * kBins), 0, kBins - 1)];
    return bins;
}

void draw_bins(Ui& ui, Rect r, const HeadChoice& choice) {
    constexpr float kLeastHigh = 2;
    const auto bins = spread_of(choice);
    const auto max = float(std::max(1, *std::max_element(bins.begin(), bins.end())));
    const float edge = share_of(choice, choice.threshold);
    for (int i = 0; i < kBins; ++i) {
        const float middle = (float(i) + 0.5f) / kBins;
        const bool kept = choice.column().ascending ? middle <= edge : middle >= edge;
        Rect bin = nth_column(r, i, kBins, ui.line());
        if (bins[i])
            ui.fill(take_bottom(bin, std::max(kLeastHigh, r.h * float(bins[i]) / max)),
                    kept ? ui.colors->accent : ui.colors->l2);
    }
    ui.fill({r.x, r.bottom(), r.w, ui.line()}, ui.colors->l2);
}

void draw_histogram(Scene& s, Rect r, const HeadChoice& choice) {
    constexpr float kHandleWide = 8, kHandleHigh = 12;
    Ui& ui = s.ui;
    float& part = s.of<AllHeadsState>().kept;
    draw_bins(ui, r, choice);
    const float x = r.x + r.w * std::clamp(share_of(choice, choice.threshold), 0.0f, 1.0f);
    const Rect handle{x - kHandleWide / 2, r.bottom() - gap::tight, kHandleWide, kHandleHigh};
    ui.fill({x - ui.line() / 2, r.y, ui.line(), r.h}, ui.colors->accent);
    ui.fill(handle, ui.colors->accent, 2);
    Rect reach = inset(r, -gap::close, -gap::tight);
    reach.h = handle.bottom() + 2 - reach.y;
    const Hit h = ui.control("heads/keep", reach);
    if (h.hovered) ui.frame(handle, ui.colors->hover, 1, 2);
    if (const int step = ui.take_step("heads/keep"); step != 0)
        part = std::clamp(part + kByKey * float(step), 0.0f, 1.0f);
    if (!h.pressed) return;
    const float share = std::clamp((h.mouse.x - r.x) / r.w, 0.0f, 1.0f);
    part = choice.column().ascending ? share : 1 - share;
}

}  // namespace

void draw_heads_filter(Scene& s, Toolbar& bar, const HeadChoice& choice) {
    constexpr float kWidest = 300, kLeast = 90, kHigh = 30, kRaised = 2;
    Ui& ui = s.ui;
    const std::string count =
        std::to_string(choice.count) + " of " + std::to_string(choice.kept.size()) + " heads";
    const std::string value =
        number(choice.threshold, 2) + (choice.column().unit.empty() ? "" : " " + choice.column().unit);
    const char* title = choice.column().ascending ? "Filter: at most" : "Filter: at least";
    const float counted = ui.text.width(kCaption, count),
                said = ui.text.width(kCaption, title) + ui.text.width(kCaptionMono, value) + counted,
                room = bar.rest().w, bars = std::min(kWidest, room - said - 3 * gap::medium - gap::small);
    if (bars < kLeast) {
        if (room > counted) bar.say(kCaption, ui.colors->t2, count);
        return;
    }
    bar.say(kCaption, ui.colors->t3, title, gap::medium);
    draw_histogram(s, line_at(bar.take(bars, gap::medium), bar.rest().middle_y() - kRaised, kHigh), choice);
    bar.say(kCaptionMono, ui.colors->accent_text, value, gap::medium);
    bar.say(kCaption, ui.colors->t2, count);
}

}  // namespace headlight

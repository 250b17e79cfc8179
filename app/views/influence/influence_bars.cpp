// Draws words as chips colored by their scores, with bars above.
#include <algorithm>
#include <cmath>
#include <limits>

#include "figure/colormap.h"
#include "parts/metric.h"
#include "views/influence/influence.h"

namespace headlight {

namespace {

constexpr float kWordChip = 34, kWordLine = 40, kWordPad = 9, kWordsApart = 4, kBarsHigh = 56, kBarValue = 18;
constexpr int kLinesWithBars = 3;

/// Returns places of chips, y as the line number; another text starts a new line.
std::vector<Rect> places_of_words(Ui& ui, Rect area, const ScoredWords& words, int& lines) {
    std::vector<Rect> out;
    float x = 0;
    lines = words.all.empty() ? 0 : 1;
    for (size_t i = 0; i < words.all.size(); ++i) {
        const ScoredPart& part = words.all[i].part;
        const float wide = std::min(ui.text.width(kBodyMono, part.label) + 2 * kWordPad, area.w);
        const bool new_text = i > 0 && part.stack != words.all[i - 1].part.stack;
        if (x > 0 && (new_text || x + wide > area.w)) x = 0, ++lines;
        out.push_back({area.x + x, float(lines - 1), wide, kWordChip});
        x += wide + kWordsApart;
    }
    return out;
}

constexpr float kNoScore = std::numeric_limits<float>::quiet_NaN();

float bar_score(const ScoredWords& words, int i) { return i == words.asks ? kNoScore : words.shown(i); }

void draw_word_chip(Scene& s, Rect r, const ScoredWords& words, int i, float largest) {
    Ui& ui = s.ui;
    const float score = bar_score(words, i);
    const bool is_signed = words.shown_method().is_signed;
    const Colormap& map = is_signed ? signed_colormap(ui.colors->dark)
                                    : colormap(s.session.preferences.colormap, ui.colors->dark);
    const float place = is_signed ? 0.5f + 0.5f * score / largest : score / largest;
    const ImU32 back = std::isnan(score) ? ui.colors->bg2 : color_at(map, std::clamp(place, 0.0f, 1.0f));
    ui.fill(r, back, size::corner);
    write(ui, inset(r, 2, 0), kBodyMono, std::isnan(score) ? ui.colors->t3 : ink_on(back),
          words.all[i].part.label, Flush::center);
    if (is_masked_word(s, words.all[i].part)) ui.hatch(r, ui.colors->hatch);
    if (is_lit_word(s, words, i)) ui.frame(r, ui.colors->accent, 2, size::corner);
}

/// Returns the bar above a chip; empty without a score.
Rect bar_above(Ui& ui, Rect chip, float score, float largest) {
    const float high =
        std::isnan(score)
            ? 0
            : std::max(ui.line(), ui.snapped((kBarsHigh - kBarValue) * std::abs(score) / largest));
    return {chip.x, chip.y - gap::tight - high, chip.w, high};
}

/// Draws the values of bars that are large enough, where neither a bar nor another value stands.
void draw_bar_values(Ui& ui, const ScoredWords& words, const std::vector<Rect>& bars, float largest) {
    constexpr float kWorthSaying = 0.09f;
    Rect last{};
    for (int i = 0; i < isize(bars); ++i) {
        const float score = bar_score(words, i);
        if (std::isnan(score) || std::abs(score) < kWorthSaying * largest) continue;
        const std::string value = signed_number(double(score), largest < 10 ? 3 : 2);
        const float wide = ui.text.width(kCaptionMono, value);
        const Rect place{bars[i].middle_x() - wide / 2, bars[i].y - kBarValue, wide, kBarValue};
        const auto stands_there = [&](const Rect& bar) { return bar.h > 0 && overlap(bar, place); };
        if (overlap(last, place) || std::any_of(bars.begin(), bars.end(), stands_there)) continue;
        ui.text.draw(place.x, place.middle_y(), kCaptionMono, score < 0 ? ui.colors->minus : ui.colors->plus,
                     value);
        last = {place.x, place.y, place.w + gap::tight, place.h};
    }
}

}  // namespace

float draw_word_bars(Scene& s, Rect area, const ScoredWords& words) {
    Ui& ui = s.ui;
    int lines = 0;
    std::vector<Rect> places = places_of_words(ui, area, words, lines);
    const bool bars = lines <= kLinesWithBars;
    const float step = bars ? kWordLine + kBarsHigh : kWordLine,
                largest = (words.ranks_by_second() ? words.second_range : words.first_range).largest();
    std::vector<Rect> above;
    for (Rect& r : places) {
        r.y = area.y + step * r.y + (bars ? kBarsHigh : 0) + gap::tight;
        if (bars) above.push_back(bar_above(ui, r, bar_score(words, isize(above)), largest));
    }
    for (int i = 0; i < isize(above); ++i)
        ui.fill(above[i], bar_score(words, i) < 0 ? ui.colors->minus : ui.colors->plus);
    draw_bar_values(ui, words, above, largest);
    for (int i = 0; i < isize(places); ++i) {
        if (!ui.in_sight(places[i])) continue;
        draw_word_chip(s, places[i], words, i, largest);
        answer_word(s, words, i, places[i], "influence/part/" + std::to_string(i));
    }
    return step * float(lines);
}

}  // namespace headlight

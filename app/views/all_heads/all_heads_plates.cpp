// Paints a plate under each head by a column, and draws the tags above that filter the heads.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/cast.h"
#include "figure/color_bar.h"
#include "parts/head_tags.h"
#include "parts/map_parts.h"
#include "parts/metric.h"
#include "views/all_heads/all_heads.h"

namespace headlight {

namespace {

constexpr float kLeastShown = 0.25f;  // smaller values have no number, which could read as a head's name

const Colormap& plate_colors(const Scene& s, const HeadColumn& column) {
    const bool dark = s.ui.colors->dark;
    return column.by_sweep ? signed_colormap(dark) : colormap(s.session.preferences.colormap, dark);
}

ImU32 mixed(ImU32 color, ImU32 under, float share) {
    const ImVec4 a = as_vec4(color), b = as_vec4(under);
    const auto channel = [share](float x, float y) {
        return int(255 * (share * x + (1 - share) * y) + 0.5f);
    };
    return IM_COL32(channel(a.x, b.x), channel(a.y, b.y), channel(a.z, b.z), 255);
}

/// Returns the number that a plate shows: of shares percents, of probabilities points.
float number_on_plate(const Scene& s, const HeadColumn& column, float value) {
    const bool points = column.by_sweep && s.session.document.metric.metric.kind == MetricKind::probability;
    return points || (!column.by_sweep && column.unit.empty()) ? 100 * value : value;
}

}  // namespace

std::string plate_value(const Scene& s, const HeadColumn& column, float value) {
    if (std::isnan(value)) return "—";
    if (column.by_sweep) return effect_text(s.session.document.metric.metric.kind, value);
    if (column.unit.empty()) return decimals(100 * double(value), 0) + " %";
    return number(value, 2) + " " + column.unit;
}

std::optional<Rgb> plate_color(const Scene& s, const HeadChoice& choice, int head) {
    const HeadColumn* column = choice.painted();
    if (!column || std::isnan(choice.value_on_plate(head))) return std::nullopt;
    const float value = choice.value_on_plate(head);
    const float place = value / choice.largest;
    return color_of(plate_colors(s, *column), column->by_sweep ? (1 + place) / 2 : place);
}

ImU32 plate_back(const Scene& s, const HeadChoice& choice, int head) {
    const auto color = plate_color(s, choice, head);
    return color ? IM_COL32(color->r, color->g, color->b, 255) : s.ui.colors->bg2;
}

void draw_plate(Scene& s, Rect plate, const HeadChoice& choice, int head, const std::string& name) {
    constexpr float kFaded = 0.45f;
    Ui& ui = s.ui;
    ImU32 back = plate_back(s, choice, head);
    if (!choice.kept[size_t(head)]) back = mixed(back, ui.colors->bg1, kFaded);
    ui.fill(plate, back, size::corner);
    Rect band = inset(take_bottom(plate, kPlateBand), kPlateEdge, 0);
    if (ui.text.width(kCaptionMono, name) <= band.w)
        take_left(band, write(ui, band, kCaptionMono, ink_on(back), name), name.empty() ? 0 : gap::tight);
    const float value = choice.value_on_plate(head);
    const std::string text = plate_value(s, *choice.painted(), value);
    const bool shown = std::abs(number_on_plate(s, *choice.painted(), value)) >= kLeastShown;  // not NaN
    if (!shown || ui.text.width(kCaptionMono, text) > band.w + 2 * kPlateEdge) return;
    ui.text.draw_right(band.right(), band.middle_y(), kCaptionMono, ink_on(back), text);
}

namespace {

/// Draws a chip for each tag with the number of its heads; a click shows them alone.
void draw_tag_chips(Scene& s, Toolbar& bar, const HeadChoice& choice) {
    std::string& chosen = s.of<AllHeadsState>().tag;
    std::map<const HeadTagRow*, int> counts;
    for (const HeadTagRow* tag : choice.tags) ++counts[tag];
    const int without = counts[nullptr];
    counts.erase(nullptr);
    for (const auto& [row, count] : counts) {
        const std::string label = std::string(row->glyph) + " " + row->word + "  " + std::to_string(count);
        if (bar.press("heads/tag/" + std::string(row->word), label, chosen == row->word).clicked)
            s.send("heads tagged", chosen == row->word ? "" : row->word);
    }
    const std::string none = "no tag " + std::to_string(without);
    if (!counts.empty() && s.ui.text.width(kCaption, none) <= bar.rest().w)
        bar.say(kCaption, s.ui.colors->t3, none);
}

/// "without it, ball falls ▬▬▬ ball rises", with the range of the colors.
void draw_plate_legend(Scene& s, Rect rest, const HeadChoice& choice) {
    constexpr float kLong = 240, kBar = 12;
    Ui& ui = s.ui;
    const HeadColumn& column = *choice.painted();
    if (column.values.empty() || rest.w < kLong) return;
    const float factor = number_on_plate(s, column, 1);
    const ColorBar bar = range_bar(plate_colors(s, column), double(factor * choice.largest), column.by_sweep);
    const std::string of = column.by_sweep ? metric_text(s) : column.label;
    const std::string rises = of + " rises", falls = "without it, " + of + " falls",
                      unit = column.by_sweep       ? ""
                             : column.unit.empty() ? of + ", %"
                                                   : of + ", " + column.unit;
    const auto words = [&](const std::string& text) { return ui.text.width(kCaption, text) + gap::medium; };
    if (column.by_sweep && kLong + words(rises) + words(falls) <= rest.w)
        caption(ui, take_right(rest, words(rises)), rises, Flush::right);
    const Rect place = take_right(rest, kLong);
    draw_color_bar(ui, bar, {place.x, place.y, place.w, kBar});
    const std::string& left = column.by_sweep ? falls : unit;
    if (words(left) <= rest.w) write(ui, take_right(rest, words(left)), kCaption, ui.colors->t3, left);
}

}  // namespace

void draw_tag_row(Scene& s, Rect& rest, const HeadChoice& choice) {
    constexpr float kHigh = 44;
    Rect row = inset(take_top(rest, kHigh), gap::large, 0);
    Rect legend = row;
    Toolbar bar(s.ui, row);
    bar.apart = gap::small;
    draw_tag_chips(s, bar, choice);
    if (!choice.painted()) return;
    take_left(legend, row.w - bar.rest().w, gap::large);
    draw_plate_legend(s, {legend.x, legend.y + gap::close, legend.w, size::line}, choice);
}

}  // namespace headlight

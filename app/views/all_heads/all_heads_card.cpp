// Draws the numbers of a head beside its thumbnail.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/head_tags.h"
#include "parts/metric.h"
#include "parts/result.h"
#include "views/all_heads/all_heads.h"

namespace headlight {

namespace {

constexpr float kCardWide = 320, kLine = 26, kFirstLine = 24, kTitleLine = 30, kCardFoot = 40, kCardTag = 32;

/// Places the card right of the thumbnail, else left of it, below it, or above.
Rect place_of_card(Rect area, Rect beside, float high) {
    const Rect inside = inset(area, gap::tight, gap::tight);
    const float right = beside.right() + gap::small, left = beside.x - gap::small - kCardWide;
    const bool fits = right + kCardWide <= inside.right() || left >= inside.x;
    const float below = beside.bottom() + gap::small, above = beside.y - gap::small - high;
    const float x = right + kCardWide <= inside.right() ? right : left,
                y = below + high <= inside.bottom() ? below : above;
    const auto within = [](float at, float from, float to) {
        return std::clamp(at, from, std::max(from, to));
    };
    if (fits) return {x, within(beside.y, inside.y, inside.bottom() - high), kCardWide, high};
    return {within(beside.x, inside.x, inside.right() - kCardWide), y, kCardWide, high};
}

/// "3rd of 7 measured".
std::string placed(const Scene& s, const HeadEffects& effects, int head) {
    int measured = 0, place = 1;
    const float value = std::abs(effects.change[size_t(head)]);
    for (const float v : effects.change.values()) {
        measured += !std::isnan(v);
        place += std::abs(v) > value;
    }
    const std::string of = std::to_string(measured), all = std::to_string(s.model()->config.head_count());
    if (std::isnan(value)) return of + " of " + all + " measured";
    const int last = place % 10, teen = place / 10 % 10;
    const char* ending = teen == 1 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
    const bool partial = measured < s.model()->config.head_count();
    return std::to_string(place) + ending + " of " + of + (partial ? " measured" : "");
}

/// Draws a statistic's name and value, and a bar if it has no unit.
void draw_statistic(Column& c, const HeadStatistic& statistic, float value, bool sorting) {
    constexpr float kBars = 132, kBarLength = 90;
    const bool known = !std::isnan(value), of_unit = *statistic.unit != 0;
    if (known && !of_unit) {
        Rect bar = c.line(size::bar);
        take_left(bar, kBars);
        c.ui.bar(take_left(bar, kBarLength), value, sorting ? c.ui.colors->accent : c.ui.colors->t3);
    }
    const std::string unit = known && of_unit ? " " + std::string(statistic.unit) : "";
    c.ui.tooltip("number/" + std::string(statistic.label), c.ui.over(c.line()), statistic.definition);
    c.pair(statistic.label, fine_number(value, of_unit ? 2 : 3) + unit, sorting);
}

/// Draws the effect of ablating the head, and the metric's token with and without it.
void draw_effect(Scene& s, Column& c, const HeadEffects& effects, int head) {
    const MetricValues change = effects.of(size_t(head));
    const MetricValues& before = effects.before;
    c.pair("Δ " + metric_text(s), effect_text(effects.metric.kind, change.value), Column::Pair::emphasis);
    if (effects.metric.a < 0) return;
    draw_change_pair(s, c, prediction_label(*s.model(), effects.metric.a), "if ablated",
                     {{MetricKind::probability, effects.metric.a},
                      before,
                      {before.probability + change.probability, before.probability + change.probability,
                       before.logit + change.logit, before.log_probability + change.log_probability}});
}

struct CardLines {
    std::string label;
    std::vector<HeadTag> tags;
    std::shared_ptr<const HeadEffects> effects;
    bool measured = false;

    float high() const {
        return kLine * float(kStatistics + !label.empty() + 2 * measured) + kCardTag * float(tags.size());
    }
};

void draw_card(Scene& s, Rect r, const CardLines& lines, int head) {
    Ui& ui = s.ui;
    const AttentionHead at = s.model()->config.head_at(head);
    Column c(ui, inset(r, gap::large, 0), r.y + kFirstLine);
    c.pair_step = kLine;
    write(ui, c.line(), kTitle, ui.colors->t1, "Head " + head_name(s.model()->config, at));
    if (lines.effects) caption(ui, c.line(), placed(s, *lines.effects, head), Flush::right);
    c.skip(kTitleLine);
    if (!lines.label.empty()) {
        write(ui, c.line(), kBody, ui.colors->accent_text, lines.label);
        c.skip(kLine);
    }
    for (const HeadTag& tag : lines.tags) {
        draw_tags(s, c.line(), {&tag, 1});
        c.skip(kCardTag);
    }
    if (lines.measured) draw_effect(s, c, *lines.effects, head);
    for (int i = 0; i < kStatistics; ++i)
        draw_statistic(c, head_statistics()[i], s.sentence()->heads[at].statistics[i],
                       s.of<AllHeadsState>().sort == i);
    c.skip(gap::close);
    caption(ui, c.line(), "Click opens it · Shift click compares · Right click labels");
}

}  // namespace

void draw_head_card(Scene& s, Rect area, Rect beside, int head) {
    Ui& ui = s.ui;
    if (ui.on_page()) return;
    const AttentionHead at = s.model()->config.head_at(head);
    CardLines lines{head_label(s, at.block, at.head), tags_of(s, at), sweep_effects(s)};
    lines.measured = lines.effects && !std::isnan(lines.effects->change[size_t(head)]);
    const Rect r = place_of_card(area, beside, kFirstLine + kTitleLine + lines.high() + kCardFoot);
    ui.name("heads/card", r);
    ImDrawList* below = ui.list;
    ui.use_list(ImGui::GetForegroundDrawList());
    ui.fill(r, ui.colors->bg2, size::popup_corner);
    ui.frame(r, ui.colors->l2, 1, size::popup_corner);
    draw_card(s, r, lines, head);
    ui.use_list(below);
}

}  // namespace headlight

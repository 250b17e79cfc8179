#include "panels/intervention_effects.h"

#include <algorithm>
#include <cmath>

#include "parts/metric.h"
#include "parts/side_panel.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Draws the metric: "80.4 % → 13.9 % −66.5" for a token, with its log p and logit; else "3.2 → 1.1 −2.1".
void draw_headline(Scene& s, Rect column, float y, const MetricReport& m) {
    Ui& ui = s.ui;
    constexpr float kLine = 32, kApart = 10;
    const MetricValues change = m.now - m.before;
    const bool percents = shows_percents(m.metric.kind);
    Rect title = line_at(column, y, kLine);
    const std::string beside = "Δ log p " + effect_text(MetricKind::log_probability, change.log_probability);
    if (percents)
        take_right(title, write(ui, beside_title(title), kCaptionMono, ui.colors->t2, beside, Flush::right),
                   gap::small);
    write(ui, title, kTitleMono, ui.colors->t1,
          percents ? listed_label(*s.model(), m.metric.a) : metric_label(*s.model(), m.metric));
    Rect line = line_at(column, y + kLine, kLine);
    const float shown = percents ? change.probability : change.value;
    write(ui, line, kTitleMono, change_ink(ui, shown),
          effect_text(percents ? MetricKind::probability : m.metric.kind, shown), Flush::right);
    take_left(line, write(ui, line, kTitleMono, ui.colors->t2, metric_value(m.metric.kind, m.before)),
              kApart);
    take_left(line, write(ui, line, kTitle, ui.colors->t3, "→"), kApart);
    write(ui, line, kTitleMono, ui.colors->accent_text, metric_value(m.metric.kind, m.now));
    ui.tooltip("effects/metric", ui.hit("effects/metric", {column.x, y - kLine / 2, column.w, 2 * kLine}),
               effect_details(change));
}

/// Names what the probabilities predict, in sequence.
std::vector<std::string> stage_labels(const Scene& s, const Stages& stages) {
    const Intervention& now = s.sentence()->intervention;
    std::vector<std::string> out{stages.first == 0
                                     ? now.mask.is_own() ? "unchanged" : "mask"
                                     : std::to_string(stages.first) +
                                           (stages.first == 1 ? " intervention" : " interventions")};
    for (size_t i = stages.first; i < now.changes.size(); ++i)
        out.push_back("+ " + change_text(s, now.changes[i]));
    return out;
}

/// Drops the leading words that labels share: "… ball 10".
std::string distinguishing(const std::vector<std::string>& labels, size_t which) {
    const std::string& label = labels[which];
    size_t common = 0;  // up to a word boundary
    for (size_t other = 0; other < labels.size(); ++other) {
        if (other == which) continue;
        const auto end =
            std::mismatch(label.begin(), label.end(), labels[other].begin(), labels[other].end());
        const size_t same = end.first - label.begin(), blank = label.find_last_of(' ', same);
        if (blank != std::string::npos && blank < same) common = std::max(common, blank + 1);
    }
    const bool number_alone =
        common > 1 && label.find_first_not_of("0123456789", common) == std::string::npos;
    if (number_alone) common = label.rfind(' ', common - 2) + 1;  // a position stays with its token
    return common == 0 ? label : "… " + label.substr(common);
}

/// Length of a stage's bar: the probability, or the metric relative to its maximum.
float stage_share(const Stages& stages, size_t at) {
    const MetricKind kind = stages.metric.kind;
    if (kind == MetricKind::log_probability || kind == MetricKind::probability)
        return stages.values[at].probability;
    float largest = 1e-6f;
    for (const MetricValues& v : stages.values) largest = std::max(largest, std::abs(v.value));
    return std::abs(stages.values[at].value) / largest;
}

/// Draws the metric after each intervention.
void draw_stages(Scene& s, SidePanel& c) {
    const auto* found = s.found<StagesRequest>();
    const auto& changes = s.sentence()->intervention.changes;
    if (!found || found->answer.values.size() < 2 ||
        found->answer.first + found->answer.values.size() != changes.size() + 1)
        return;
    const Stages& stages = found->answer;
    const auto labels = stage_labels(s, stages);
    const float room = c.at.w * 0.46f;
    c.rule();
    c.heading(metric_text(s) + " after each intervention");
    c.bars = c.at.w * 0.5f;
    for (size_t i = 0; i < labels.size() && c.y + 14 < c.end(); ++i) {
        const bool fits = c.ui.text.width(kBodyMono, labels[i]) <= room;
        const std::string path = "effects/stage/" + std::to_string(i);
        if (!fits) c.ui.tooltip(path, c.ui.hit(path, {c.at.x, c.y - 12, room, 24}), labels[i]);
        const MetricValues& v = stages.values[i];
        c.bar({"", fits ? labels[i] : distinguishing(labels, i), stage_share(stages, i),
               metric_value(stages.metric.kind, v), i + 1 == labels.size()});
    }
}

}  // namespace

std::vector<Question> ask_about_changes(const Scene& s) {
    if (!s.sentence()->unchanged) return {};
    std::vector<Question> out;
    if (s.session.preferences.rank == kRankByMoved) out.push_back(MovedRequest{});
    if (shows_effects(s) && !s.of<Painting>().begun)
        out.push_back(StagesRequest{s.session.document.metric.metric});
    return out;
}

bool shows_effects(const Scene& s) {
    return !s.sentence()->effects.empty() &&
           (s.of<Painting>().brush != Brush::off || !s.session.selection.focused());
}

void draw_effects_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const bool vision = s.model()->config.can.read_image;
    Rect line = inspector_line(ui, area);
    write(ui, line, kTitle, ui.colors->t1,
          vision                             ? "Class"
          : s.model()->config.can.fill_masks ? "Masked token"
                                             : "Next token");
    draw_metric_chip(s, "effects", take_right(line, std::min(metric_chip_width(s), line.w / 2)));
    const Rect foot = panel_foot(area),
               compare{foot.x, foot.y - gap::small - size::button, foot.w, size::button};
    const bool stages = s.found<StagesRequest>() && area.h > 560;
    SidePanel panel(s, area, foot.y - compare.y);
    panel.skip(4);
    if (const MetricReport* metric = metric_report(s)) {
        if (metric->changed)
            draw_headline(s, panel.at, panel.y, *metric);
        else
            panel.note(metric->refusal);
    }
    panel.y = area.y + 136 - panel.hidden();
    panel.rule();
    panel.y = draw_effects(s, panel.at, panel.y, compare.y - panel.hidden() - (stages ? 190 : 20));
    if (stages) draw_stages(s, panel);
    panel.finish();
    if (ui.button("effects/compare", compare, "Compare before and after")) {
        s.send("compare", "changes");
        s.send("view compare");
    }
}

namespace {

constexpr float kTokenName = 80, kChange = 56, kChangesRoomy = 290;

/// "before ▬ after ▬ Δ log p Δ logit points": as many columns of changes as fit.
void draw_effects_head(Ui& ui, Rect line) {
    constexpr float kSwatch = 14, kHigh = 7;
    caption(ui, take_right(line, kChange), "points", Flush::right);
    if (line.w + kChange > kChangesRoomy)
        for (const char* name : {"Δ logit", "Δ log p"})
            caption(ui, take_right(line, kChange), name, Flush::right);
    for (const auto& [text, color] :
         {std::pair{"before", ui.colors->t3}, std::pair{"after", ui.colors->accent}}) {
        const bool fits = ui.text.width(kCaption, text) + gap::close + kSwatch <= line.w;
        if (fits) take_left(line, write(ui, line, kCaption, ui.colors->t3, text), gap::close);
        ui.fill(band(take_left(line, kSwatch, gap::medium), kHigh), color);
    }
}

/// Draws a token, its probabilities before and after as two bars, and the changes in log p, logit and
/// probability.
void draw_effect(Ui& ui, Rect line, const ProbabilityChange& p, const std::string& path) {
    constexpr float kBars = 12, kBar = 5;
    ui.tooltip(path, ui.hit(path, line),
               percent(p.a) + " → " + percent(p.b) + "   " +
                   effect_details({0, p.b - p.a, p.logit, p.log_probability}));
    const bool roomy = line.w > kChangesRoomy;
    const auto say = [&](MetricKind kind, float change, ImU32 ink) {
        write(ui, take_right(line, kChange), kCaptionMono, ink, effect_text(kind, change), Flush::right);
    };
    say(MetricKind::probability, p.b - p.a, change_ink(ui, p.b - p.a));
    if (roomy) say(MetricKind::logit, p.logit, ui.colors->t2);
    if (roomy) say(MetricKind::log_probability, p.log_probability, ui.colors->t2);
    write(ui, take_left(line, kTokenName, gap::tight), kBodyMono, ui.colors->t1, p.label);
    take_right(line, 0, gap::tight);
    Rect bars = band(line, kBars);
    const auto bar = [&](Rect r, float share, ImU32 color) {
        ui.fill({r.x, r.y, std::max(ui.line(), r.w * share), r.h}, color);
    };
    bar(take_top(bars, kBar), p.a, ui.colors->t3);
    bar(take_bottom(bars, kBar), p.b, ui.colors->accent);
}

}  // namespace

float draw_effects(Scene& s, Rect column, float y, float bottom) {
    constexpr float kStep = 26, kLeast = 60;
    const MetricReport* metric = metric_report(s);
    const auto& effects = metric && metric->changed ? metric->effects : s.sentence()->effects;
    if (effects.empty() || y + kLeast > bottom) return y;
    draw_effects_head(s.ui, line_at(column, y, kStep));
    for (int i = 0; i < isize(effects) && y + kStep + 10 <= bottom; ++i) {
        y += kStep;
        draw_effect(s.ui, line_at(column, y, kStep), effects[i], "effects/token/" + std::to_string(i));
    }
    return y + gap::wide;
}

}  // namespace headlight

// Draws the result of interventions.
#include "parts/result.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "parts/fold.h"
#include "parts/metric.h"
#include "parts/side_panel.h"

namespace headlight {

namespace {

constexpr const char* kResultFold = "result";

/// Of a value, and of a change of it.
const char* value_unit(MetricKind kind) {
    return shows_percents(kind) ? "probability" : kind == MetricKind::divergence ? "bits" : "logit";
}
const char* change_unit(MetricKind kind) { return shows_percents(kind) ? "points" : value_unit(kind); }

/// The change that is shown beside before → after.
std::string shown_change(const MetricReport& m) {
    const MetricValues change = m.now - m.before;
    return shows_percents(m.metric.kind) ? points_text(change.probability)
                                         : effect_text(m.metric.kind, change.value);
}

ImU32 result_ink(const Ui& ui, const MetricChange& m) {
    const MetricValues change = m.now - m.before;
    return change_ink(ui, shows_percents(m.metric.kind) ? change.probability : change.value);
}

/// Draws "98.9 % → 10.6 %"; returns its width.
float write_before_after(Ui& ui, Rect line, Font font, const MetricReport& m) {
    constexpr float kApart = 8;
    const float from = line.x;
    take_left(line, write(ui, line, font, ui.colors->t2, metric_value(m.metric.kind, m.before)), kApart);
    take_left(line, write(ui, line, font, ui.colors->t3, "→"), kApart);
    take_left(line, write(ui, line, font, ui.colors->accent_text, metric_value(m.metric.kind, m.now)));
    return line.x - from;
}

/// Returns the length of a bar: a probability, or the value relative to the largest of `all`.
float bar_share(MetricKind kind, const MetricValues& of, std::span<const MetricValues> all) {
    if (shows_percents(kind)) return of.probability;
    float largest = 1e-6f;
    for (const MetricValues& v : all) largest = std::max(largest, std::abs(v.value));
    return std::abs(of.value) / largest;
}

std::string predicted_what(const Scene& s) {
    const int position = s.session.document.metric.metric.position;
    if (position >= 0) return "at " + token_at(s.sentence()->labels.back(), position);
    return s.model()->config.can.read_image   ? "class"
           : s.model()->config.can.fill_masks ? "masked token"
                                              : "next token";
}

/// Draws the metric before and after: numbers, two bars, the change.
void draw_headline(Scene& s, Column& c, const MetricReport& m) {
    constexpr float kLine = 32, kBar = 4, kUnit = 72;
    Ui& ui = s.ui;
    ui.tooltip("effects/metric", ui.hit("effects/metric", {c.at.x, c.y - kLine / 2, c.at.w, 2 * kLine}),
               effect_details(m.now - m.before));
    Rect name = c.line(kLine);
    caption(ui, take_right(name, ui.text.width(kCaption, predicted_what(s)), gap::small), predicted_what(s),
            Flush::right);
    write(ui, name, kTitleMono, ui.colors->t1, result_name(s, m.metric));
    c.y += kLine;
    Rect values = c.line(kLine);
    write(ui, take_right(values, kUnit, gap::small), kTitleMono, result_ink(ui, {m.metric, m.before, m.now}),
          shown_change(m), Flush::right);
    write_before_after(ui, values,
                       ui.text.width(kTitleMono, "99.4 % → 99.4 %") > values.w ? kBodyMono : kTitleMono, m);
    c.y += 24;
    Rect bars = c.line(2 * kBar + 2);
    caption(ui, take_right(bars, kUnit, gap::small), change_unit(m.metric.kind), Flush::right);
    const MetricValues both[] = {m.before, m.now};
    ui.bar(take_top(bars, kBar, 2), bar_share(m.metric.kind, m.before, both), ui.colors->t3);
    ui.bar(take_top(bars, kBar), bar_share(m.metric.kind, m.now, both), ui.colors->accent);
    c.y += 24;
}

/// Draws what the metric leaves out of its token.
void draw_details(Scene& s, Column& c, const MetricReport& m) {
    const MetricValues change = m.now - m.before;
    if (m.metric.a < 0) return;
    if (!shows_percents(m.metric.kind))
        c.pair("p " + prediction_label(*s.model(), m.metric.a),
               percent(m.before.probability) + " → " + percent(m.now.probability));
    c.pair("Δ log p", effect_text(MetricKind::log_probability, change.log_probability));
    if (m.metric.kind != MetricKind::logit) c.pair("Δ logit", effect_text(MetricKind::logit, change.logit));
}

/// "98.9", "<0.1": a probability under a heading of percents.
std::string percent_number(float p) { return p > 0 && p < 5e-4f ? "<0.1" : number(100 * double(p), 1); }

/// Lists the tokens whose probability changed most.
void draw_movers(Scene& s, Column& c, const std::vector<ProbabilityChange>& tokens) {
    constexpr float kValue = 62, kStep = 24;
    constexpr int kListed = 8;
    Ui& ui = s.ui;
    if (tokens.empty()) return;
    c.rule();
    write(ui, c.line(), kBody, ui.colors->t1, "Top movers");
    c.y += kStep;
    const auto columns = [&](Rect line) {
        std::array<Rect, 4> out;
        for (int i = 3; i > 0; --i) out[size_t(i)] = take_right(line, kValue, 0);
        out[0] = line;
        return out;
    };
    const auto heads = columns(c.line());
    const char* names[] = {"token", "before %", "after %", "points"};
    for (size_t i = 0; i < 4; ++i) caption(ui, heads[i], names[i], i ? Flush::right : Flush::left);
    for (int i = 0; i < std::min(kListed, isize(tokens)); ++i) {
        c.y += kStep;
        const ProbabilityChange& p = tokens[size_t(i)];
        const auto at = columns(c.line());
        const std::string path = "effects/token/" + std::to_string(i);
        ui.tooltip(path, ui.hit(path, c.line()), effect_details({0, p.b - p.a, p.logit, p.log_probability}));
        write(ui, at[0], kBodyMono, ui.colors->t1, p.label);
        write(ui, at[1], kCaptionMono, ui.colors->t2, percent_number(p.a), Flush::right);
        write(ui, at[2], kCaptionMono, ui.colors->t1, percent_number(p.b), Flush::right);
        write(ui, at[3], kCaptionMono, change_ink(ui, p.b - p.a), points_text(p.b - p.a), Flush::right);
    }
    c.y += kStep;
}

/// Lists the heads that moved farthest; a click selects one.
void draw_moved(Scene& s, Column& c) {
    constexpr int kListed = 5;
    constexpr float kStep = 26;
    Ui& ui = s.ui;
    const Moved* moved = moved_heads(s);
    if (!moved) return;
    const ModelConfig& config = s.model()->config;
    const auto heads = moved->heads(config);
    c.rule();
    write(ui, c.line(), kBody, ui.colors->t1, "Heads that moved");
    caption(ui, c.line(), "JS, bits", Flush::right);
    ui.tooltip("effects/moved", ui.hit("effects/moved", c.line()), moved_title(s) + ": " + moved_help(s));
    c.y += kStep;
    if (heads.empty()) return c.note("No head’s pattern changed.");
    c.bars = c.at.w * 0.4f;
    for (int i = 0; i < std::min(kListed, isize(heads)); ++i) {
        const AttentionHead head = heads[size_t(i)];
        const std::string path = "effects/head/" + head_name(config, head);
        const bool on = head == AttentionHead{s.session.selection.block, s.session.selection.head};
        const Hit h = ui.control(path, line_at(c.at, c.y, kStep));
        if (h.hovered)
            ui.fill(line_at(inset(c.at, -gap::close, 0), c.y, kStep), ui.colors->bg3, size::corner);
        if (h.clicked) s.select(head.block, head.head);
        c.bar({"", head_name(config, head), moved->distances[head] / moved->distances[heads[0]],
               number(moved->distances[head], 3), on},
              kStep);
    }
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

/// Draws the metric after each intervention.
void draw_stages(Scene& s, Column& c) {
    const auto* found = s.found<StagesRequest>();
    const auto& changes = s.sentence()->intervention.changes;
    if (!found || found->answer.values.size() < 3 ||  // one intervention: its result is the whole
        found->answer.first + found->answer.values.size() != changes.size() + 1)
        return;
    const Stages& stages = found->answer;
    const auto labels = stage_labels(s, stages);
    const float room = c.at.w * 0.46f;
    c.rule();
    c.heading(result_name(s, stages.metric) + " after each", value_unit(stages.metric.kind));
    c.bars = c.at.w * 0.5f;
    for (size_t i = 0; i < labels.size(); ++i) {
        const bool fits = c.ui.text.width(kBodyMono, labels[i]) <= room;
        const std::string path = "effects/stage/" + std::to_string(i);
        if (!fits) c.ui.tooltip(path, c.ui.hit(path, {c.at.x, c.y - 12, room, 24}), labels[i]);
        const MetricValues& v = stages.values[i];
        c.bar({"", fits ? labels[i] : distinguishing(labels, i),
               bar_share(stages.metric.kind, v, stages.values), metric_value(stages.metric.kind, v),
               i + 1 == labels.size()});
    }
}

/// Draws all of the result, from the metric to the heads.
void draw_result(Scene& s, Column& c) {
    const MetricReport* metric = metric_report(s);
    const float bars = c.bars;
    if (metric && !metric->changed) c.note(metric->refusal);
    if (metric && metric->changed) {
        draw_headline(s, c, *metric);
        draw_details(s, c, *metric);
    }
    draw_movers(s, c, metric && metric->changed ? metric->effects : s.sentence()->effects);
    draw_moved(s, c);
    draw_stages(s, c);
    c.bars = bars;
}

}  // namespace

std::string result_name(const Scene& s, const Metric& metric) {
    return shows_percents(metric.kind) ? prediction_label(*s.model(), metric.a) : metric_text(s);
}

void draw_change_pair(Scene& s, Column& c, const std::string& name, const std::string& what,
                      const MetricChange& m) {
    Ui& ui = s.ui;
    Rect line = c.line();
    ui.tooltip("ablated/" + what, ui.hit("ablated/" + what, line), effect_details(m.now - m.before));
    const std::string from = metric_value(m.metric.kind, m.before), to = metric_value(m.metric.kind, m.now);
    write(ui, take_right(line, ui.text.width(kBodyMono, to), gap::close), kBodyMono, result_ink(ui, m), to);
    write(ui, take_right(line, ui.text.width(kBody, "→"), gap::close), kBody, ui.colors->t3, "→");
    write(ui, take_right(line, ui.text.width(kBodyMono, from), gap::small), kBodyMono, ui.colors->t1, from);
    Rect named = line;
    named.w -= ui.text.width(kBody, what) + gap::close;
    if (!name.empty() && ui.text.width(kBodyMono, name) <= named.w)
        take_left(line, write(ui, named, kBodyMono, ui.colors->t2, name), gap::close);
    write(ui, line, kBody, ui.colors->t2, what);
    c.skip(c.pair_step);
}

std::vector<Question> ask_about_changes(const Scene& s) {
    if (!has_result(s) || s.of<Painting>().begun) return {};
    const Metric& metric = s.session.document.metric.metric;
    std::vector<Question> out{MovedRequest{shown_metric(s).position}};
    if (shows_result(s) || is_open(s, kResultFold, Begins::closed)) out.emplace_back(StagesRequest{metric});
    return out;
}

bool has_result(const Scene& s) { return s.sentence() && s.sentence()->unchanged; }

bool shows_result(const Scene& s) {
    return has_result(s) && (s.of<Painting>().brush != Brush::off || !s.session.selection.focused());
}

const Moved* moved_heads(const Scene& s) {
    const auto* found = s.found<MovedRequest>();
    return has_result(s) && found && !found->answer.distances.empty() ? &found->answer : nullptr;
}

std::string moved_title(const Scene& s) {
    const Moved* moved = moved_heads(s);
    if (!moved || moved->position < 0) return "Change in pattern (JS, bits)";
    return "Change at " + token_at(s.sentence()->labels.back(), moved->position) + " (JS, bits)";
}

std::string moved_help(const Scene& s) {
    const Moved* moved = moved_heads(s);
    const bool row = moved && moved->position >= 0;
    const bool others = row && s.model()->config.stacks.size() > 1;
    return "Jensen–Shannon divergence, in bits, of each head’s " +
           std::string(row ? "row at this position" : "rows") + " before and after the interventions" +
           (row ? "" : ", averaged") + (others ? "; of encoder heads the mean over their rows." : ".");
}

void draw_result_inspector(Scene& s, Rect area, bool offers) {
    Rect line = inspector_line(s.ui, area);
    write(s.ui, line, kTitle, s.ui.colors->t1, "Result");
    draw_metric_chip(s, "effects", take_right(line, std::min(metric_chip_width(s), line.w * 0.6f)));
    const Rect foot = panel_foot(area),
               compare{foot.x, foot.y - gap::small - size::button, foot.w, size::button};
    SidePanel panel(s, area, offers ? foot.y - compare.y : 0, SidePanel::Top::none);
    draw_result(s, panel);
    panel.finish();
    if (offers && s.ui.button("effects/compare", compare, "Compare before and after")) {
        s.send("compare", "changes");
        s.send("view compare");
    }
}

void draw_result_fold(Scene& s, Column& c) {
    const MetricReport* metric = has_result(s) && !s.ui.on_page() ? metric_report(s) : nullptr;
    if (!metric || !metric->changed) return;
    Ui& ui = s.ui;
    Rect line = c.line();
    ui.tooltip("effects/line", ui.over(line), effect_details(metric->now - metric->before));
    const bool open = turn_fold(s, line, kResultFold, Begins::closed);
    const std::string name = ui.text.fitted(kBodyMono, result_name(s, metric->metric), line.w * 0.35f);
    take_left(line, write(ui, line, kBodyMono, ui.colors->t1, name), gap::small);
    write_before_after(ui, line, kBodyMono, *metric);
    c.y += size::row;
    if (open) draw_result(s, c);
}

void draw_short_result(Scene& s, Column& c, float bottom) {
    constexpr float kStep = 24;
    Ui& ui = s.ui;
    const MetricReport* m = metric_report(s);
    if (!m || !m->changed) return;
    c.rule();
    ui.name("effects/short", c.line());
    Rect head = c.line();
    take_left(head, write(ui, head, kCaption, ui.colors->t3, "Result"), gap::small);
    write(ui, head, kCaptionMono, ui.colors->t1, result_name(s, m->metric), Flush::right);
    c.skip(kStep);
    write(ui, c.line(), kBodyMono, ui.colors->t2, metric_value(m->metric.kind, m->before));
    c.skip(kStep);
    write(ui, c.line(), kTitleMono, ui.colors->accent_text, "→ " + metric_value(m->metric.kind, m->now));
    c.skip(kStep + gap::tight);
    c.pair(shows_percents(m->metric.kind) ? "points" : "change", shown_change(*m));
    if (m->metric.a >= 0)
        c.pair("Δ log p", effect_text(MetricKind::log_probability, (m->now - m->before).log_probability));
    if (m->effects.empty() || c.y + 3 * kStep > bottom) return;
    c.rule();
    caption(ui, c.line(), "Top movers");
    caption(ui, c.line(), "%", Flush::right);
    c.skip(kStep);
    for (const ProbabilityChange& p : m->effects) {
        if (c.y + kStep / 2 > bottom) return;
        Rect line = c.line();
        const std::string after = percent_number(p.b);
        write(ui, take_right(line, ui.text.width(kCaptionMono, after), gap::small), kCaptionMono,
              change_ink(ui, p.b - p.a), after, Flush::right);
        write(ui, line, kCaptionMono, ui.colors->t1, p.label);
        c.skip(kStep);
    }
}

void draw_result_line(Scene& s, Rect line) {
    Ui& ui = s.ui;
    const MetricReport* m = metric_report(s);
    if (!has_result(s) || !m || !m->changed) return;
    ui.name("effects/line", line);
    take_left(line, write(ui, line, kBodyMono, ui.colors->t1, result_name(s, m->metric)), gap::medium);
    take_left(line, write_before_after(ui, line, kTitleMono, *m), gap::large);
    const MetricValues change = m->now - m->before;
    std::vector<std::pair<std::string, ImU32>> more{{shown_change(*m) + " " + change_unit(m->metric.kind),
                                                     result_ink(ui, {m->metric, m->before, m->now})}};
    if (m->metric.a >= 0) {
        more.emplace_back("Δ log p " + effect_text(MetricKind::log_probability, change.log_probability),
                          ui.colors->t2);
        more.emplace_back("Δ logit " + effect_text(MetricKind::logit, change.logit), ui.colors->t2);
    }
    for (const auto& [text, ink] : more)
        if (ui.text.width(kBodyMono, text) <= line.w)
            take_left(line, write(ui, line, kBodyMono, ink, text), gap::large);
}

}  // namespace headlight

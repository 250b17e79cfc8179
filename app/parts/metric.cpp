#include "parts/metric.h"

#include <algorithm>
#include <cmath>

#include "base/quoted.h"
#include "parts/interventions.h"
#include "parts/view.h"

namespace headlight {

namespace {

constexpr int kDigits = 2;

}  // namespace

const MetricReport* metric_report(const Scene& s) {
    const auto* found = s.found<MetricRequest>();
    return found && found->asked.metric == s.session.document.metric.metric ? &found->answer : nullptr;
}

std::pair<int, int> explained_tokens(const Scene& s) {
    const Metric& metric = s.session.document.metric.metric;
    return {metric.a, metric.kind == MetricKind::difference ? metric.b : -1};
}

int explained_position(const Scene& s) {
    const int size = s.sentence()->trace->output().size();
    const int chosen = s.session.document.metric.metric.position;
    if (chosen >= 0 && !s.session.selection.hovered.cell) return std::min(chosen, size - 1);
    const auto cell = s.shown_cell();
    const bool of_output = s.model()->config.block(s.block()).stack + 1 == isize(s.model()->config.stacks);
    return cell && of_output ? std::min(cell->first, size - 1) : size - 1;
}

std::string explained_text(const Model& model, int token, int against) {
    return listed_label(model, token) + (against < 0 ? "" : " − " + listed_label(model, against));
}

/// The default of an unchanged run is among its predictions.
std::vector<Question> ask_about_metric(const Scene& s) {
    const Metric& metric = s.session.document.metric.metric;
    std::vector<Question> out;
    if (!s.model()->has_logits() || s.of<Painting>().begun) return out;
    if (metric != Metric{} || s.sentence()->unchanged) out.push_back(MetricRequest{metric});
    if (s.session.shows(Sheet::metric))
        out.push_back(TokenChoicesRequest{shown_metric(s).position, s.of<MetricMenu>().typed});
    return out;
}

Metric shown_metric(const Scene& s) {
    Metric metric = s.session.document.metric.metric;
    if (const MetricReport* report = metric_report(s); report && report->metric.a >= 0) return report->metric;
    const auto& predicted = s.sentence()->predictions;
    if (std::max(metric.a, metric.b) >= s.model()->config.vocab) metric = {};  // of the previous model
    if (metric.a < 0 && metric.position < 0) {
        metric.a = s.sentence()->explained.token;
        metric.position = s.sentence()->explained.position;
    } else if (metric.position < 0 && !predicted.empty()) {
        metric.position = predicted[0].position;
    }
    return metric;
}

std::string why_explained_there(const Scene& s) {
    const Metric& metric = s.session.document.metric.metric;
    const bool chosen = metric.position >= 0 || metric.a >= 0;
    return chosen || !s.sentence() ? "" : s.sentence()->explained.reason;
}

Metric metric_to_vary(const Scene& s) {
    Metric out = s.session.document.metric.metric;
    if (!why_explained_there(s).empty() && s.sentence()->explained.token >= 0)
        out.position = s.sentence()->explained.position;
    return out;
}

std::string metric_text(const Scene& s) {
    int position = s.session.document.metric.metric.position;
    if (!why_explained_there(s).empty()) position = s.sentence()->explained.position;
    if (position < 0) return metric_label(*s.model(), shown_metric(s));
    const auto& labels = s.sentence()->labels;  // empty in a figure without labels
    const bool named = !labels.empty() && position < isize(labels.back());
    const std::string at = " at " + (named ? token_at(labels.back(), position) : std::to_string(position));
    return metric_label(*s.model(), shown_metric(s)) + at;
}

bool shows_percents(MetricKind kind) {
    return kind == MetricKind::log_probability || kind == MetricKind::probability;
}

std::string metric_value(MetricKind kind, const MetricValues& values) {
    return shows_percents(kind) ? percent(values.probability) : number(values.value, kDigits);
}

std::string effect_text(MetricKind kind, float change) {
    return kind == MetricKind::probability ? points_text(change) : signed_number(change, kDigits);
}

std::string effect_details(const MetricValues& change) {
    return "Δ log p " + signed_number(change.log_probability, kDigits) + "   Δ logit " +
           signed_number(change.logit, kDigits) + "   " + points_text(change.probability) + " points";
}

std::function<std::string(int)> sweep_details(const Scene& s) {
    const auto effects = sweep_effects(s);
    if (!effects) return nullptr;
    return [effects, name = metric_text(s)](int head) -> std::string {
        const MetricValues change = effects->of(head);
        if (std::isnan(change.value)) return "Not measured yet.";
        const MetricKind kind = effects->metric.kind;
        return (shows_percents(kind) ? "" : name + " " + effect_text(kind, change.value) + "   ") +
               effect_details(change);
    };
}

namespace {

constexpr float kMetricSign = 22, kArm = 3.5f, kMaxChip = 260;

Chip metric_chip(const Scene& s, const std::string& text) {
    const bool chosen = !s.session.document.metric.name.empty();
    Chip chip{text.empty() ? metric_text(s) : text, chosen ? s.ui.colors->accent_text : s.ui.colors->t1};
    chip.edge = chosen ? s.ui.colors->accent : s.ui.colors->l2;
    chip.back = chosen ? s.ui.colors->accent_fill : s.ui.colors->bg2;
    return chip;
}

/// "Metric: log-probability of a token, in nats. Click to choose another; every view uses it."
std::string explanation(const Scene& s) {
    const MetricReport* report = metric_report(s);
    std::string out = std::string("Metric: ") + metric_row(s.session.document.metric.metric.kind).help + ".";
    if (report && !report->refusal.empty()) return out + " " + report->refusal;
    if (const std::string why = why_explained_there(s); !why.empty()) out += " " + why;
    return out + " Click to choose another; every view uses it.";
}

}  // namespace

float metric_chip_width(const Scene& s, const std::string& text) {
    return std::min(kMaxChip, chip_width(s.ui, metric_chip(s, text)) + kMetricSign);
}

float draw_metric_chip(Scene& s, const std::string& where, Rect line, const std::string& text) {
    Ui& ui = s.ui;
    if (ui.on_page() || ui.without_toolbars || line.w < 2 * kMetricSign) return 0;
    const Chip chip = metric_chip(s, text);
    const Rect r = band({line.x, line.y, std::min(line.w, metric_chip_width(s, text)), line.h}, size::chip);
    Rect words = r;
    const Rect sign = take_right(words, kMetricSign);
    const bool chosen = !s.session.document.metric.name.empty();
    const std::string path = "metric/" + where;
    const Hit h = ui.control(path, chosen ? words : r);
    Chip back = chip;
    back.label.clear();
    if (h.hovered) back.back = ui.colors->bg3;
    draw_chip(ui, r, back);
    take_left(words, size::chip_pad);
    const std::string alone = chip.label.substr(0, chip.label.rfind(" at "));
    write(ui, words, kCaptionMono, chip.ink, first_that_fits(ui, kCaptionMono, {chip.label, alone}, words.w));
    ui.tooltip(path, h, explanation(s));
    if (h.clicked) {
        s.of<MetricMenu>() = {r, "", false};
        s.send("metric menu", "here");
    }
    if (!chosen) {
        ui.chevron(sign.middle(), kArm, ui.colors->t3);
        return r.w;
    }
    const Hit off = ui.control(path + "/default", sign);
    ui.cross(sign.middle(), kArm, off.hovered ? ui.colors->t1 : chip.ink);
    ui.tooltip(path + "/default", off, "Reset to log p of the most probable token.");
    if (off.clicked) s.send("metric", "default");
    return r.w;
}

void add_metric_chip(Scene& s, const std::string& where, Toolbar& bar, const char* label,
                     const std::string& text) {
    if (s.ui.without_toolbars) return;
    const float named = s.ui.text.width(kCaption, label) + gap::small;
    const float wide = named + metric_chip_width(s, text);
    const Rect before = bar.rest();
    Rect both = bar.take(wide);
    if (both.y == before.y && wide > before.w + gap::large) return;  // no line fits it: the command remains
    write(s.ui, take_left(both, named), kCaption, s.ui.colors->t3, label);
    draw_metric_chip(s, where, both, text);
}

}  // namespace headlight

// Writes one self-contained page: a report that reads without scripts, beside every head and view of its run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "analysis/attention/head_summary.h"
#include "analysis/comparison/compare.h"
#include "base/base64.h"
#include "base/cast.h"
#include "base/markup.h"
#include "cli/effects.h"
#include "cli/options.h"
#include "cli/render.h"
#include "cli/verbs.h"
#include "figure/figure.h"
#include "io/output_file.h"
#include "model/loading/parameters.h"
#include "session/html.h"
#include "views/interactive_page.h"
#include "views/views.h"

namespace headlight {

namespace {

struct ReportOptions {
    InputOptions input;
    std::string output;
    std::vector<std::string> heads;
    std::string title, metric;
    bool exact = false;
};

constexpr int kPredictions = 10, kChosen = 4;
constexpr size_t kMaxTokens = 256;  // in the list of tokens

/// Draws a figure as an image, which runs nothing; a click opens the view or head that `opens` names.
Result<std::string> figure(const char* kind, const std::shared_ptr<const Trace>& trace,
                           const FigureOptions& options, const std::string& opens, const std::string& label,
                           ThreadPool& pool) {
    TRY(const Drawing drawing, find_figure(kind)->make(trace, options, pool));
    TRY(const std::string svg, svg_text(drawing));
    return "<figure " + opens + "><img alt=\"" + escaped(label) + "\" src=\"data:image/svg+xml;base64," +
           to_base64(svg) + "\"></figure>\n";
}

/// Returns the first head by each defined statistic, without repeats.
std::vector<AttentionHead> telling_heads(const ModelConfig& c, const std::vector<HeadSummary>& heads) {
    std::vector<AttentionHead> out;
    for (const char* key : {"induction", "previous", "entropy", "duplicate", "first", "distance"}) {
        const HeadStatistic* statistic = find_statistic(key);
        if (!statistic) continue;
        const size_t column = statistic - head_statistics().data();
        std::vector<float> values;
        for (const HeadSummary& h : heads) values.push_back(h.statistics[column]);
        for (const int i : order_by(values, statistic->ascending)) {
            const AttentionHead head = c.head_at(i);
            if (std::isnan(values[i]) || contains(out, head)) continue;
            out.push_back(head);
            break;
        }
        if (isize(out) == kChosen) break;
    }
    return out;
}

/// Returns the heads whose ablation changes the metric most.
std::vector<AttentionHead> effective_heads(const ModelConfig& c, const HeadEffects& effects) {
    std::vector<AttentionHead> out;
    for (const int i : order_by_size(effects.change.values()))
        if (isize(out) < kChosen) out.push_back(c.head_at(i));
    return out;
}

Result<std::vector<AttentionHead>> chosen_heads(const ReportOptions& o, const ModelConfig& c,
                                                const std::vector<HeadSummary>& heads,
                                                const HeadEffects& effects) {
    if (o.heads.empty()) return effects.empty() ? telling_heads(c, heads) : effective_heads(c, effects);
    std::vector<AttentionHead> out;
    for (const std::string& list : o.heads)
        for (const std::string& name : comma_list(list)) {
            TRY(const AttentionHead named, parse_head(c, name, "--heads"));
            out.push_back(named);
        }
    return out;
}

std::string token_list(const Trace& trace, int stack) {
    const auto labels = token_labels(trace, stack);
    std::string out = "<p class=\"tokens\">";
    for (size_t i = 0; i < std::min(labels.size(), kMaxTokens); ++i)
        out += "<span title=\"position " + std::to_string(i) + "\">" + escaped(labels[i]) + "</span>";
    if (labels.size() > kMaxTokens) out += " and " + std::to_string(labels.size() - kMaxTokens) + " more";
    return out + "</p>\n";
}

std::string bar(float share, bool before) {
    const std::string width = decimals(160 * double(share), 1);
    return "<svg class=\"bar" + std::string(before ? " was" : "") + "\" width=\"" + width +
           "\" height=\"8\"><rect width=\"" + width + "\" height=\"8\"/></svg>";
}

std::string points(float change) {
    return std::abs(change) < 0.0005f ? "0.0" : (change > 0 ? "+" : "") + decimals(100 * double(change), 1);
}

std::string predictions_table(const Trace& trace, const Trace* own, ThreadPool& pool) {
    const auto positions = predicting_positions(trace);
    if (positions.empty()) return "";
    std::string out = "<h2>Predictions</h2>\n";
    if (!own) {
        out += "<table><thead><tr><th>token</th><th></th><th>probability</th></tr></thead><tbody>\n";
        for (const Prediction& p : predictions(trace, positions[0], kPredictions, pool))
            out += "<tr><td>" + escaped(prediction_label(*trace.model, p.id)) + "</td><td class=\"bars\">" +
                   bar(p.probability, false) + "</td><td>" + escaped(percent(double(p.probability))) +
                   "</td></tr>\n";
        return out + "</tbody></table>\n";
    }
    out +=
        "<p class=\"note\">Before the interventions (gray) and "
        "after.</p><table><thead><tr><th>token</th><th></th><th>before</th><th>after</th><th>points</th>"
        "<th>Δ log p</th><th>Δ logit</th></tr></thead><tbody>\n";
    for (const ProbabilityChange& p :
         probability_changes(*own, positions[0], trace, positions[0], kPredictions, pool))
        out += "<tr><td>" + escaped(p.label) + "</td><td class=\"bars\">" + bar(p.a, true) + "<br>" +
               bar(p.b, false) + "</td><td>" + escaped(percent(double(p.a))) + "</td><td>" +
               escaped(percent(double(p.b))) + "</td><td>" + points(p.b - p.a) + "</td>" +
               number_cell(p.log_probability, 2) + number_cell(p.logit, 2) + "</tr>\n";
    return out + "</tbody></table>\n";
}

std::string metric_paragraph(const Trace& trace, const Trace* own, const Metric& metric, ThreadPool& pool) {
    const auto value = [&](const Trace& run) {
        return decimals(evaluate(metric, run, own ? *own : trace, pool).value, 3);
    };
    return "<p>Explained: " + escaped(metric_label(*trace.model, metric)) + " at position " +
           std::to_string(metric.position) + " = <b>" + value(trace) + "</b>" +
           (own ? ", before the interventions " + value(*own) : "") + " (" + metric_row(metric.kind).help +
           ").</p>\n";
}

std::string statistics_table(const Model& model, const std::vector<HeadSummary>& heads,
                             const HeadEffects& effects) {
    const ModelConfig& c = model.config;
    const std::string of = effects.empty() ? "" : escaped(metric_label(model, effects.metric));
    std::string out =
        "<h2>Statistics of the heads</h2>\n<p class=\"note\">A click on a column sorts by it.</p><div "
        "class=\"scroll\"><table><thead><tr><th>head</th>";
    for (const HeadStatistic& s : head_statistics())
        out += "<th data-sorts title=\"" + escaped(s.definition) + "\">" + escaped(s.label) + "</th>";
    if (!effects.empty())
        out += "<th data-sorts title=\"How much ablating the head (its z is 0) changes it.\">effect on " +
               of + "</th>";
    out += "</tr></thead><tbody>\n";
    for (int i = 0; i < isize(heads); ++i) {
        out += "<tr><td>" + head_name(c, c.head_at(i)) + "</td>";
        for (const float v : heads[i].statistics) out += number_cell(v, 3);
        if (!effects.empty()) out += number_cell(effects.change[i], 3);
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string changes_list(const Trace& trace) {
    const Intervention& now = trace.request.intervention;
    if (now == Intervention{}) return "";
    std::string out = "<h2>Interventions</h2>\n<p class=\"tokens\">";
    if (!now.mask.is_own()) out += "<span>mask " + escaped(now.mask.name()) + "</span>";
    for (const Change& change : now.changes)
        out += "<span>" + escaped(change_name(trace.config(), change)) + "</span>";
    return out + "</p>\n";
}

std::string title_of(const ReportOptions& o, const Trace& trace) {
    return o.title.empty() ? "Attention in " + trace.model->name : o.title;
}

std::string heading(const Trace& trace) {
    std::string out = model_line(*trace.model);
    for (int stack = 0; stack < isize(trace.request.inputs); ++stack) out += token_list(trace, stack);
    return out;
}

/// Draws the grid of all heads and the chosen ones large.
Result<std::string> figures(const std::shared_ptr<const Trace>& trace,
                            const std::vector<AttentionHead>& chosen, const char* title, ThreadPool& pool) {
    const ModelConfig& c = trace->config();
    FigureOptions options;
    options.title = "";
    options.width_px = 1032;
    TRY(const std::string grid, figure("heads", trace, options, "data-opens=\"heads\"", "All heads", pool));
    std::string out =
        "<h2>All heads</h2>\n" + grid + "<h2>" + std::string(title) + "</h2>\n<div class=\"heads\">\n";
    options.width_px = 500;
    for (const auto& [block, head] : chosen) {
        options.block = block;
        options.head = head;
        options.title = "Head " + head_name(c, block, head);
        const std::string opens = "data-head=\"" + std::to_string(block) + "," + std::to_string(head) + "\"";
        TRY(const std::string one, figure("head", trace, options, opens, options.title, pool));
        out += one;
    }
    return out + "</div>\n";
}

/// Draws the views of the run that a page has besides those of its patterns.
Status add_views(const ReportOptions& o, const std::shared_ptr<const Trace>& trace, AttentionHead shown,
                 PageContents& page, ThreadPool& pool) {
    for (const char* key : {"alignment", "graph", "delta", "steps", "experts"}) {
        const View& view = *find_view(key);
        if (!view.offered(*trace->model) || view.missing(*trace->model)) continue;
        RenderOptions options;
        options.input = o.input;
        options.view = key;
        options.figure.block = shown.block;
        options.figure.head = shown.head;
        TRY(const ViewPage drawn, view_page(options, trace, pool));
        TRY(PageFigure figure, page_figure(drawn));
        page.figures.push_back(std::move(figure));
    }
    return success();
}

Result<std::string> body_of(const ReportOptions& o, const std::shared_ptr<const Trace>& trace,
                            const Trace* own, std::vector<AttentionHead>& chosen, ThreadPool& pool) {
    TRY(const auto heads, summarize_heads(*trace, 1, pool));
    HeadEffects effects;
    if (!o.metric.empty()) {
        TRY(effects, effects_of_heads(*trace, own, o.metric, pool));
    }
    TRY(chosen, chosen_heads(o, trace->config(), heads, effects));
    std::string body = heading(*trace) + changes_list(*trace) + predictions_table(*trace, own, pool);
    if (!effects.empty()) body += metric_paragraph(*trace, own, effects.metric, pool);
    const char* title = !o.heads.empty()  ? "Chosen heads"
                        : effects.empty() ? "Heads that stand out"
                                          : "Heads with the largest effect";
    TRY(const std::string drawn, figures(trace, chosen, title, pool));
    return body + drawn + statistics_table(*trace->model, heads, effects);
}

Status run(const ReportOptions& o) {
    ThreadPool pool(o.input.threads);
    TRY(const auto trace, run_input(o.input, pool));
    TRY(const auto own, unchanged_run(*trace, pool));
    std::vector<AttentionHead> chosen;
    PageContents page;
    TRY(page.report, body_of(o, trace, own.get(), chosen, pool));
    page.trace = trace.get();
    page.title = title_of(o, *trace);
    page.view = "report";
    page.exact = o.exact;
    const AttentionHead shown = chosen.empty() ? AttentionHead{} : chosen[0];
    page.block = shown.block;
    page.head = shown.head;
    if (own) {
        page.other = own.get();
        page.name = "with the change";
        page.other_name = "unchanged";
    }
    TRY_STATUS(add_views(o, trace, shown, page, pool));
    TRY_STATUS(add_short_lens(page, pool));
    TRY(const std::string html, page_html(page, pool));
    return write_file(o.output, html);
}

}  // namespace

std::function<Status()> declare_report(CLI::App& app) {
    auto o = std::make_shared<ReportOptions>();
    add_input_options(app, o->input);
    add_trace_alone(app, o->input);
    app.add_option("-o,--output", o->output, "the .html file to write ('-': standard output)")->required();
    app.add_option("--heads", o->heads,
                   "the heads to show large, 1.2,3.0 (default: those with the most extreme statistics)");
    add_metric_option(app, o->metric,
                      "ablate each head in turn, show the heads with the largest effect on this metric, "
                      "and add the effect to the statistics");
    app.add_option("--title", o->title, "title of the page");
    app.add_flag("--exact", o->exact, "weights in 32 bits, not rounded to 16");
    return [o] { return run(*o); };
}

}  // namespace headlight

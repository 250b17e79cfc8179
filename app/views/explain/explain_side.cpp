// Lists the held path, the check of the circuit alone and of the other heads, and the progress.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/quoted.h"
#include "parts/metric.h"
#include "parts/side_panel.h"
#include "views/explain/explain.h"

namespace headlight {

namespace {

void list_edge(Scene& s, SidePanel& panel, const Explanation& of) {
    const PathEdge* edge = shown_edge(s, of);
    if (!edge) return;
    if (!panel.fold("path", edge_name(s, of, *edge), "logits")) return;
    panel.pair("adds to " + answer_name(s, of), signed_number(edge->effect, 2), Column::Pair::large);
    if (!std::isnan(edge->by_keys)) {
        const float all =
            std::max({std::abs(edge->by_keys), std::abs(edge->by_queries), std::abs(edge->by_values), 1e-6f});
        for (const auto& [name, value] : {std::pair{"by keys", edge->by_keys},
                                          {"by queries", edge->by_queries},
                                          {"by values", edge->by_values}})
            panel.bar({"", name, value / all, signed_number(value, 2), false, true});
    }
}

void list_check(Scene& s, SidePanel& panel, const Explanation& of) {
    if (!of.checked()) return;
    const bool difference = of.metric.kind == MetricKind::difference;
    if (!panel.fold("Check", "Check",
                    difference ? metric_label(*s.model(), of.metric) : "p(" + answer_name(s, of) + ")"))
        return;
    const auto text = [&](const MetricValues& v) {
        return difference ? number(v.value, 2) : probability_text(v.probability);
    };
    panel.pair("all " + std::to_string(s.model()->config.head_count()) + " heads", text(of.clean));
    const std::string these = of.heads.size() == 1 ? "this one" : "these " + std::to_string(of.heads.size());
    panel.pair("only " + these, text(of.only));
    panel.pair("all but " + these, text(of.without));
}

/// Opens Over prompts with the sentence's template in its form.
void open_template(Scene& s, const Explanation& of) {
    const std::string& metric = of.like.metric;
    const size_t minus = metric.find(" - ");
    s.send("prompts of", "ablated");
    s.send("prompts text", of.like.text);
    s.send("prompts answer",
           metric.empty() ? prediction_label(*s.model(), of.metric.a) : metric.substr(0, minus));
    s.send("prompts wrong", minus == std::string::npos ? "" : metric.substr(minus + 3));
    for (const auto& [name, words] : of.like.fill) {
        std::string all;
        for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
        s.send("prompts fill", name + ": " + all);
    }
}

/// Lists in how many sentences with other words each head still matters, and the way to many more.
void list_others(Scene& s, SidePanel& panel, const Explanation& of) {
    constexpr size_t kExample = 90;
    if (!of.checked()) return;
    if (!of.others_refusal.empty()) {
        if (panel.fold("Other sentences")) panel.note(of.others_refusal);
        return;
    }
    if (of.others.empty()) return;
    const std::string count = std::to_string(of.others.size());
    if (!panel.fold("Other sentences", "Other sentences", "matters in")) return;
    for (size_t i = 0; i < of.heads.size(); ++i) {
        const int times = of.still_matters(i);
        panel.bar({"", head_name(s.model()->config, of.heads[i]), float(times) / float(of.others.size()),
                   std::to_string(times) + " of " + count});
    }
    panel.note("The same circuit where other words stand, for example “" +
               shortened(of.others.front().text, kExample) +
               "”. A head matters where its effect is at least " + number(of.edges_from / 2, 1) + " logits.");
    if (s.ui.on_page()) return;
    panel.y += gap::small;
    if (s.ui.link("explain/prompts", panel.at.right(), panel.y, "Over more prompts")) open_template(s, of);
    panel.y += panel.pair_step;
}

/// Lists every path, the strongest first; a click holds it.
void list_paths(Scene& s, SidePanel& panel, const Explanation& of) {
    if (of.edges.empty()) return;
    const std::string count = std::to_string(of.edges.size());
    if (!panel.fold("all paths", "All " + count + " paths", "logits")) return;
    auto& state = s.of<ExplainState>();
    const float largest = std::max(std::abs(of.edges.front().effect), 1e-6f);
    for (size_t i = 0; i < of.edges.size(); ++i) {
        const PathEdge& edge = of.edges[i];
        const Hit hit = s.ui.control("explain/path/" + std::to_string(i), panel.line());
        if (hit.clicked) {
            const bool again = state.held && state.held->same_path(edge);
            state.held = again ? std::nullopt : std::optional(edge);
        }
        panel.bar({"", edge_name(s, of, edge), edge.effect / largest, signed_number(edge.effect, 2),
                   is_highlighted(s, edge), true});
    }
}

constexpr size_t kMaxRanked = 6;

struct RankedEffect {
    std::string name;
    float effect;
};

/// Lists the strongest effects measured so far.
void list_ranked(SidePanel& panel, const std::string& title, std::vector<RankedEffect> all) {
    std::erase_if(all, [](const RankedEffect& one) { return std::isnan(one.effect); });
    if (all.empty()) return;
    std::stable_sort(all.begin(), all.end(), [](const RankedEffect& a, const RankedEffect& b) {
        return std::abs(a.effect) > std::abs(b.effect);
    });
    const float largest = std::max(std::abs(all.front().effect), 1e-6f);
    if (all.size() > kMaxRanked) all.resize(kMaxRanked);
    if (!panel.fold(title, title, "logits")) return;
    for (const RankedEffect& one : all)
        panel.bar({"", one.name, one.effect / largest, signed_number(one.effect, 2), false, true});
}

void list_words(Scene& s, SidePanel& panel, const Explanation& of) {
    std::vector<RankedEffect> all;
    for (const LeftOutWord& word : of.words)
        all.push_back({token_at(s.sentence()->labels[size_t(word.stack)], word.token), word.effect});
    list_ranked(panel, "Words, each left out", std::move(all));
    if (of.words_refusal.empty()) return;
    panel.note(of.words_refusal);
}

void list_ablated(Scene& s, SidePanel& panel, const Explanation& of) {
    const ModelConfig& c = s.model()->config;
    std::vector<RankedEffect> all;
    for (int i = 0; i < isize(of.ablated); ++i)
        all.push_back({head_name(c, c.head_at(i)), of.ablated[size_t(i)]});
    list_ranked(panel, "Heads, each ablated", std::move(all));
}

/// Draws a tick for what is done, a ring for what runs.
void list_stage(Scene& s, SidePanel& panel, const Explanation::Stage& stage, bool runs) {
    constexpr float kMark = 22;
    Ui& ui = s.ui;
    Rect line = panel.line();
    const ImVec2 mark{line.x + gap::close, line.middle_y()};
    take_left(line, kMark);
    if (stage.ended)
        ui.polyline(
            std::array<ImVec2, 3>{{{mark.x - 5, mark.y}, {mark.x - 1, mark.y + 4}, {mark.x + 6, mark.y - 5}}},
            ui.colors->t2, 1.5f);
    else if (runs)
        ui.ring(mark, 3.5f, ui.colors->accent, 1.5f);
    const ImU32 ink = stage.ended ? ui.colors->t2 : runs ? ui.colors->accent_text : ui.colors->t3;
    const std::string count =
        stage.count ? std::to_string(stage.done) + " of " + std::to_string(stage.count) : "—";
    write(ui, take_right(line, ui.text.width(kCaptionMono, count), gap::small), kCaptionMono, ink, count);
    write(ui, line, kBody, ink, stage.name);
    panel.y += panel.pair_step * panel.tight;
}

void list_progress(Scene& s, SidePanel& panel, const Explanation& of) {
    if (!panel.fold("Progress", "Progress", "exact")) return;
    auto& measures = s.of<ExplainState>().measures;
    bool runs = measures;
    for (const Explanation::Stage& stage : of.stages) {
        list_stage(s, panel, stage, runs && !stage.ended);
        runs = runs && stage.ended;
    }
    if (of.whole() || s.ui.on_page()) return;
    panel.y += gap::small;
    if (s.ui.link("explain/cancel", panel.at.right(), panel.y, measures ? "Cancel" : "Resume"))
        measures = !measures;
    panel.y += panel.pair_step;
}

}  // namespace

void draw_explain_inspector(Scene& s, Rect area) {
    write(s.ui, inspector_line(s.ui, area), kTitle, s.ui.colors->t1, "Explain this");
    SidePanel panel(s, area);
    if (const ExplanationFound found = explanation_found(s); found.explanation) {
        list_edge(s, panel, *found.explanation);
        list_check(s, panel, *found.explanation);
        if (!found.explanation->whole()) list_progress(s, panel, *found.explanation);
        list_others(s, panel, *found.explanation);
        list_words(s, panel, *found.explanation);
        list_ablated(s, panel, *found.explanation);
        list_paths(s, panel, *found.explanation);
        if (found.explanation->whole()) list_progress(s, panel, *found.explanation);
    }
    panel.note(
        "Each path is cut alone (path patching, Wang et al. 2022): a head reads the residual stream "
        "without the sender, all else unchanged. A word’s path is cut by masking it in that head.");
    panel.finish();
}

}  // namespace headlight

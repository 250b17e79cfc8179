// Lists the held path, the check of the circuit alone and of the other heads, and the progress.
#include <cmath>

#include "parts/metric.h"
#include "parts/side_panel.h"
#include "views/explain/explain.h"

namespace headlight {

namespace {

/// The held or hovered path, else the strongest between two heads.
const PathEdge* shown_edge(const Scene& s, const Explanation& of) {
    for (const PathEdge& edge : of.edges)
        if (is_highlighted(s, edge)) return &edge;
    for (const PathEdge& edge : of.edges)
        if (edge.token < 0 && !edge.to_answer) return &edge;
    return of.edges.empty() ? nullptr : &of.edges.front();
}

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
    if (!of.whole()) return;
    const bool difference = of.metric.kind == MetricKind::difference;
    if (!panel.fold("Check", "Check",
                    difference ? metric_label(*s.model(), of.metric) : "p(" + answer_name(s, of) + ")"))
        return;
    const auto text = [&](const MetricValues& v) {
        return difference ? number(v.value, 2) : probability_text(v.probability);
    };
    panel.pair("all " + std::to_string(s.model()->config.head_count()) + " heads", text(of.clean));
    panel.pair("only these " + std::to_string(of.heads.size()), text(of.only));
    panel.pair("all but these " + std::to_string(of.heads.size()), text(of.without));
}

void list_progress(Scene& s, SidePanel& panel, const Explanation& of) {
    if (!panel.fold("Progress", "Progress", "exact")) return;
    for (const Explanation::Stage& stage : of.stages)
        panel.pair(stage.name, stage.count ? std::to_string(stage.done) + " of " + std::to_string(stage.count)
                                           : std::string("—"));
    auto& measures = s.of<ExplainState>().measures;
    if (of.whole() || s.ui.on_page()) return;
    panel.y += gap::small;
    if (s.ui.link("explain/cancel", panel.at.right(), panel.y, measures ? "Cancel" : "Resume"))
        measures = !measures;
}

}  // namespace

void draw_explain_inspector(Scene& s, Rect area) {
    write(s.ui, inspector_line(s.ui, area), kTitle, s.ui.colors->t1, "Explain this");
    SidePanel panel(s, area);
    if (const ExplanationFound found = explanation_found(s); found.explanation) {
        list_edge(s, panel, *found.explanation);
        list_check(s, panel, *found.explanation);
        list_progress(s, panel, *found.explanation);
    }
    panel.note(
        "Each path is cut alone (path patching, Wang et al. 2022): a head reads the residual stream "
        "without the sender, all else unchanged. A word’s path is cut by masking it in that head.");
    panel.finish();
}

}  // namespace headlight

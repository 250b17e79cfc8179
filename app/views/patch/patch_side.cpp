// Draws patching's side panel: the metric in both runs, the hovered cell, and the most restoring cells.
#include <algorithm>
#include <cmath>

#include "analysis/patching/patch_estimate.h"
#include "parts/metric.h"
#include "parts/side_panel.h"
#include "parts/view.h"
#include "views/patch/patch.h"

namespace headlight {

namespace {

/// Sorts the cells that have a value, most restoring first.
std::vector<std::pair<int, int>> strongest_patches(const Matrix& values) {
    std::vector<std::pair<int, int>> out;
    for (int row = 0; row < narrow<int>(values.rows()); ++row)
        for (int column = 0; column < narrow<int>(values.cols()); ++column)
            if (!std::isnan(values(row, column))) out.emplace_back(row, column);
    std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
        return values(a.first, a.second) > values(b.first, b.second);
    });
    return out;
}

std::string patched_place(const Scene& s, const PatchMap& m, std::pair<int, int> at) {
    if (m.by_head()) return head_name(s.model()->config, m.blocks[at.first], at.second);
    const std::string token = patch_column_name(s, m, at.first, at.second);
    if (m.asked.part == PatchPart::head) return token;
    return patch_row_label(m, s.model()->config, at.first) + "  " + token;
}

/// Plots each measured cell: exact value across, estimate up.
void draw_agreement(Scene& s, SidePanel& panel, const PatchMap& m) {
    constexpr float kHigh = 132, kDot = 2, kMargin = 4;
    const PatchAgreement found = patch_agreement(m);
    if (found.cells < 2) return;
    Ui& ui = s.ui;
    if (!panel.fold("estimated", "Estimated vs. exact", std::to_string(found.cells) + " cells")) return;
    const Rect plot{panel.at.x, panel.y - gap::small, panel.at.w, kHigh},
        inner = inset(plot, kMargin, kMargin);
    float low = 0, high = 1;
    for (const Matrix* values : {&m.values, &m.estimates})
        for (Index i = 0; i < values->size(); ++i)
            if (const float v = values->data()[i]; !std::isnan(m.values.data()[i]))
                low = std::min(low, v), high = std::max(high, v);
    const auto place = [&](float exact, float estimate) -> ImVec2 {
        return {inner.x + inner.w * (exact - low) / (high - low),
                inner.bottom() - inner.h * (estimate - low) / (high - low)};
    };
    ui.fill(plot, ui.colors->l1);
    ui.stroke(place(low, low), place(high, high), ui.colors->l2, ui.line());
    for (Index i = 0; i < m.values.size(); ++i)
        if (const float exact = m.values.data()[i]; !std::isnan(exact))
            ui.disc(place(exact, m.estimates.data()[i]), kDot, ui.colors->t2);
    if (const auto at = s.of<PatchState>().pointed)
        if (const float exact = m.values(at->first, at->second); !std::isnan(exact))
            ui.ring(place(exact, m.estimates(at->first, at->second)), 2 * kDot, ui.colors->accent, 2);
    ui.name("patch/agreement", plot);
    panel.skip(kHigh + gap::small);
    panel.pair("correlation", number(found.correlation, 3));
    panel.pair("largest error", number(found.largest, 3));
}

void list_strongest(Scene& s, SidePanel& panel, const PatchMap& m) {
    constexpr int kListed = 12;
    constexpr float kValue = 56;
    const bool estimated = shows_estimates(s, m);
    const Matrix& values = estimated ? m.estimates : m.values;
    if (!panel.fold("restoring", "Most restoring", estimated ? "estimated" : "restored")) return;
    panel.bars = panel.at.w * 0.5f;
    panel.values = kValue;
    const auto places = strongest_patches(values);
    for (int i = 0; i < std::min(kListed, isize(places)) && panel.y + gap::medium < panel.end(); ++i) {
        const float value = values(places[i].first, places[i].second);
        panel.bar({"", patched_place(s, m, places[i]), std::clamp(value, 0.0f, 1.0f), number(value, 3),
                   s.of<PatchState>().pointed == places[i]});
    }
}

void list_patching(Scene& s, SidePanel& panel) {
    const PatchMapFound found = patch_found(s);
    const PatchMap& m = found.map;
    if (m.cells == 0)
        return panel.note(
            "Each cell patches one activation of the clean run into the shown run: how much of the clean "
            "run’s metric it restores.");
    const MetricKind kind = m.asked.metric.kind;
    if (panel.fold("metric", patch_metric(s, m))) {
        panel.pair("clean run", metric_value(kind, m.clean));
        panel.pair("without patching", metric_value(kind, m.corrupted));
    }
    if (const auto at = s.of<PatchState>().pointed; at && panel.fold("Cell")) {
        const float value = m.values(at->first, at->second);
        panel.pair(patched_place(s, m, *at), std::isnan(value) ? "not yet" : number(value, 3), true);
        if (m.estimates.size()) panel.pair("estimated", number(m.estimates(at->first, at->second), 3));
    }
    list_strongest(s, panel, m);
    draw_agreement(s, panel, m);
}

}  // namespace

void draw_patch_inspector(Scene& s, Rect area) {
    constexpr float kFoot = size::button + gap::small;
    const bool averages = reads_text(*s.model());
    Rect line = inspector_line(s.ui, area);
    write(s.ui, line, kTitle, s.ui.colors->t1, "Patching");
    SidePanel panel(s, area, averages ? kFoot : 0);
    list_patching(s, panel);
    panel.finish();
    const Rect foot = panel_foot(area);
    if (averages) press_over_prompts(s, {foot.x, foot.y - kFoot, foot.w, foot.h}, "patched");
}

}  // namespace headlight

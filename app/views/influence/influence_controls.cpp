// Draws what is folded below the words: maps with their controls, and settings.
#include <algorithm>

#include "parts/metric.h"
#include "parts/text_entry.h"
#include "parts/view.h"
#include "views/influence/influence.h"

namespace headlight {

namespace {

constexpr float kFoldHigh = 28;

void draw_map_controls(Scene& s, Toolbar& bar) {
    constexpr float kLabelled = 860;
    auto& state = s.of<InfluenceState>();
    const ModelConfig& c = s.model()->config;
    bar.labels = bar.rest().w > kLabelled;
    if (s.model()->has_logits()) {
        const int now = static_cast<int>(state.maps) - 1,
                  chosen = bar.choice("Influence on", "influence/of",
                                      {"hidden state", "metric", "metric’s relevance"}, now);
        if (chosen >= 0) state.maps = static_cast<InfluenceMaps>(chosen + 1);
    }
    if (state.maps == InfluenceMaps::hidden) {
        const InfluenceMapRequest request = influence_map_request(s);
        std::vector<std::string> layers;
        for (int l = 0; l < c.stacks[request.stack].depth(); ++l)
            layers.push_back("layer " + std::to_string(l));
        if (const int chosen = bar.choice("after", "influence/layer", layers, request.layer); chosen >= 0)
            state.layer = chosen + 1 == isize(layers) ? -1 : chosen;
        bar.choose("Measure", "influence/probes", {"auto", "exact", "8 probes", "32 probes"}, state.probes);
    }
    bar.choose("Compare with", "influence/beside",
               {"head " + head_name(c, s.session.selection.block, s.session.selection.head), "layer’s mean",
                "rollout", "contributions"},
               state.beside);
}

/// Draws "› Maps   every word on every prediction"; returns whether it was clicked.
bool press_fold(Scene& s, Rect line, const std::string& path, const char* name, const std::string& detail,
                bool open) {
    constexpr float kArrow = 20, kName = 84, kArm = 3.5f;
    Ui& ui = s.ui;
    ui.hairline(line.x, line.y, line.right(), line.y);
    const Hit hit = ui.control(path, line);
    const Rect arrow = take_left(line, kArrow);
    const ImU32 ink = hit.hovered ? ui.colors->t1 : ui.colors->t2;
    const ImVec2 at = arrow.middle();
    ui.chevron(at, kArm, ink, open);
    write(ui, take_left(line, kName), kBody, ink, name);
    write(ui, line, kCaption, ui.colors->t3, detail);
    return hit.clicked;
}

/// Draws the number of rows measured so far.
void draw_map_progress(Scene& s, Rect line) {
    const InfluenceMapFound map = influence_map_found(s);
    if (s.ui.on_page() || !map.refusal.empty() || (map.map && map.map->whole())) return;
    if (!s.of<InfluenceState>().measures) return;
    const std::string text = map.map ? "Measured " + std::to_string(map.map->done) + " of " +
                                           std::to_string(map.map->norms.rows()) + " rows"
                                     : "Measuring";
    write(s.ui, line, kCaption, s.ui.colors->t2, text, Flush::right);
}

}  // namespace

float draw_maps_fold(Scene& s, Rect area) {
    constexpr float kMapsHigh = 400, kLeastOnPage = 160;
    Ui& ui = s.ui;
    auto& state = s.of<InfluenceState>();
    const bool open = state.maps != InfluenceMaps::none;
    if (ui.on_page()) {
        if (open) draw_influence_maps(s, {area.x, area.y, area.w, std::max(area.h, kLeastOnPage)});
        return 0;
    }
    const Rect line{area.x, area.y, area.w, kFoldHigh};
    if (open) draw_map_progress(s, line);
    if (press_fold(s, line, "influence/maps", "Maps", "every word on every prediction, beside attention",
                   open)) {
        state.maps = open ? InfluenceMaps::none : InfluenceMaps::hidden;
        state.opens_maps = !open;
    }
    if (!open) return kFoldHigh;
    Toolbar bar(ui, {area.x, line.bottom(), area.w, size::view_header}, Toolbar::Lines::many);
    draw_map_controls(s, bar);
    const Rect maps{area.x, bar.bottom(), area.w, kMapsHigh};
    draw_influence_maps(s, maps);
    return maps.bottom() - area.y;
}

namespace {

constexpr const char* kBaselineNames[] = {"mean embedding", "zero", "another text"};
constexpr const char* kTextParts[] = {"token", "word", "sentence", "paragraph"};

/// "metric log p ball · by token · baseline mean embedding · points as needed".
std::string settings_text(const Scene& s, const std::optional<SecondScoresRequest>& second) {
    const InfluenceState& state = s.of<InfluenceState>();
    std::string out = explained_name(s) + " · by " + row_of(kTextParts, state.part);
    if (!second || second->how.method != InfluenceMethod::integrated_gradients) return out;
    return out + " · baseline " + row_of(kBaselineNames, state.baseline) + " · " +
           (state.points == kAsNeeded ? "points as needed" : std::to_string(state.points) + " points");
}

void draw_settings(Scene& s, Toolbar& bar, const std::optional<SecondScoresRequest>& second) {
    auto& state = s.of<InfluenceState>();
    if (s.model()->has_logits() && !explains_written(s))
        add_metric_chip(s, "influence", bar, "Metric", metric_text(s));
    bar.choose("by", "influence/parts", {std::begin(kTextParts), std::end(kTextParts)}, state.part);
    if (s.model()->has_logits() && reads_text(*s.model())) press_over_prompts(s, bar, "left-out");
    if (s.sentence()->written && written_tokens(s) > 0)
        bar.choose("for", "influence/over", {"metric", "generated text"}, state.written);
    if (!second || second->how.method != InfluenceMethod::integrated_gradients) return;
    if (bar.choose("from", "influence/baseline", {std::begin(kBaselineNames), std::end(kBaselineNames)},
                   state.baseline) &&
        state.baseline == InfluenceBaseline::prompt)
        s.send("compare", "sentences");
    const auto now = std::find(kInfluencePoints.begin(), kInfluencePoints.end(), state.points);
    const int chosen = bar.choice("points", "influence/steps", {"as needed", "10", "50", "300"},
                                  narrow<int>(now - kInfluencePoints.begin()));
    if (chosen >= 0) state.points = kInfluencePoints[chosen];
}

/// Draws the field of the other text if the method needs one; returns its height.
float draw_other_text(Scene& s, Rect line, const SecondScoresRequest& second) {
    constexpr float kName = 84;
    if (!second.how.needs_prompt()) return 0;
    const float high = line.h;
    line = inset(line, 0, gap::close);
    const bool patches = second.how.method == InfluenceMethod::attribution_patching;
    write(s.ui, take_left(line, kName, gap::small), kBody, s.ui.colors->t1,
          patches ? "Clean text" : "Baseline");
    draw_text_field(s, s.fields.other, "other", line, "A text with the same number of tokens");
    return high;
}

}  // namespace

float draw_method_fold(Scene& s, Rect area) {
    Ui& ui = s.ui;
    auto& state = s.of<InfluenceState>();
    if (ui.on_page()) return 0;
    const auto second = second_scores_request(s);
    const bool open = state.sets || (second && second->how.needs_prompt());
    if (press_fold(s, {area.x, area.y, area.w, kFoldHigh}, "influence/settings", "Method",
                   settings_text(s, second), open))
        state.sets = !state.sets;
    if (!open) return kFoldHigh;
    Toolbar bar(ui, {area.x, area.y + kFoldHigh, area.w, size::view_header}, Toolbar::Lines::many);
    draw_settings(s, bar, second);
    float end = bar.bottom();
    if (second) end += draw_other_text(s, {area.x, end, area.w, size::view_header}, *second);
    return end - area.y;
}

}  // namespace headlight

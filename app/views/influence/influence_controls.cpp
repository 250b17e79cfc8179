// Draws the controls above the maps of influence, and the progress of measuring.
#include "base/cast.h"
#include "views/influence/influence.h"

namespace headlight {

void draw_influence_toolbar(Scene& s, Toolbar& bar) {
    constexpr float kLabelled = 860;
    auto& state = s.of<InfluenceState>();
    const ModelConfig& c = s.model()->config;
    bar.labels = bar.rest().w > kLabelled;
    if (s.model()->has_logits())
        bar.choose("Influence on", "influence/of", {"hidden state", "metric", "metric’s relevance"},
                   state.of);
    if (state.of == InfluenceOf::hidden) {
        const InfluenceMapRequest request = influence_map_request(s);
        std::vector<std::string> layers;
        for (int l = 0; l < c.stacks[request.stack].layers; ++l)
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

void draw_influence_progress(Scene& s, Rect line) {
    constexpr float kProgress = 320, kBar = 6, kButton = 120;
    Ui& ui = s.ui;
    const InfluenceMapFound map = influence_map_found(s);
    const TokenScores scores = token_scores_found(s);
    const bool mapped = (map.map && map.map->whole()) || !map.refusal.empty(),
               scored = scores.found || !scores.refusal.empty();
    if (ui.on_page() || (mapped && scored)) return;
    if (!s.of<InfluenceState>().measures) {
        if (ui.button("influence/measure", band(take_left(line, kButton), size::button), "Measure"))
            s.send("influence measure", "on");
        return;
    }
    line.w = std::min(line.w, kProgress);
    const Rect words = take_top(line, size::row);
    const int done = mapped    ? scores.done
                     : map.map ? map.map->done
                               : 0,
              all = mapped    ? scores.steps
                    : map.map ? narrow<int>(map.map->norms.rows())
                              : 0;
    const std::string of = std::to_string(done) + " of " + std::to_string(all);
    write(ui, words, kCaption, ui.colors->t2,
          mapped ? "Integrated " + of + " steps"
          : all  ? "Measured " + of + " rows"
                 : "Measuring");
    if (ui.link("influence/cancel", words.right(), words.middle_y(), "Cancel"))
        s.send("influence measure", "off");
    ui.bar(take_top(line, kBar), all ? float(done) / float(all) : 0.0f, ui.colors->accent);
}

}  // namespace headlight

// The open model as a diagram, from the tokens at the bottom to the predictions at the top; each block opens
// its view.

#include "views/architecture.h"

#include <algorithm>
#include <cmath>

#include "analysis/attention_parameters.h"
#include "base/cast.h"
#include "model/parameters.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Whether the attention of a layer can stand beside the diagram: where there are several kinds.
bool offers_maps(const Scene& s) {
    return s.model()->config.stacks.size() > 1 && s.of<ArchitectureState>().config == 0 && s.sentence();
}

/// What stands beside the diagram, and of which layer and head.
void choose_maps(Scene& s, Toolbar& bar) {
    auto& state = s.of<ArchitectureState>();
    if (const int c =
            bar.choice("Side panel", "model/beside", {"attention", "parameters"}, state.maps ? 0 : 1);
        c >= 0)
        state.maps = c == 0;
    if (!state.maps) return;
    const ModelConfig& c = s.model()->config;
    const auto& selection = s.session.selection;
    const AttentionBlock now = c.block(selection.block);
    std::vector<std::string> layers, heads{"mean"};
    for (int l = 0; l < c.stacks[now.stack].layers; ++l) layers.push_back(std::to_string(l));
    for (int h = 0; h < c.heads(selection.block); ++h) heads.push_back(std::to_string(h));
    if (const int l = bar.choice("Layer", "model/layer", layers, now.layer); l >= 0)
        s.select_block(selection.block + l - now.layer);
    if (const int h = bar.choice("Head", "model/head", heads, state.mean ? 0 : selection.head + 1); h >= 0) {
        state.mean = h == 0;
        if (h > 0) s.select(selection.block, h - 1);
    }
}

void draw_architecture_toolbar(Scene& s, Rect& rest, const ModelConfig& c) {
    auto& state = s.of<ArchitectureState>();
    Toolbar bar = title_toolbar(s, rest, "model/back", state.config ? "GPT-3 175B" : s.model()->name);
    bar.say(kCaption, s.ui.colors->t3,
            c.family_name + " · d_model " + std::to_string(c.d_model) + " · " +
                short_count(parameter_count(c)) + " parameters",
            gap::section);
    bar.choose("Architecture", "model/config", {s.model()->name, "GPT-3 175B, from its config alone"},
               state.config);
    if (offers_maps(s)) choose_maps(s, bar);
}

}  // namespace

void draw_architecture(Scene& s, Rect area) {
    constexpr float kLeastForMaps = 900, kMostMaps = 1600, kMostTable = 720, kLeastTable = 280, kBeside = 120;
    const ModelConfig& c = s.of<ArchitectureState>().config ? gpt3_config() : s.model()->config;
    Rect rest = area;
    if (s.ui.on_page())
        take_top(rest, size::title_bar, 1);
    else
        draw_architecture_toolbar(s, rest, c);
    take_top(rest, 0, gap::small);
    take_bottom(rest, gap::small);
    rest = inset(rest, size::center_pad, 0);
    const auto table = parameter_table(c);
    const auto count = isize(c.stacks);
    const bool maps = offers_maps(s) && s.of<ArchitectureState>().maps && rest.w > kLeastForMaps;
    const float column =
        maps ? rest.w * 0.2f : std::min(kWidestBlock + kBeside, rest.w * (count > 1 ? 0.34f : 0.5f));
    std::vector<std::vector<Block>> stacks;
    for (int i = 0; i < count; ++i) stacks.push_back(blocks_of(c, i));
    const Diagram diagram{c, table, s.of<ArchitectureState>().config == 0,
                          offers_maps(s) && s.of<ArchitectureState>().maps};
    const Block* pointed = draw_diagram(s, diagram, rest, column, stacks);
    take_left(rest, column * float(count), size::center_pad);
    Rect beside = take_right(rest, std::min(rest.w, maps ? kMostMaps : kMostTable));
    if (maps) take_top(beside, 0, gap::small);
    if (maps) return draw_layer_maps(s, beside);
    if (beside.w > kLeastTable) draw_parameters(s, beside, c, table, pointed);
}

View architecture_view() {
    return {.key = "model",
            .name = "Model",
            .digit = '0',
            .draw = draw_architecture,
            .missing = no_weights,
            .shows = View::Shows::model,
            .ask = ask_architecture,
            .fills_window = true,
            .visit = visit_state<ArchitectureState>};
}

}  // namespace headlight

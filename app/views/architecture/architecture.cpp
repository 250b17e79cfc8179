// Draws a model as a diagram, from tokens at the bottom to predictions at the top; beside it the weights of
// the selected block and the parameter counts.
#include "views/architecture/architecture.h"

#include <algorithm>

#include "base/cast.h"
#include "hub/hub.h"
#include "io/folder.h"
#include "io/json.h"
#include "model/engine.h"
#include "session/commands/command_rows.h"
#include "views/views.h"

namespace headlight {

void ArchitectureState::visit(FieldVisitor& v) {
    v.choose("model_maps", maps,
             {"model beside",
              "Model: side panel",
              "side panel of an encoder-decoder: weights or attention",
              {"weights", "attention"}});
    v.choose("model_mean", mean,
             {"model maps of",
              "Model: attention of",
              "the selected head, or the mean of all heads",
              {"head", "mean"}});
    v.choose(nullptr, config,
             {"model architecture",
              "Model: architecture",
              "the open model, GPT-3, or the last config.json",
              {"open", "gpt-3", "file"}});
    v.choose("model_block", part,
             {"model block",
              "Model: block",
              "the block of the selected head's layer whose weights are shown",
              {"embedding", "positions", "attention-norm", "attention", "mlp-norm", "mlp", "final-norm",
               "unembedding", "layer-embedding", "laurel", "streams"}},
             {"part"});
    if (file) v.report("model_config", file->name);
}

namespace {

/// True if the side panel can show attention: the model has several kinds.
bool offers_maps(const Scene& s) {
    return full_config(*s.model()).stacks.size() > 1 && counted_config(s).open && s.sentence();
}

/// Adds the choices of side panel, layer and head.
void choose_side_panel(Scene& s, Toolbar& bar) {
    auto& state = s.of<ArchitectureState>();
    if (offers_maps(s)) bar.choose("Side panel", "model/beside", {"weights", "attention"}, state.maps);
    const bool maps = offers_maps(s) && state.maps;
    const ModelConfig& c = full_config(*s.model());
    const auto& selection = s.session.selection;
    const AttentionBlock now = c.block(selection.block);
    std::vector<std::string> layers, heads;
    if (maps) heads.emplace_back("mean");
    for (int l = 0; l < c.stacks[now.stack].depth(); ++l) layers.push_back(std::to_string(l));
    for (int h = 0; h < c.heads(selection.block); ++h) heads.push_back(std::to_string(h));
    if (const int l = bar.choice("Layer", "model/layer", layers, now.layer); l >= 0)
        s.select_block(selection.block + l - now.layer);
    const int first = maps ? 1 : 0, current = maps && state.mean ? 0 : selection.head + first;
    if (const int h = bar.choice("Head", "model/head", heads, current); h >= 0) {
        if (maps) state.mean = h == 0;
        if (h >= first) s.select(selection.block, h - first);
    }
}

void draw_architecture_toolbar(Scene& s, Rect& rest, const CountedConfig& counted) {
    auto& state = s.of<ArchitectureState>();
    const ModelConfig& c = counted.config;
    Toolbar bar = view_toolbar(s.ui, rest);
    bar.say(kBody, s.ui.colors->t1, counted.name, gap::medium);
    bar.say(kCaption, s.ui.colors->t3,
            c.family_name + " · d_model " + std::to_string(c.d_model) + " · " +
                short_count(parameter_count(c)) + " parameters",
            gap::wide);
    if (!state.file && state.config == ArchitectureState::Of::file)
        state.config = ArchitectureState::Of::open;
    std::vector<std::string> items{s.model()->name, "GPT-3 175B (config only)"};
    if (state.file) items.push_back(state.file->name + " (config only)");
    bar.choose("Architecture", "model/config", items, state.config);
    if (counted.open) choose_side_panel(s, bar);
}

/// Draws the side panel, in two columns if they fit.
void draw_beside(Scene& s, Rect area, const CountedConfig& counted, const std::vector<ParameterRow>& table,
                 const Block* pointed) {
    constexpr float kLeastColumn = 350, kMaxColumn = 760;
    const bool two = area.w >= 2 * kLeastColumn + gap::section;
    Viewport& seen = s.of<ArchitectureState>().seen;
    const Rect whole = area;
    take_right(area, gap::large);  // for the thumb
    s.ui.scroll_area(whole);
    const float top = area.y - seen.y;
    Rect left{area.x, top, two ? (area.w - gap::section) / 2 : area.w, area.h}, right = left;
    left.w = std::min(left.w, kMaxColumn);
    right.w = left.w;
    if (two) right.x = left.right() + gap::section;
    float high = counted.open ? draw_block_weights(s, left) : draw_counts(s, left, counted.config);
    if (!two) right.y += high + gap::wide;
    float below = 0;
    if (counted.open) below = draw_counts(s, right, counted.config) + gap::wide;
    below += draw_parameters(s, {right.x, right.y + below, right.w, right.h}, counted.config, table, pointed);
    high = two ? std::max(high, below) : high + gap::wide + below;
    s.ui.end_scroll_area();
    scrolled(s.ui, whole, high + gap::small, seen);
}

float stack_width(float room, int stacks, bool maps) {
    constexpr float kLeast = 300, kMaxAlone = 460, kMax = 360;
    if (maps) return room * 0.2f;
    return stacks == 1 ? std::clamp(room * 0.34f, kLeast, kMaxAlone) : std::clamp(room * 0.22f, kLeast, kMax);
}

std::vector<Command> architecture_commands() {
    const auto show = [](CommandContext& c, const std::string& path) { return give_config(c.session, path); };
    return in_group("Files", {row({"model config PATH", "Count a config.json",
                                   "count the parameters of a config.json, without weights"},
                                  show)});
}

}  // namespace

CountedConfig counted_config(const Scene& s) {
    static const std::string gpt3 = "GPT-3 175B";
    const auto& state = s.of<ArchitectureState>();
    if (state.config == ArchitectureState::Of::gpt3) return {gpt3, published_config(Published::gpt3), false};
    if (state.config == ArchitectureState::Of::file && state.file)
        return {state.file->name, state.file->config, false};
    return {s.model()->name, full_config(*s.model()), true};
}

Status take_config(Session& session, const std::string& path) {
    auto& state = session.of<ArchitectureState>();
    if (path == "gpt-3") {
        state.config = ArchitectureState::Of::gpt3;
        return success();
    }
    TRY(ModelConfig config, open_config(out_of_hub_cache(expand_home(path))));
    const auto file = absolute_path(expand_home(path));
    const bool named = file.filename() == "config.json";
    state.file =
        NamedConfig{(named ? file.parent_path().filename() : file.stem()).string(), std::move(config)};
    state.config = ArchitectureState::Of::file;
    return success();
}

void draw_architecture(Scene& s, Rect area) {
    const CountedConfig counted = counted_config(s);
    const ModelConfig& c = counted.config;
    Rect rest = area;
    if (s.ui.on_page())
        take_top(rest, size::title_bar, 1);
    else
        draw_architecture_toolbar(s, rest, counted);
    take_top(rest, 0, gap::small);
    take_bottom(rest, gap::small);
    rest = inset(rest, size::center_pad, 0);
    const auto table = parameter_table(c);
    const bool maps = offers_maps(s) && s.of<ArchitectureState>().maps;
    std::vector<std::vector<Block>> stacks;
    for (int i = 0; i < isize(c.stacks); ++i) stacks.push_back(blocks_of(c, i));
    const float column = stack_width(rest.w, isize(stacks), maps);
    const Rect diagram = take_left(rest, column * float(stacks.size()), size::center_pad);
    const Block* pointed = draw_diagram(s, {c, table, counted.open, maps}, diagram, stacks);
    if (maps) return draw_layer_maps(s, rest);
    draw_beside(s, rest, counted, table, pointed);
}

View architecture_view() {
    return {.key = "model",
            .name = "Architecture",
            .answers = ViewGroup::model,
            .synonyms = "diagram, parameters, weights, config",
            .draw = draw_architecture,
            .missing = no_weights,
            .shows = View::Shows::model,
            .ask = ask_architecture,
            .page_w = 1600,
            .page_h = 1000,
            .panels = View::Panels::none,
            .of_model = true,
            .numbers = architecture_numbers,
            .visit = visit_state<ArchitectureState>,
            .seen = seen_of<ArchitectureState>,
            .commands = architecture_commands};
}

}  // namespace headlight

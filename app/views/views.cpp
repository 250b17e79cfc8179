#include "views/views.h"

#include <algorithm>
#include <cctype>

#include "session/workspace.h"
#include "views/numbers.h"

namespace headlight {

namespace {

bool is_vision(const Model& m) { return m.config.kind == ModelKind::vision; }
bool reads_text(const Model& m) { return !is_vision(m); }
const char* no_weights(const Model& m) {
    return m.weights.stacks.empty() ? "A trace holds no weights, which this view needs." : nullptr;
}
const char* no_logits(const Model& m) {
    return m.has_logits() ? nullptr : "This model has no head that predicts tokens.";
}

const char* no_cross(const Model& m) {
    return m.config.decoder().cross
               ? nullptr
               : "Only a model with an encoder and a decoder aligns a source with a target.";
}
bool aligns_layer(const ViewState& s) { return s.align_of != AlignOf::head; }

}  // namespace

std::span<const View> views() {
    using Shows = View::Shows;
    static const View table[] = {
        {.key = "picture",
         .name = "Image",
         .digit = '8',
         .draw = draw_picture,
         .offered = is_vision,
         .numbers = pattern_numbers},
        {.key = "head",
         .name = "Heat map",
         .digit = '1',
         .draw = draw_heat_map,
         .own_figure = true,
         .numbers = pattern_numbers},
        {.key = "lines",
         .name = "Lines",
         .digit = '2',
         .draw = draw_lines,
         .offered = reads_text,
         .shows = Shows::layer,
         .ask = ask_lines,
         .list = draw_lines_list,
         .inspect = draw_lines_inspector,
         .numbers = layer_numbers},
        {.key = "steps",
         .name = "Steps",
         .digit = '3',
         .draw = draw_steps,
         .missing = no_weights,
         .ask = ask_steps,
         .inspect = draw_steps_inspector,
         .numbers = steps_numbers},
        {.key = "delta",
         .name = "ΔE",
         .digit = '4',
         .draw = draw_delta,
         .missing = no_weights,
         .shows = Shows::layer,
         .ask = ask_delta,
         .list = draw_delta_list,
         .inspect = draw_delta_inspector,
         .numbers = delta_numbers},
        {.key = "lens",
         .name = "Prediction",
         .former = "next",
         .digit = '5',
         .draw = draw_lens,
         .missing = no_logits,
         .shows = Shows::model,
         .ask = ask_lens,
         .inspect = draw_lens_inspector,
         .numbers = lens_numbers},
        {.key = "graph",
         .name = "Graph",
         .digit = '6',
         .draw = draw_graph,
         .offered = reads_text,
         .shows = Shows::model,
         .ask = ask_graph,
         .list = draw_graph_list,
         .inspect = draw_graph_inspector,
         .numbers = graph_numbers},
        {.key = "compare",
         .name = "Compare",
         .digit = '7',
         .draw = draw_compare,
         .ask = ask_compare,
         .list = draw_compare_list,
         .closes_inspector = true,
         .second_head = true,
         .numbers = compare_numbers},
        {.key = "alignment",
         .name = "Alignment",
         .former = "align",
         .digit = '8',
         .draw = draw_alignment,
         .offered = reads_text,
         .missing = no_cross,
         .ask = ask_alignment,
         .list = draw_alignment_list,
         .inspect = draw_alignment_inspector,
         .lists_choices = true,
         .of_layer = aligns_layer,
         .numbers = alignment_numbers},
        {.key = "heads",
         .name = "All heads",
         .digit = '9',
         .draw = draw_all_heads,
         .shows = Shows::model,
         .ask = ask_all_heads,
         .fills_window = true,
         .numbers = heads_numbers},
        {.key = "model",
         .name = "Model",
         .digit = '0',
         .draw = draw_architecture,
         .missing = no_weights,
         .shows = Shows::model,
         .ask = ask_architecture,
         .fills_window = true},
        {.key = "positions",
         .name = "Positions",
         .digit = 'P',
         .draw = draw_positions,
         .offered = reads_text,
         .missing = no_weights,
         .shows = Shows::model,
         .ask = ask_positions,
         .fills_window = true,
         .numbers = position_numbers},
    };
    return table;
}

size_t view_for(const ViewState& state, const Model& model) {
    const auto shows = [&](const View& v) { return v.offered(model) && !v.missing(model); };
    if (state.view && shows(views()[*state.view])) return *state.view;
    const auto first = std::find_if(views().begin(), views().end(), shows);
    return static_cast<size_t>(first - views().begin());
}

void open_view(ViewState& state, const char* key) {
    const auto view = std::find_if(views().begin(), views().end(),
                                   [&](const View& v) { return std::string_view(v.key) == key; });
    if (!state.view || !views()[*state.view].fills_window) state.view_before = state.view;
    state.view = static_cast<size_t>(view - views().begin());
}

const View* find_view(const std::string& name) {
    const auto small = [](std::string text) {
        std::transform(text.begin(), text.end(), text.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return text;
    };
    const std::string wanted = small(name);
    for (const View& v : views())
        if (wanted == v.key || wanted == small(v.name) || wanted == v.former) return &v;
    return nullptr;
}

std::string key_of_view(const std::string& name) {
    const View* view = find_view(name);
    return view ? view->key : name;
}

void open_named_view(ViewState& state, const std::string& name) {
    if (const View* view = find_view(name)) open_view(state, view->key);
}

void close_view(ViewState& state) { state.view = state.view_before; }

float Scene::weight(int query, int key) const { return std::max(0.0f, answer->picture->at(query, key)); }

int Scene::heaviest_key(int query) const {
    Index key = 0;
    answer->picture->levels[0].row(query / answer->picture->step).maxCoeff(&key);
    return static_cast<int>(key) * answer->picture->step;
}

int Scene::heaviest_query(int key) const {
    Index query = 0;
    answer->picture->levels[0].col(key / answer->picture->step).maxCoeff(&query);
    return static_cast<int>(query) * answer->picture->step;
}

std::optional<std::pair<int, int>> Scene::shown_cell() const {
    if (!sentence() || !answer->picture) return std::nullopt;
    const auto cell = state.focused();
    if (cell && holds(*cell)) return cell;
    const ModelKind kind = model()->config.kind;
    const bool predicts =
        kind == ModelKind::vision ||
        (kind == ModelKind::encoder && !sentence()->predictions.empty());  // the class token, a mask
    const int query = predicts && !sentence()->predictions.empty() ? sentence()->predictions[0].position
                      : kind == ModelKind::vision                  ? 0
                                                                   : queries() - 1;
    return std::pair{query, heaviest_key(query)};
}

void choose_model(ViewState& state, const std::string& path, uint64_t attempt) {
    state.model_path = path;
    state.model_attempt = attempt;
}

void choose_model(ViewState& state, const std::string& path) {
    if (is_workspace(path)) {
        state.workspace_wanted = path;
        return;
    }
    if (state.choosing_other) {
        state.other_model = path;
        ++state.other_attempt;
        state.model_menu = state.choosing_other = false;
        return;
    }
    state.changes_wait = path == state.model_path &&
                         state.intervention != Intervention{};  // opened again: what was changed stays
    choose_model(state, path, ++state.attempts);
    state.hovered.reset();
    state.locked.reset();
}

}  // namespace headlight

#include "views/views.h"

#include <algorithm>
#include <cctype>

#include "window/workspace.h"

namespace headlight {

namespace {

bool always(const Model&) { return true; }
bool is_vision(const Model& m) { return m.config.kind == ModelKind::vision; }
bool reads_text(const Model& m) { return !is_vision(m); }
const char* nothing(const Model&) { return nullptr; }
const char* no_logits(const Model& m) { return m.has_logits() ? nullptr : "This model has no head that predicts tokens."; }

}  // namespace

std::span<const View> views() {
    static const View table[] = {
        {"picture", "Picture", '8', draw_picture, is_vision, nothing},
        {"head", "Heat map", '1', draw_heat_map, always, nothing, View::Shows::head, nullptr, nullptr, nullptr, false, false, false, true},
        {"lines", "Lines", '2', draw_lines, reads_text, nothing, View::Shows::layer, ask_lines, draw_lines_list, draw_lines_inspector},
        {"steps", "Steps", '3', draw_steps, always, nothing, View::Shows::head, ask_steps, nullptr, draw_steps_inspector},
        {"delta", "ΔE", '4', draw_delta, always, nothing, View::Shows::layer, ask_delta, draw_delta_list, draw_delta_inspector},
        {"lens", "Next", '5', draw_lens, always, no_logits, View::Shows::model, ask_lens, nullptr, draw_lens_inspector},
        {"graph", "Graph", '6', draw_graph, reads_text, nothing, View::Shows::model, ask_graph, draw_graph_list, draw_graph_inspector},
        {"compare", "Compare", '7', draw_compare, always, nothing, View::Shows::head, ask_compare, draw_compare_list, nullptr, false, true, true},
        {"heads", "All heads", '9', draw_all_heads, always, nothing, View::Shows::model, ask_all_heads, nullptr, nullptr, true},
        {"model", "Model", '0', draw_architecture, always, nothing, View::Shows::model, nullptr, nullptr, nullptr, true},
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
    const auto view = std::find_if(views().begin(), views().end(), [&](const View& v) { return std::string_view(v.key) == key; });
    if (!state.view || !views()[*state.view].fills_window) state.view_before = state.view;
    state.view = static_cast<size_t>(view - views().begin());
}

void open_named_view(ViewState& state, const std::string& name) {
    const auto small = [](std::string text) {
        std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return text;
    };
    for (const View& v : views())
        if (name == v.key || small(name) == small(v.name)) return open_view(state, v.key);
}

void close_view(ViewState& state) { state.view = state.view_before; }

float Scene::weight(int query, int key) const { return std::max(0.0f, answer->picture->levels[0](query, key)); }

int Scene::heaviest_key(int query) const {
    Index key = 0;
    answer->picture->levels[0].row(query).maxCoeff(&key);
    return static_cast<int>(key);
}

int Scene::heaviest_query(int key) const {
    Index query = 0;
    answer->picture->levels[0].col(key).maxCoeff(&query);
    return static_cast<int>(query);
}

std::optional<std::pair<int, int>> Scene::shown_cell() const {
    if (!sentence() || !answer->picture) return std::nullopt;
    const auto cell = state.focused();
    if (cell && holds(*cell)) return cell;
    const ModelKind kind = model()->config.kind;
    const bool predicts = kind == ModelKind::vision || (kind == ModelKind::encoder && !sentence()->predictions.empty());  // the class token, a mask
    const int query = predicts && !sentence()->predictions.empty() ? sentence()->predictions[0].position : kind == ModelKind::vision ? 0 : queries() - 1;
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
    choose_model(state, path, ++state.attempts);
    state.changes_wait = false;
    state.hovered.reset();
    state.locked.reset();
}

}  // namespace headlight

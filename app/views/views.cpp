#include "views/views.h"

#include <algorithm>

namespace headlight {

std::span<const View> views() {
    static const View table[] = {
        {"Picture", draw_picture, [](const ModelConfig& c) { return c.kind == ModelKind::vision; }},
        {"Heat map", draw_heat_map, [](const ModelConfig&) { return true; }},
        {"Lines", draw_lines, [](const ModelConfig& c) { return c.kind != ModelKind::vision; }, draw_lines_list, draw_lines_inspector, true},
    };
    return table;
}

size_t view_for(const ViewState& state, const ModelConfig& config) {
    if (state.view && views()[*state.view].offered(config)) return *state.view;
    const auto first = std::find_if(views().begin(), views().end(), [&](const View& v) { return v.offered(config); });
    return static_cast<size_t>(first - views().begin());
}

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
    choose_model(state, path, ++state.attempts);
    state.hovered.reset();
    state.locked.reset();
}

}  // namespace headlight

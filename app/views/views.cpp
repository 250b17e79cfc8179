#include "views/views.h"

#include <algorithm>

namespace headlight {

std::span<const View> views() {
    static const View table[] = {
        {"Heat map", draw_heat_map},
    };
    return table;
}

std::string head_name(int layer, int head) { return std::to_string(layer) + "." + std::to_string(head); }

float Scene::weight(int query, int key) const { return std::max(0.0f, answer->picture->levels[0](query, key)); }

int Scene::heaviest_key(int query) const {
    Index key = 0;
    answer->picture->levels[0].row(query).maxCoeff(&key);
    return static_cast<int>(key);
}

std::optional<std::pair<int, int>> Scene::shown_cell() const {
    if (!sentence() || !answer->picture) return std::nullopt;
    const int n = sentence()->trace->size();
    const auto cell = state.focused();
    if (cell && cell->first < n && cell->second < n) return cell;
    return std::pair{n - 1, heaviest_key(n - 1)};
}

void choose_model(ViewState& state, const std::string& path) {
    state.model_path = path;
    ++state.model_attempt;
    state.hovered.reset();
    state.locked.reset();
}

}  // namespace headlight

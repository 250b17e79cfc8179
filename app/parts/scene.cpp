#include "parts/scene.h"

#include <algorithm>

#include "session/commands/commands.h"

namespace headlight {

float Scene::weight(int query, int key) const {
    const float w = answer->picture->at(query, key);
    return is_masked(w) ? 0.0f : w;
}

std::string Scene::weight_text(int query, int key, const char* masked) const {
    if (is_masked(answer->picture->at(query, key))) return masked;
    return pattern_number(weight(query, key), 3);
}

std::string Scene::pattern_number(float weight, int digits) const {
    return is_mixing() ? signed_number(double(weight), digits) : number(double(weight), digits);
}

void Scene::select(int block, int head) const { send("head", head_path(model()->config, block, head)); }

void Scene::select_block(int block) const {
    select(block, std::min(session.selection.head, model()->config.heads(block) - 1));
}

/// Splits "mask:16>10@2.0" into the command and its words.
void Scene::change(const Change& change, bool joins) const {
    const std::string text = change_name(model()->config, change);
    const size_t colon = text.find(':');
    send(text.substr(0, colon), text.substr(colon + 1), joins);
}

void Scene::lock(std::optional<std::pair<int, int>> cell) const {
    if (!cell) return send("unlock");
    send("lock", std::to_string(cell->first) + "," + std::to_string(cell->second));
}

int Scene::strongest_key(int query) const { return answer->picture->strongest_key(query); }
int Scene::strongest_query(int key) const { return answer->picture->strongest_query(key); }

std::optional<std::pair<int, int>> Scene::shown_cell() const {
    return headlight::shown_cell(session, answer);
}

JobInputs inputs_shown(const Scene& s) {
    const SentenceResult& now = *s.sentence();
    return {now.model,
            {now.trace, now.unchanged, s.answer->other ? s.answer->other->trace : nullptr},
            now.intervention,
            now.complete,
            false};
}

std::shared_ptr<const HeadEffects> sweep_effects(const Scene& s) {
    const auto effects = s.sweep() ? s.sweep()->found().effects : nullptr;
    return effects && !effects->empty() ? effects : nullptr;
}

}  // namespace headlight

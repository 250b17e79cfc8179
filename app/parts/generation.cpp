#include "parts/generation.h"

namespace headlight {

bool can_generate(const Scene& s) {
    if (!s.sentence() || !s.model()->has_logits() || !s.model()->tokenizer || !s.sentence()->trace->can_run())
        return false;
    return s.model()->config.can.continue_text || s.model()->config.can.write_target;
}

std::vector<Prediction> alternatives_at(const Scene& s, int step) {
    const auto& tokens = s.sentence()->written->generation.tokens;
    if (step < isize(tokens)) return tokens[step].alternatives;
    std::vector<Prediction> out;  // after the last generated token
    if (!s.sentence()->predictions.empty())
        for (const NextToken& t : s.sentence()->predictions[0].tokens) out.push_back({t.id, t.probability});
    return out;
}

bool is_generated(const Scene& s, int step, int id) {
    const auto& tokens = s.sentence()->written->generation.tokens;
    return step < isize(tokens) && tokens[step].id == id;
}

void continue_from(const Scene& s, int step, int id) {
    s.send("force", std::to_string(step) + "," + std::to_string(id));
}

}  // namespace headlight

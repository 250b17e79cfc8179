// Completes tokens.
#include "analysis/prediction/token_choices.h"

#include <algorithm>

#include "base/cast.h"
#include "base/utf8.h"

namespace headlight {

namespace {

constexpr int kMaxChoices = 12;

std::string without_blanks(const std::string& typed) {
    constexpr std::string_view kBlank = "␣";
    std::string out = typed;
    while (!out.empty() && out.front() == ' ') out.erase(0, 1);
    if (out.starts_with(kBlank)) out.erase(0, kBlank.size());
    return lower_case(out);
}

}  // namespace

void TokenChoicesRequest::clamp_to(const Trace& t) {
    if (position < 0)
        if (const auto predicted = predicting_positions(t); !predicted.empty()) position = predicted[0];
    const int last = t.config().can.read_image ? 0 : t.output().size() - 1;
    position = position < 0 ? last : std::min(position, last);
}

Result<TokenChoices> answer_token_choices(const Trace& trace, const TokenChoicesRequest& w, ThreadPool& pool,
                                          const CancelFlag* cancel) {
    TokenChoices out;
    if (!trace.model->has_logits()) return out;
    const Vector p = probabilities_at(trace, w.position, pool);
    const std::string typed = without_blanks(w.typed);
    std::vector<Prediction> found;
    for (int id = 0; id < narrow<int>(p.size()); ++id) {
        if ((id & 1023) == 0 && stopped(cancel)) return cancelled();
        if (!typed.empty() && !lower_case(prediction_label(*trace.model, id)).starts_with(typed)) continue;
        found.push_back({id, p[id]});
    }
    const auto end = found.begin() + std::min(kMaxChoices, isize(found));
    std::partial_sort(found.begin(), end, found.end(), [](const Prediction& a, const Prediction& b) {
        return a.probability != b.probability ? a.probability > b.probability : a.id < b.id;
    });
    out.tokens.assign(found.begin(), end);
    return out;
}

}  // namespace headlight

#include "analysis/prediction/own_answer.h"

#include <algorithm>

namespace headlight {

namespace {

/// Compares two answers; `own` has read what is written now, so both predict the same place.
void compare_answers(const Trace& shown, const Trace& own, int given, OwnAnswer& out, ThreadPool& pool) {
    const std::vector<int>& now = shown.output().ids;
    const std::vector<GeneratedToken>& before = out.generation.tokens;
    const int written = isize(now) - given;
    int i = 0;
    while (i < written && i < isize(before) && now[size_t(given + i)] == before[size_t(i)].id) ++i;
    if (i >= written || i >= isize(before)) {
        out.differs = isize(before) - (out.generation.ended ? 1 : 0) > written ? written : -1;
        return;
    }
    out.differs = i;
    const Vector p_before = probabilities_at(own, given + i - 1, pool),
                 p_now = probabilities_at(shown, given + i - 1, pool);
    for (const int id : {before[size_t(i)].id, now[size_t(given + i)]})
        out.there.push_back({id, prediction_label(*shown.model, id), p_before[id], p_now[id]});
}

}  // namespace

Result<OwnAnswer> measure_own_answer(const Runs& runs, const OwnAnswerRequest& request, ThreadPool& pool,
                                     const CancelFlag* cancel, const std::function<void(OwnAnswer)>&) {
    OwnAnswer out;
    const Sequence& read = runs.shown.output();
    if (!runs.own || request.given < 1 || request.given > read.size())
        return Error{"There is no intervention, so the answer is the model’s own."};
    ForwardRequest prompt{runs.own->request.inputs, {}};
    Sequence& last = prompt.inputs.back();
    last.ids.resize(size_t(request.given));
    last.tokens.resize(size_t(request.given));
    if (!last.types.empty()) last.types.resize(size_t(request.given));
    TRY(out.generation, generate(runs.shown.model, prompt, request.generation, pool, cancel, runs.own));
    for (const GeneratedToken& token : out.generation.tokens)
        out.labels.push_back(prediction_label(*runs.shown.model, token.id));
    compare_answers(runs.shown, *runs.own, request.given, out, pool);
    return out;
}

}  // namespace headlight

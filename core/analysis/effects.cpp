#include "analysis/effects.h"

#include <algorithm>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {
constexpr int kHeadsTogether = 16, kMaxStages = 5;
}  // namespace

Result<PerHead<float>> head_effects(const Trace& trace, int position, int token, ThreadPool& pool,
                                    const CancelFlag* cancel, std::atomic<int>* done) {
    const ModelConfig& c = trace.config();
    const Vector own = probabilities_at(trace, position, pool);
    HEADLIGHT_CHECK(token >= 0 && token < own.size());
    const float before = own[token];
    const int heads = c.head_count();
    PerHead<float> out(c);
    Matrix rows(kHeadsTogether, c.d_model);  // the unembedding is read once for many
    for (int i = 0; i < heads; ++i) {
        ForwardRequest request = trace.request;
        Change ablation;
        const AttentionHead head = c.head_at(i);
        ablation.block = head.block;
        ablation.head = head.head;
        request.intervention.changes.push_back(std::move(ablation));
        TRY(const auto ablated, run_trace(trace.model, std::move(request), pool, cancel, &trace));
        rows.row(i % kHeadsTogether) = ablated->normalized().row(position);
        if (done) *done = i + 1;
        if ((i + 1) % kHeadsTogether && i + 1 < heads) continue;
        const Matrix logits = unembed(*trace.model, rows.topRows(i % kHeadsTogether + 1), pool);
        const int first = i + 1 - narrow<int>(logits.rows());
        for (int r = 0; r < logits.rows(); ++r)
            out[first + r] = probabilities(logits.row(r).transpose())[token] - before;
    }
    return out;
}

Result<Moved> answer(const Runs& runs, const MovedWanted&, ThreadPool& pool, const CancelFlag* cancel) {
    Moved out;
    if (!runs.own) return out;
    TRY(out.distances, head_distances(*runs.own, runs.shown, {}, pool, cancel));
    return out;
}

Result<Stages> answer(const Runs& runs, const StagesWanted&, ThreadPool& pool, const CancelFlag* cancel) {
    Stages out;
    if (!runs.own) return out;
    const auto positions = predicting_positions(*runs.own);
    if (positions.empty()) return out;
    const int position = positions[0];
    out.token = predictions(*runs.own, position, 1, pool)[0].id;
    const auto& changes = runs.shown.request.intervention.changes;
    out.first = std::max(0, isize(changes) - kMaxStages);
    std::shared_ptr<const Trace> before;
    for (size_t count = out.first; count < changes.size(); ++count) {
        ForwardRequest request = runs.shown.request;
        request.intervention.changes.resize(count);
        TRY(before,
            run_trace(runs.shown.model, std::move(request), pool, cancel, before ? before.get() : runs.own));
        out.probability.push_back(probabilities_at(*before, position, pool)[out.token]);
    }
    out.probability.push_back(probabilities_at(runs.shown, position, pool)[out.token]);
    return out;
}

}  // namespace headlight

// Clamps and answers questions.
#include "questions/questions.h"

#include "analysis/patching/patch.h"
#include "model/engine.h"

namespace headlight {

namespace {

/// Runs the request of a trace where its model's weights are here.
Result<std::shared_ptr<const Trace>> run_with_weights(const Trace& trace, ThreadPool& pool,
                                                      const CancelFlag* cancel) {
    const auto run = [&](const std::shared_ptr<const Model>& model,
                         const Trace* past) -> Result<std::shared_ptr<const Trace>> {
        ForwardRequest request = trace.request;
        if (needs_patching(request.intervention)) {  // what a server fills in itself
            TRY(const auto own, run_trace(model, {request.inputs, {}}, pool, cancel));
            TRY(request.intervention, patched(std::move(request.intervention), *own, pool, cancel));
        }
        return run_trace(model, std::move(request), pool, cancel, past);
    };
    return trace.model->engine->run_here(trace, run, cancel);
}

}  // namespace

Result<RunsHere> runs_here(const Runs& runs, ThreadPool& pool, const CancelFlag* cancel) {
    RunsHere out{nullptr, nullptr, nullptr, runs};
    const auto bring = [&](const Trace* trace, std::shared_ptr<const Trace>& here) -> Status {
        if (!trace || trace->has_weights() || !weights_come(*trace->model)) return success();
        TRY(here, run_with_weights(*trace, pool, cancel));
        return success();
    };
    TRY_STATUS(bring(runs.own, out.own));
    TRY_STATUS(bring(&runs.shown, out.shown));
    TRY_STATUS(bring(runs.other, out.other));
    return out;
}

Result<std::shared_ptr<const Model>> model_here(const std::shared_ptr<const Model>& model,
                                                const CancelFlag* cancel) {
    return model->engine ? model->engine->with_weights(cancel) : model;
}

Question clamped(const Question& question, const Trace& trace) {
    Question out = question;
    std::visit(
        [&](auto& asked) {
            if constexpr (requires { asked.clamp_to(trace); }) asked.clamp_to(trace);
        },
        out);
    return out;
}

}  // namespace headlight

#include "session/patch_sweep.h"

#include "base/check.h"

namespace headlight {

namespace {

bool same_tokens(const Trace& a, const Trace& b) {
    if (a.model != b.model || a.request.inputs.size() != b.request.inputs.size()) return false;
    for (size_t i = 0; i < a.request.inputs.size(); ++i) {
        const Sequence &x = a.request.inputs[i], &y = b.request.inputs[i];
        if (x.ids != y.ids || x.types != y.types || x.picture != y.picture) return false;
    }
    return true;
}

}  // namespace

std::optional<PatchRuns> patch_runs(const ShownRuns& runs, PatchMapWanted wanted,
                                    const Intervention& changes) {
    wanted.fit(*runs.shown);
    const auto& own = runs.own ? runs.own : runs.shown;
    if (wanted.from_other && runs.other) return PatchRuns{runs.other, own, wanted, {}};
    if (wanted.from_other || !runs.own) return std::nullopt;
    return PatchRuns{own, runs.shown, wanted, without_patches({{}, changes}).intervention};
}

PatchSweep::PatchSweep(PatchRuns runs, std::function<void(bool)> seen, PatchMap known)
    : runs_(std::move(runs)), seen_(std::move(seen)), found_{std::move(known), ""} {
    thread_ = std::thread([this] {
        const Status measured = guarded([&] { return measure(); });
        if (!measured && measured.error().cancelled) return;
        if (!measured) tell({{}, measured.error().message});
        ended_ = true;
        seen_(true);
    });
}

bool PatchSweep::is_of(const PatchRuns& runs) const {
    return runs.wanted == runs_.wanted && runs.changes == runs_.changes &&
           same_tokens(*runs.clean, *runs_.clean) && same_tokens(*runs.base, *runs_.base);
}

PatchMapFound PatchSweep::found() const {
    std::lock_guard lock(mutex_);
    return found_;
}

void PatchSweep::tell(PatchMapFound found) {
    std::lock_guard lock(mutex_);
    found_ = std::move(found);
}

Status PatchSweep::measure() {
    ThreadPool pool(1);  // the worker keeps the rest
    const CancelScope scope(pool, &cancel_);
    const Trace& base = *runs_.base;
    const PatchMap known = found().map;
    TRY(const auto corrupted, run_trace(base.model, without_patches(base.request), pool, &cancel_, &base));
    const auto seen = [&](const PatchMap& map) {
        tell({map, ""});
        seen_(false);
    };
    TRY_STATUS(patch_map(*runs_.clean, *corrupted, runs_.wanted.patch, pool, &cancel_, seen, &known));
    return success();
}

void PatchSweep::stop() {
    cancel_ = true;
    if (thread_.joinable()) thread_.join();
}

}  // namespace headlight

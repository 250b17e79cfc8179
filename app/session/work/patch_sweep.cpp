#include "session/work/patch_sweep.h"

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
    wanted.clamp_to(*runs.shown);
    const auto& own = runs.own ? runs.own : runs.shown;
    if (wanted.from_other && runs.other) return PatchRuns{runs.other, own, wanted, {}};
    if (wanted.from_other || !runs.own) return std::nullopt;
    return PatchRuns{own, runs.shown, wanted, without_patches({{}, changes}).intervention};
}

namespace {

Status measure_patches(const PatchRuns& runs, const PatchMap& known, ThreadPool& pool,
                       const CancelFlag* cancel, const std::function<void(PatchMapFound)>& tell) {
    const Trace& base = *runs.base;
    TRY(const auto corrupted, run_trace(base.model, without_patches(base.request), pool, cancel, &base));
    const auto seen = [&](const PatchMap& map) { tell({map, ""}); };
    TRY_STATUS(patch_map(*runs.clean, *corrupted, runs.wanted.patch, pool, cancel, seen, &known));
    return success();
}

}  // namespace

PatchSweep::PatchSweep(PatchRuns runs, std::function<void(bool)> seen, PatchMap known)
    : runs_(std::move(runs)),
      measuring_(
          {known, ""},
          [this, known](ThreadPool& pool, const CancelFlag* cancel, const auto& tell) {
              return measure_patches(runs_, known, pool, cancel, tell);
          },
          [](std::string why) {
              return PatchMapFound{{}, std::move(why)};
          },
          std::move(seen)) {}

bool PatchSweep::is_of(const PatchRuns& runs) const {
    return runs.wanted == runs_.wanted && runs.changes == runs_.changes &&
           same_tokens(*runs.clean, *runs_.clean) && same_tokens(*runs.base, *runs_.base);
}

}  // namespace headlight

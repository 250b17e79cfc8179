// A map of activation patching, measured cell by cell beside the worker.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "questions/answering.h"
#include "session/work/background_job.h"

namespace headlight {

/// Which map of which runs.
struct PatchRuns {
    std::shared_ptr<const Trace> clean;
    std::shared_ptr<const Trace> base;  // whose request without the patches in force is the corrupted run's
    PatchMapWanted wanted;
    Intervention changes;  // in force in `base`, as they are asked for
};

/// What is measured between these runs; nothing where one of them is not there yet. `changes`: those in
/// force, as they are asked for.
std::optional<PatchRuns> patch_runs(const ShownRuns& runs, PatchMapWanted wanted,
                                    const Intervention& changes);

/// The map that a view shows, and whether it is measured further: else what is known of it stays as it is.
struct PatchWish {
    PatchMapWanted map;
    bool measure = true;
    bool operator==(const PatchWish&) const = default;
};

class PatchSweep {
public:
    /// Begins, with what is known of the same map; `seen(ended)` is called on the sweep's thread whenever
    /// more is known, and at its end, unless it was stopped.
    PatchSweep(PatchRuns runs, std::function<void(bool)> seen, PatchMap known = {});
    /// Cancels it and waits until it has stopped; what was measured stays.
    void stop() { measuring_.stop(); }
    bool stopped() const { return measuring_.stopped(); }

    /// Whether it measures the same, however often its runs were computed since.
    bool is_of(const PatchRuns& runs) const;
    bool ended() const { return measuring_.ended(); }
    bool goes_on() const { return !ended() && !stopped(); }
    /// As far as it is known; where it cannot be measured, why.
    PatchMapFound found() const { return measuring_.found(); }

private:
    PatchRuns runs_;
    Measuring<PatchMapFound> measuring_;  // the last: it ends before what it reads
};

}  // namespace headlight

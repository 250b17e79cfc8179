// A map of activation patching, measured cell by cell beside the worker.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analysis/answer.h"

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
    /// Cancels it and waits until it has stopped.
    ~PatchSweep() { stop(); }
    /// The same; what was measured stays.
    void stop();
    bool stopped() const { return cancel_; }

    /// Whether it measures the same, however often its runs were computed since.
    bool is_of(const PatchRuns& runs) const;
    bool ended() const { return ended_; }
    bool goes_on() const { return !ended_ && !cancel_; }
    /// As far as it is known; where it cannot be measured, why.
    PatchMapFound found() const;

private:
    Status measure();
    void tell(PatchMapFound found);

    PatchRuns runs_;
    std::function<void(bool)> seen_;
    mutable std::mutex mutex_;  // of found_
    PatchMapFound found_;
    std::atomic<bool> ended_{false};
    CancelFlag cancel_{false};
    std::thread thread_;
};

}  // namespace headlight

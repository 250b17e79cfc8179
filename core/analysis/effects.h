// What changes do: heads ablated one by one, heads that moved, the prediction change by change.
#pragma once

#include <atomic>
#include <vector>

#include "analysis/run_pair.h"

namespace headlight {

/// Ablates each head in turn (its z is 0) and returns the change of one token's probability at a position of
/// the output sequence. Layers before the head are taken from `trace`. `done`
/// counts heads. An error means that `cancel` was set.
Result<PerHead<float>> head_effects(const Trace& trace, int position, int token, ThreadPool& pool,
                                    const CancelFlag* cancel = nullptr, std::atomic<int>* done = nullptr);

/// How far the changes in force moved each head's pattern: its distance from the model's own.
struct Moved {
    PerHead<float> distances;  // empty without changes
};
struct MovedWanted {
    using Answer = Moved;
    bool operator==(const MovedWanted&) const = default;
};
Result<Moved> answer(const Runs& runs, const MovedWanted& wanted, ThreadPool& pool, const CancelFlag* cancel);

/// The probability of what the unchanged model predicts, as one change after another was made.
struct Stages {
    int token = -1;
    int first = 0;  // changes that are in force at the first stage
    std::vector<float>
        probability;  // at each stage from there on: mask and `first` changes, and one more, …; the last: all
};
struct StagesWanted {
    using Answer = Stages;
    bool operator==(const StagesWanted&) const = default;
};
Result<Stages> answer(const Runs& runs, const StagesWanted& wanted, ThreadPool& pool,
                      const CancelFlag* cancel);

}  // namespace headlight

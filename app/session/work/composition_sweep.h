// Compositions of all pairs of heads of a model, beside the worker, where they take longer than a person
// waits.
#pragma once

#include <functional>
#include <memory>

#include "analysis/circuits/composition.h"
#include "session/work/background_job.h"

namespace headlight {

struct CompositionFound {
    std::shared_ptr<const Composition> composition;  // null until it is known; with why it cannot be
    int done = 0, steps = 0;                         // pairs of layers
};

class CompositionSweep {
public:
    /// Begins; `seen(ended)` is called on the sweep's thread whenever more is known, and at its end, unless
    /// it was stopped.
    CompositionSweep(std::shared_ptr<const Model> model, std::function<void(bool)> seen);
    /// Cancels it and waits until it has stopped.
    void stop() { measuring_.stop(); }

    bool is_of(const Model* model) const { return model == model_.get(); }
    bool ended() const { return measuring_.ended(); }
    CompositionFound found() const { return measuring_.found(); }

private:
    std::shared_ptr<const Model> model_;
    Measuring<CompositionFound> measuring_;  // the last: it ends before what it reads
};

}  // namespace headlight

// Station "Watch heads form": a small model at twelve steps of its training, on the user's sentence.
#pragma once

#include "learn/station.h"
#include "learn/stations/formation_run.h"

namespace headlight::learn {

struct FormationState {
    static constexpr int kLastStep = 11;
    int step = kLastStep;  // index among the checkpoints
    int head = 0;          // index in kHeads
    bool twice = true;     // repeats the sentence, so that there is something to copy

    static constexpr const char* kHeads[] = {"strongest induction",
                                             "strongest previous token",
                                             "0.0",
                                             "0.1",
                                             "0.2",
                                             "0.3",
                                             "1.0",
                                             "1.1",
                                             "1.2",
                                             "1.3"};

    void visit(ControlVisitor& v) {
        v.played("step", "Checkpoint", step, 0, kLastStep);
        v.choice("head", "Head", head, kHeads);
        v.flag("twice", "The sentence twice", twice);
    }
};

Result<Page> formation_page(const StationInput& input, const FormationState& state, ThreadPool& pool);

}  // namespace headlight::learn

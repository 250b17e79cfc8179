// Compares what a model writes under interventions with what it writes without them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/comparison/run_pair.h"
#include "analysis/prediction/generate.h"

namespace headlight {

/// Asks what the unchanged model writes after the first `given` tokens.
struct OwnAnswerRequest {
    using Answer = struct OwnAnswer;
    GenerationRequest generation;
    int given = 0;
    bool rests_on_other() const { return false; }
    bool operator==(const OwnAnswerRequest&) const = default;
};

/// Holds the probabilities of a token in both runs.
struct TokenBeforeAndNow {
    int id = 0;
    std::string label;
    float before = 0, now = 0;
};

struct OwnAnswer {
    Generation generation;            // the unchanged model's
    std::vector<std::string> labels;  // of its tokens
    int differs = -1;                 // the first token that is another one than now; −1: none
    /// Are the token written there before and the one written now; empty: one of them ended there.
    std::vector<TokenBeforeAndNow> there;
    std::string refusal;
};

Result<OwnAnswer> measure_own_answer(const Runs& runs, const OwnAnswerRequest& request, ThreadPool& pool,
                                     const CancelFlag* cancel, const std::function<void(OwnAnswer)>& seen);

}  // namespace headlight

// Shows which experts each token goes to, and what each adds to the logit of a token (Shazeer et al. 2017).
#pragma once

#include <vector>

#include "analysis/attention/shown.h"
#include "model/feed_forward/experts.h"

namespace headlight {

/// Holds the experts of all tokens of the stack that predicts.
struct ExpertRoutes {
    std::vector<int> layers;  // those that have experts
    /// [layers][tokens]: the experts of each token, the largest weight first, also those that are off.
    std::vector<std::vector<std::vector<ExpertChoice>>> chosen;
};

struct ExpertRoutesRequest {
    using Answer = ExpertRoutes;
    bool operator==(const ExpertRoutesRequest&) const = default;
};

/// Holds one chosen expert's part of a logit. off: switched off, so that it adds nothing.
struct ExpertShare {
    int layer = 0, expert = 0;
    float weight = 0, logit = 0;
    bool off = false;
};

/// Holds what the routers of all layers say of one token, and what its experts add to a logit there.
struct Experts {
    std::vector<float> router;  // [experts]: what each score of the asked layer counts for
    int token = -1;  // whose logit is split; −1: the model predicts nothing, or by no direct path
    float logit = 0;
    std::vector<ExpertShare> shares;  // by magnitude; with `others` they sum to `logit`
    float others = 0;                 // of embedding, attention, shared experts and biases
};

struct ExpertsRequest {
    using Answer = Experts;
    int position = 0, layer = 0;  // of the stack that predicts
    int token = -1;               // −1: the most probable
    void clamp_to(const Trace& trace);
    bool operator==(const ExpertsRequest&) const = default;
};

/// Returns the layers of the stack that predicts which have experts.
std::vector<int> layers_with_experts(const ModelConfig& config);

/// Compute the routes again from each layer's input, under the changes of the trace. The logits are those of
/// direct logit attribution (analysis/prediction/lens.h). Fail without weights.
Result<ExpertRoutes> answer_expert_routes(const Trace& trace, const ExpertRoutesRequest& request,
                                          ThreadPool& pool, const CancelFlag* cancel);
Result<Experts> answer_experts(const Trace& trace, const ExpertsRequest& request, ThreadPool& pool,
                               const CancelFlag* cancel);

}  // namespace headlight

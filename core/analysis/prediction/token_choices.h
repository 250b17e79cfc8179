// Completes a typed beginning of a token from the model's vocabulary, the most probable first.
#pragma once

#include <string>
#include <vector>

#include "analysis/prediction/predict.h"

namespace headlight {

struct TokenChoices {
    std::vector<Prediction> tokens;  // with their probabilities at the position
};

struct TokenChoicesRequest {
    using Answer = TokenChoices;
    int position = -1;  // in the output sequence; −1: where the model predicts
    std::string typed;  // their beginning, in upper or lower case, without the leading space; "": any
    void clamp_to(const Trace& trace);
    bool operator==(const TokenChoicesRequest&) const = default;
};

Result<TokenChoices> answer_token_choices(const Trace& trace, const TokenChoicesRequest& request,
                                          ThreadPool& pool, const CancelFlag* cancel);

}  // namespace headlight

// What the model would say if it stopped early, and who made it say what it says.
#pragma once

#include <string>
#include <vector>

#include "analysis/attention/shown.h"
#include "analysis/prediction/predict.h"

namespace headlight {

/// The most probable token at some positions after each layer: what leaves it through the final norm and
/// the unembedding (the logit lens of nostalgebraist 2020). The row after the last layer is the model's own
/// prediction.
struct Lens {
    int first = 0;                             // position of the first column
    std::vector<std::vector<Prediction>> top;  // [layers + 1][positions]; row 0: the embeddings
};

struct LensRequest {
    using Answer = Lens;
    int first = 0, count = 0;  // positions of the output sequence
    void clamp_to(const Trace& trace);
    bool operator==(const LensRequest&) const = default;
};

Result<Lens> answer_lens(const Trace& trace, const LensRequest& request, ThreadPool& pool,
                         const CancelFlag* cancel);

/// A share of one token's logit. given: of what a person put in place of the stream, or of what a head, an
/// attention block, an MLP adds.
struct LogitPart {
    enum class Kind {
        embedding,
        head,
        attention_bias,
        mlp,
        given,
        given_head,
        given_attention,
        given_mlp,
        norm_bias,
        unembedding_bias
    } kind;
    int block = -1, head = -1;  // of heads and attention blocks; an MLP has the layer in `block`
    float logit = 0;
};

/// The predictions at one position, and where the logit of one token comes from.
struct Attribution {
    std::vector<Prediction> tokens;  // most probable first
    int token = 0;                   // the one that is explained
    int against = -1;                // … by how much its logit is above this one's; −1: its logit alone
    float logit = 0;                 // what is explained, before the logits' soft cap
    float probability = 0;
    std::vector<float> after_layer;  // its probability (against another token: the difference of the logits)
                                     // after each layer, row 0: the embeddings
    std::vector<LogitPart> parts;    // they sum to `logit`; empty where no straight path leads to the logits
};

struct AttributionRequest {
    using Answer = Attribution;
    int position = 0;
    int token = -1;    // −1: the most probable one
    int count = 0;     // predictions to list
    int against = -1;  // another token, whose logit is subtracted
    void clamp_to(const Trace& trace);
    bool operator==(const AttributionRequest&) const = default;
};

/// Direct logit attribution (Elhage et al. 2021).
Result<Attribution> answer_attribution(const Trace& trace, const AttributionRequest& request,
                                       ThreadPool& pool, const CancelFlag* cancel);

}  // namespace headlight

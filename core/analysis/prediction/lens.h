// Shows the model's prediction after each layer (logit lens), and the sources of its final one.
#pragma once

#include <vector>

#include "analysis/attention/shown.h"
#include "analysis/prediction/predict.h"

namespace headlight {

/// Holds the most probable token at some positions after each layer: its output through the final norm and
/// the unembedding (the logit lens of nostalgebraist 2020). Several streams are first joined as behind the
/// last layer. The row after the last layer is the model's own prediction.
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

/// Holds a share of one token's logit. given: of the user's replacement of the stream, or of the output of a
/// head, attention block or MLP.
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
    int block = -1, head = -1;  // of heads and attention blocks; for an MLP `block` is the layer
    float logit = 0;
};

/// Holds the predictions at one position, and the sources of one token's logit.
struct Attribution {
    std::vector<Prediction> tokens;  // most probable first
    int token = 0;                   // the token explained
    int against = -1;                // the token whose logit is subtracted; −1: none
    float logit = 0;                 // explained value, before the logits' soft cap
    float probability = 0;
    /// its probability (against another token: the logit difference) after each layer; row 0: the embeddings
    std::vector<float> after_layer;
    std::vector<LogitPart> parts;  // sum to `logit`; empty if no direct path leads to the logits
};

struct AttributionRequest {
    using Answer = Attribution;
    int position = 0;
    int token = -1;    // −1: the most probable
    int count = 0;     // predictions to list
    int against = -1;  // token whose logit is subtracted
    void clamp_to(const Trace& trace);
    bool operator==(const AttributionRequest&) const = default;
};

/// Computes direct logit attribution (Elhage et al. 2021).
Result<Attribution> answer_attribution(const Trace& trace, const AttributionRequest& request,
                                       ThreadPool& pool, const CancelFlag* cancel);

}  // namespace headlight

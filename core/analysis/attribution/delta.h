// Shows what attention adds to the embeddings: E → E + ΔE.
#pragma once

#include <vector>

#include "analysis/attention/shown.h"
#include "analysis/prediction/predict.h"

namespace headlight {

/// Holds lengths over all tokens and attention blocks of one stack.
struct DeltaMaps {
    std::vector<int> blocks;       // in the order of the residual stream
    Matrix before, delta, cosine;  // [n, blocks]: ‖E‖, ‖ΔE‖ (attn_out), cosine of E and E + ΔE
};

struct DeltaMapsRequest {
    using Answer = DeltaMaps;
    int stack = 0;
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const DeltaMapsRequest&) const = default;
};

Result<DeltaMaps> answer_delta_maps(const Trace& trace, const DeltaMapsRequest& request, ThreadPool& pool,
                                    const CancelFlag* cancel);

/// Holds a part of one ΔE: a head's, the output bias's, the user's replacement, or one key's.
struct DeltaPart {
    float norm = 0;   // length
    float along = 0;  // component along the whole ΔE; over all parts they sum to ‖ΔE‖
};

struct TokenShift {
    int id = 0;
    float logit = 0;  // what ΔE adds to the token's logit on the direct path
};

/// Splits one token's ΔE in one attention block.
struct DeltaSplit {
    std::vector<DeltaPart> heads;  // with the output bias as another part, or the user's replacement of all
    bool given = false;            // the user replaced it
    std::vector<DeltaPart>
        keys;  // of the block, or of one head (Kobayashi et al. 2020: ‖Σ pattern · v · W_O‖)
    std::vector<TokenShift> promoted, suppressed;    // by ΔE; empty if no direct path leads to the logits
    std::vector<std::vector<int>> promoted_by_head;  // ids that each head promotes most
    int token = -1, against = -1;  // tokens of the metric at this query; −1: no direct path
    float explained = 0;           // what ΔE adds to its logit (against another token: to the difference)
    std::vector<float> explained_by_head;  // of each head of the block
    PerHead<float> norm_by_head;           // ‖z W_O‖ at this token; NaN in other stacks
    std::vector<Prediction> after_layer;   // logit lens after each layer, the most probable tokens
};

struct DeltaSplitRequest {
    using Answer = DeltaSplit;
    int block = 0, query = 0;
    int head = -1;                 // whose keys; −1: all heads together
    int token = -1, against = -1;  // explained: a token, or one against another; −1: the most probable
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const DeltaSplitRequest&) const = default;
};

Result<DeltaSplit> answer_delta_split(const Trace& trace, const DeltaSplitRequest& request, ThreadPool& pool,
                                      const CancelFlag* cancel);

/// [keys, d_model]: pattern · v · W_O, what each key adds through one head (−1: all of them) at one query.
/// Sums to the head's ΔE (to the sum over heads).
Matrix key_contributions(const Trace& trace, int block, int head, int query, ThreadPool& pool);

/// Projects the embeddings to the plane in which they vary most.
struct Projection {
    std::vector<int> tokens;    // positions of the rows below
    std::vector<int> left_out;  // positions whose length alone would determine the plane, see long_tokens
    /// [tokens, 2] each: before and after attention, or the residual stream at the start and after each layer
    std::vector<Matrix> steps;
    float kept = 0;  // share of the variance that the plane keeps
};

/// Returns the rows that in one of these steps are longer than ten times its median, as attention sinks are
/// (Sun et al. 2024, massive activations).
std::vector<int> long_tokens(const std::vector<Matrix>& steps);

struct ProjectionRequest {
    using Answer = Projection;
    int stack = 0;
    int block = -1;  // before and after this block; −1: through all layers
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const ProjectionRequest&) const = default;
};

Result<Projection> answer_projection(const Trace& trace, const ProjectionRequest& request, ThreadPool& pool,
                                     const CancelFlag* cancel);

}  // namespace headlight

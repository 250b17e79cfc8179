// Computes everything that the inspector shows about one cell of one head.
#pragma once

#include <optional>
#include <vector>

#include "analysis/attention/score_steps.h"
#include "analysis/prediction/predict.h"
#include "trace/trace.h"

namespace headlight {

struct Cell {
    int block = 0, head = 0, query = 0, key = 0;
    bool operator==(const Cell&) const = default;
};

struct CellReport : ScoreSteps {
    Cell cell;
    float weight = 0;  // pattern[query, key]
    WeightsBy weights_by = WeightsBy::softmax;
    float temperature = 1;
    bool allowed = true;
    int rank = 1;                 // rank of the key in its row, from 1
    int ranked = 0;               // unmasked keys of the row
    std::vector<Prediction> row;  // heaviest keys of the row, by size: position and weight
    std::optional<float> sink;    // weight that the row leaves to the head's sink; none: it has none
    float delta_norm = 0;         // ‖z W_O‖ of this head at the query: its ΔE
    float layer_share = 0;        // ‖ΔE‖ of this head over the sum of ‖ΔE‖ of the layer's heads
    bool tokens_asked = false;    // whether the next two were computed
    /// tokens that ΔE makes more and less likely, strongest first; empty without a direct path to the logits
    std::vector<int> promoted, suppressed;
    /// pattern[query, key] of every head; NaN where blocks are not alike (read_alike)
    PerHead<float> weight_by_head;
};

/// Reads the cell from the trace. Promoted and suppressed tokens: ΔE through the final norm's weight and the
/// unembedding (the logit lens of nostalgebraist 2020, applied to one head); only in pre-norm stacks that end
/// in the unembedding, and only on request, because they cost a product with the vocabulary.
CellReport report_cell(const Trace& trace, const Cell& cell, bool tokens, ThreadPool& pool);

/// Asks for the weight of one cell in every head of the blocks that are alike (read_alike); NaN in others.
struct CellWeightsRequest {
    using Answer = PerHead<float>;
    int block = 0, query = 0, key = 0;
    void clamp_to(const Trace& trace);
    bool operator==(const CellWeightsRequest&) const = default;
};
Result<PerHead<float>> answer_cell_weights(const Trace& trace, const CellWeightsRequest& request,
                                           ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight

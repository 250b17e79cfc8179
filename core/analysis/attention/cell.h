// Everything the inspector says about one cell of one head.
#pragma once

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
    int rank = 1;                           // place of the key in its row, from 1
    int ranked = 0;                         // keys of the row that the mask allows
    std::vector<Prediction> row;            // the heaviest keys of the row: position and weight
    float delta_norm = 0;                   // ‖result‖ of this head at the query: its ΔE
    float layer_share = 0;                  // ‖result‖ over the sum of ‖result‖ of the layer's heads
    bool tokens_asked = false;              // whether the next two were looked for
    std::vector<int> promoted, suppressed;  // tokens that ΔE makes more and less likely, strongest first;
                                            // empty where no straight path leads to the logits
    PerHead<float> weight_by_head;          // pattern[query, key] of every head; NaN
                                            // where the block reads other sequences
};

/// Reads the cell out of the trace. Tokens promoted and suppressed: ΔE through the final norm's weight and
/// the unembedding (the logit lens of nostalgebraist 2020, applied to one head); only in pre-norm stacks that
/// end in the unembedding; only where they are asked for, because they take a product with the vocabulary.
CellReport report_cell(const Trace& trace, const Cell& cell, bool tokens, ThreadPool& pool);

}  // namespace headlight

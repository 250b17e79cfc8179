// What one head does by its weights alone (Elhage et al. 2021): which token seeks which (QK), which token
// promotes which (OV), over the whole vocabulary, factored through the head's width: no matrix of d_vocab² is
// ever made. Biases of the block are left out of both circuits, and so are positions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/attention/shown.h"
#include "io/numbers.h"

namespace headlight {

class AverageText;  // analysis/circuits/circuit_factors.h

/// QK: a query's and a key's token, and the score above that of the query's mean key (softmax takes only
/// differences in a row). OV: an attended token and one whose logit it raises above the mean logit, but for
/// the scale of the final norm, which depends on a text.
struct CircuitPair {
    int from = 0, to = 0;
    float value = 0;
    bool operator==(const CircuitPair&) const = default;
};

/// The strongest pairs; each token stands once on each side. `refusal`: why there are none, or "".
struct CircuitPairs {
    std::vector<CircuitPair> pairs;  // largest first
    std::string refusal;
    int from_stack = 0, to_stack = 0;  // whose vocabularies the tokens are of
};

struct HeadCircuits {
    CircuitPairs qk, ov;
    int tokens = 0;     // of the vocabulary were looked at for the pairs, the first ones
    float copying = 0;  // Σ λ / Σ |λ| over the eigenvalues of the OV circuit: 1: each token promotes itself
    float previous = 0;   // mean weight on the token before, of a text of average tokens, by positions alone
    float duplicate = 0;  // mean over tokens of how many standard deviations a token as its own key stands
                          // above the mean key; each score NaN where it has no meaning
};

struct CircuitsRequest {
    using Answer = HeadCircuits;
    int block = 0, head = 0;
    int tokens = 0;  // the first of the vocabulary, from which pairs are taken; 0: all
    int pairs = 20;  // of each circuit
    void clamp_to(const Trace& trace) { clamp_to(trace.config()); }
    void clamp_to(const ModelConfig& config);
    bool valid_for(const Shown& shown) const { return block == shown.block && head == shown.head; }
    bool operator==(const CircuitsRequest&) const = default;
};

/// Products go block by block: memory grows with vocab · (d_head + pairs). The model must have weights.
/// `step` (or null) is called circuit_steps() times.
Result<HeadCircuits> head_circuits(const Model& model, const CircuitsRequest& request, ThreadPool& pool,
                                   const CancelFlag* cancel = nullptr,
                                   const std::function<void()>& step = nullptr);
int circuit_steps(const Model& model, const CircuitsRequest& request);
Result<HeadCircuits> answer_circuits(const Trace& trace, const CircuitsRequest& request, ThreadPool& pool,
                                     const CancelFlag* cancel = nullptr);

/// The `count` largest entries of left · rightᵀ [rows, columns], of which each row and each column gives at
/// most one: taken from the largest down (of equal ones the first row, then the first column). `step` as
/// above, once for each block of rows.
std::vector<CircuitPair> strongest_pairs(const Matrix& left, const Matrix& right, int count, ThreadPool& pool,
                                         const std::function<void()>& step = nullptr);

/// Copying, previous-token and duplicate-token score of one head, without pairs. `average`: one for all heads
/// of the model.
HeadCircuits circuit_scores(const Model& model, AttentionHead head, AverageText& average, ThreadPool& pool);

/// Both lists as tables: token ids, with the tokens as texts, and the value.
std::vector<NumberTable> circuit_numbers(const HeadCircuits& circuits, const Model& model,
                                         AttentionHead head);

}  // namespace headlight

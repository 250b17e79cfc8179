// Describes one head by its weights alone (Elhage et al. 2021): which token attends to which (QK), which
// token promotes which (OV), over the whole vocabulary, factored through d_head: never makes a matrix of
// d_vocab². Leaves out the block's biases and positions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/attention/shown.h"
#include "io/numbers.h"

namespace headlight {

class AverageText;  // analysis/circuits/circuit_factors.h

/// QK: a query's and a key's token, with the score minus that of the query's mean key (softmax depends only
/// on differences in a row). OV: an attended token and one whose logit it raises above the mean logit, except
/// for the scale of the final norm, which depends on the text.
struct CircuitPair {
    int from = 0, to = 0;
    float value = 0;
    bool operator==(const CircuitPair&) const = default;
};

/// Holds the strongest pairs; each token occurs once on each side. `refusal`: why there are none, or "".
struct CircuitPairs {
    std::vector<CircuitPair> pairs;  // largest first
    std::string refusal;
    int from_stack = 0, to_stack = 0;  // stacks of the tokens' vocabularies
};

struct HeadCircuits {
    CircuitPairs qk, ov;
    int tokens = 0;    // first tokens of the vocabulary, searched for pairs
    int reserved = 0;  // of these, left out: no text has them (reserved_tokens.h)
    float copying = 0;  // Σ λ / Σ |λ| over the eigenvalues of the OV circuit; 1: each token promotes itself
    float previous = 0;  // mean weight on the previous token in a text of average tokens, by positions alone
    /// mean over tokens: standard deviations of the score with itself above the mean key; NaN if undefined
    float duplicate = 0;
};

struct CircuitsRequest {
    using Answer = HeadCircuits;
    int block = 0, head = 0;
    int tokens = 0;  // first tokens of the vocabulary to search; 0: all
    int pairs = 20;  // of each circuit
    void clamp_to(const Trace& trace) { clamp_to(trace.config()); }
    void clamp_to(const ModelConfig& config);
    bool valid_for(const Shown& shown) const { return block == shown.block && head == shown.head; }
    bool operator==(const CircuitsRequest&) const = default;
};

/// Multiplies block by block: memory grows with vocab · (d_head + pairs). Requires weights. Calls `step` (or
/// null) circuit_steps() times.
Result<HeadCircuits> head_circuits(const Model& model, const CircuitsRequest& request, ThreadPool& pool,
                                   const CancelFlag* cancel = nullptr,
                                   const std::function<void()>& step = nullptr);
int circuit_steps(const Model& model, const CircuitsRequest& request);
Result<HeadCircuits> answer_circuits(const Trace& trace, const CircuitsRequest& request, ThreadPool& pool,
                                     const CancelFlag* cancel = nullptr);

/// Returns the `count` largest entries of left · rightᵀ [rows, columns], at most one per row and per column,
/// taken in descending order (ties: the first row, then the first column). Calls `step` once per block of
/// rows.
std::vector<CircuitPair> strongest_pairs(const Matrix& left, const Matrix& right, int count, ThreadPool& pool,
                                         const std::function<void()>& step = nullptr);

/// Computes the copying, previous-token and duplicate-token scores of one head, without pairs. `average`:
/// shared by all heads of the model.
HeadCircuits circuit_scores(const Model& model, AttentionHead head, AverageText& average, ThreadPool& pool);

/// Lists both as tables: token ids, with the tokens as texts, and the value.
std::vector<NumberTable> circuit_numbers(const HeadCircuits& circuits, const Model& model,
                                         AttentionHead head);

}  // namespace headlight

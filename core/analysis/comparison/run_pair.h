// Compares two runs: one head, the lengths of ΔE, the predictions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/attention/shown.h"
#include "analysis/comparison/compare.h"

namespace headlight {

/// Holds the runs that a question may use: the one shown, the model's own pass if something is changed, and
/// the run of another text or model to compare with.
struct Runs {
    const Trace& shown;
    const Trace* own = nullptr;
    const Trace* other = nullptr;
    operator const Trace&() const { return shown; }
};

/// Says what A, the shown run, is compared with: another head, the model's own pass, or the other run.
enum class Versus { head, unchanged, other };

struct RunPair {
    Versus versus = Versus::head;
    Alignment alignment;  // of A and the other run
    bool operator==(const RunPair&) const = default;
    /// Returns null if the other run does not exist yet.
    const Trace* b(const Runs& runs) const;
};

/// Holds values of A and of B along the same rows and columns.
struct PairedMap {
    struct Difference {
        int row, column;
        float value;  // A minus B
    };
    TokenPairs rows, columns;
    std::vector<std::string> row_labels, column_labels;  // "red", or "red | blue" if B has another token
    Matrix a, b, difference;                             // difference: 0 if either is missing
    bool is_mixing = false;                              // a and b are signed: Trace::is_mixing
    int step = 1;                                        // rows and columns per cell of the small ones
    /// at most 96 cells along a side, each the largest (of A − B: by magnitude) of a block
    Matrix small_a, small_b, small_difference;
    std::vector<Difference> largest;  // by magnitude, descending
};

/// Compares head A of the shown run with head B. Heads over different tokens are never subtracted: then `map`
/// is of A alone, `alone` of B, and `apart` says why in a sentence.
struct HeadPair {
    AttentionHead b;  // B, as asked or found
    PairedMap map;    // [queries, keys], weights
    std::optional<PairedMap> alone;
    std::string apart;
    TokenPairs texts;             // tokens of the first stacks, whatever the heads read
    std::vector<float> by_query;  // divergence of A and B, row by row; NaN if either lacks the row
    PerHead<float> distances;     // of B's heads, NaN if over other tokens than A; see `each_to_itself`
    bool each_to_itself =
        false;  // distances of each head from the same one of B, not of all heads of B from A
};

struct HeadPairRequest {
    using Answer = HeadPair;
    RunPair runs;
    int block = 0, head = 0;        // A
    int block_b = -1, head_b = -1;  // B, clamped to its model; −1: the head of A's kind most similar to A
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const HeadPairRequest&) const = default;
};
Result<HeadPair> answer_head_pair(const Runs& runs, const HeadPairRequest& request, ThreadPool& pool,
                                  const CancelFlag* cancel);

/// Compares ‖ΔE‖/‖E‖ of each attention block and token.
struct DeltaPair {
    PairedMap map;  // [blocks, tokens]; empty if the models have different blocks
};

struct DeltaPairRequest {
    using Answer = DeltaPair;
    RunPair runs;
    int stack = 0;
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const DeltaPairRequest&) const = default;
};
Result<DeltaPair> answer_delta_pair(const Runs& runs, const DeltaPairRequest& request, ThreadPool& pool,
                                    const CancelFlag* cancel);

struct PredictionPair {
    int position_a = -1, position_b = -1;   // in the output sequences; −1: no prediction
    std::vector<ProbabilityChange> tokens;  // at those positions
    TokenPairs positions;
    std::vector<std::string> labels;  // of the positions
    std::vector<float> divergence;    // per pair of positions, in bits; empty for different vocabularies
};

struct PredictionPairRequest {
    using Answer = PredictionPair;
    RunPair runs;
    int position = -1;  // of A; −1: where it predicts
    bool operator==(const PredictionPairRequest&) const = default;
};
Result<PredictionPair> answer_prediction_pair(const Runs& runs, const PredictionPairRequest& request,
                                              ThreadPool& pool, const CancelFlag* cancel);

}  // namespace headlight

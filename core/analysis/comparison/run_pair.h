// Two runs beside each other: one head, the lengths of ΔE, the predictions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/attention/shown.h"
#include "analysis/comparison/compare.h"

namespace headlight {

/// What a question may look at: the run that is shown, the model's own pass where something is changed, and
/// the run of another text or model where one is compared.
struct Runs {
    const Trace& shown;
    const Trace* own = nullptr;
    const Trace* other = nullptr;
    operator const Trace&() const { return shown; }
};

/// What A, the run that is shown, is compared with: another head of it, the model's own pass, or the other
/// run.
enum class Versus { head, unchanged, other };

struct RunPair {
    Versus versus = Versus::head;
    Alignment alignment;  // of A and the other run
    bool operator==(const RunPair&) const = default;
    /// Null where the other run is not there yet.
    const Trace* b(const Runs& runs) const;
};

/// In matrices of a pair: what the mask hides, and what one of the two texts lacks.
inline constexpr float kMasked = -1, kAbsent = -2;

/// Values of A and of B along the same rows and columns.
struct PairedMap {
    struct Difference {
        int row, column;
        float value;  // A's minus B's
    };
    TokenPairs rows, columns;
    std::vector<std::string> row_labels, column_labels;  // "red", or "red | blue" where B has another token
    Matrix a, b, difference;                             // difference: 0 where one of the two is missing
    int step = 1;                               // rows and columns that one cell of the small ones covers
    Matrix small_a, small_b, small_difference;  // at most 96 cells along a side, the largest (of A − B: in
                                                // magnitude) of each block
    std::vector<Difference> largest;            // in magnitude, largest first
};

/// Head A of the run that is shown, and head B.
struct HeadPair {
    PairedMap map;                // [queries, keys], weights
    TokenPairs texts;             // tokens of the first stacks, whatever the heads read
    std::vector<float> by_query;  // divergence of A and B, row by row; NaN where one of them has no such row
    PerHead<float> distances;     // of B's heads, NaN where they cannot be compared; see `each_to_itself`
    bool each_to_itself =
        false;  // distances of each head from the same one of B, not of all heads of B from A's
};

struct HeadPairRequest {
    using Answer = HeadPair;
    RunPair runs;
    int block = 0, head = 0;      // A
    int block_b = 0, head_b = 0;  // B; moved to the nearest that B's model has
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const HeadPairRequest&) const = default;
};
Result<HeadPair> answer_head_pair(const Runs& runs, const HeadPairRequest& request, ThreadPool& pool,
                                  const CancelFlag* cancel);

/// ‖ΔE‖/‖E‖ of each attention block and token.
struct DeltaPair {
    PairedMap map;  // [blocks, tokens]; without cells where the models have different blocks
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

/// What both predict.
struct PredictionPair {
    int position_a = -1, position_b = -1;   // of the output sequences, −1: nothing is predicted
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

// Two runs beside each other, and what each head does to a prediction.
#pragma once

#include <string>
#include <vector>

#include "analysis/predict.h"
#include "trace/trace.h"

namespace headlight {

/// Jensen–Shannon divergence in bits of two rows of weights (Lin 1991): 0 alike, 1 without anything in common.
float divergence(const Eigen::Ref<const Eigen::RowVectorXf>& a, const Eigen::Ref<const Eigen::RowVectorXf>& b);

/// How far apart the patterns of each head are, [site · heads + head]: the divergence of their rows, averaged over the
/// queries that both have; keys that one of them lacks weigh 0 there. The two models need as many blocks and heads.
Result<std::vector<float>> head_distances(const Trace& a, const Trace& b, ThreadPool& pool, const CancelFlag* cancel = nullptr);

struct ProbabilityChange {
    int id = 0;
    float before = 0, after = 0;
};

/// Tokens at a position of each output sequence whose probability is among the `count` highest before or after, largest
/// change first; both models must have the same vocabulary.
std::vector<ProbabilityChange> probability_changes(const Trace& before, int position, const Trace& after, int position_after, int count, ThreadPool& pool);

/// Kullback–Leibler divergence in bits of the predictions at each position, before from after; as many as both have.
std::vector<float> prediction_divergence(const Trace& before, const Trace& after, ThreadPool& pool);

/// Ablates each head in turn (its z is 0) and returns the change of one token's probability at a position of the output
/// sequence, [site · heads + head]. Layers before the head are taken from `trace`. An error means that `cancel` was set.
Result<std::vector<float>> head_effects(const Trace& trace, int position, int token, ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// Two heads of one run, or one head with and without the changes in force.
struct HeadPair {
    struct Difference {
        int query, key;
        float value;               // A's weight minus B's
    };
    Matrix a, b;                   // [queries, keys], −1 where masked
    int step = 1;                  // rows and columns that one cell of the small ones covers
    Matrix small_a, small_b, small_difference;  // at most 96 cells along a side, the largest (of A − B: in magnitude) of each block
    std::vector<Difference> largest;            // in magnitude, largest first
    std::vector<float> distances;  // of A from each head, or of each head from itself without the changes; NaN where they cannot be compared
    std::vector<float> by_query;   // divergence of A and B, row by row
};

struct HeadPairWanted {
    using Answer = HeadPair;
    int site = 0, head = 0;        // A
    int site_b = 0, head_b = 0;    // B, unless
    bool unchanged = false;        // … B is A in the model's own pass
    bool operator==(const HeadPairWanted&) const = default;
};

Result<HeadPair> find(const Trace& trace, const HeadPairWanted& wanted, ThreadPool& pool, const CancelFlag* cancel);

/// The sweep for the token that the model predicts.
struct HeadEffects {
    int token = 0;
    std::vector<float> change;  // of its probability, [site · heads + head]; empty where nothing is predicted
};

struct HeadEffectsWanted {
    using Answer = HeadEffects;
    bool operator==(const HeadEffectsWanted&) const = default;
};

Result<HeadEffects> find(const Trace& trace, const HeadEffectsWanted& wanted, ThreadPool& pool, const CancelFlag* cancel);

/// The first id whose label (or decimal number) this is, or an error that names it.
Result<int> find_token(const Model& model, const std::string& label);

}  // namespace headlight

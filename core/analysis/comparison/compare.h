// Measures how far apart two runs are: patterns, predictions.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/align.h"
#include "analysis/prediction/predict.h"
#include "trace/trace.h"

namespace headlight {

/// Computes the Jensen–Shannon divergence in bits of two rows of weights (Lin 1991): 0 equal, 1 disjoint.
float divergence(const Eigen::Ref<const Eigen::RowVectorXf>& a,
                 const Eigen::Ref<const Eigen::RowVectorXf>& b);

/// Σ |a − b| / Σ (|a| + |b|): the distance of two rows of mixing matrices, 0 equal, 1 disjoint.
float mixing_distance(const Eigen::Ref<const Eigen::RowVectorXf>& a,
                      const Eigen::Ref<const Eigen::RowVectorXf>& b);

/// Σ p log2(p / q): the Kullback–Leibler divergence in bits of two distributions over the same outcomes.
float relative_entropy(const Vector& p, const Vector& q);

/// Aligns a stack of A with one of B; equal tokens with themselves, unless the user paired them otherwise.
TokenPairs align_stacks(const Alignment& how, const Trace& a, int stack_a, const Trace& b, int stack_b);

/// Pairs the tokens that an attention block of A and one of B read: queries, keys.
struct BlockPairs {
    TokenPairs queries, keys;
};
/// Returns whether two blocks attend between the same sides: only then do their heads share rows and columns.
bool reads_same(const ModelConfig& a, int block_a, const ModelConfig& b, int block_b);
/// The blocks must read the same sides.
BlockPairs align_blocks(const Alignment& how, const Trace& a, int block_a, const Trace& b, int block_b);

/// Averages the divergence of two heads' rows over the queries that both have; a missing key counts as weight
/// 0. If `cancel` is set, covers only the first queries.
float head_distance(const Trace& a, int block_a, int head_a, const Trace& b, int block_b, int head_b,
                    const BlockPairs& pairs, const CancelFlag* cancel = nullptr);

/// Compares each head of A with the same head of B. The models need equal numbers of blocks and heads.
Result<PerHead<float>> head_distances(const Trace& a, const Trace& b, const Alignment& how, ThreadPool& pool,
                                      const CancelFlag* cancel = nullptr);
bool same_heads(const ModelConfig& a, const ModelConfig& b);

/// Compares the probability of a token, or class, in two runs. In a run without it: probability 0, else NaN.
struct ProbabilityChange {
    int id = 0;  // in A's vocabulary, or −1
    std::string label;
    float a = 0, b = 0;
    float logit = 0, log_probability = 0;  // B minus A; log p in nats
};

/// Compares tokens whose probability is among the `count` highest of A or of B, largest change first. Matches
/// models with different vocabularies by the tokens' labels.
std::vector<ProbabilityChange> probability_changes(const Trace& a, int position_a, const Trace& b,
                                                   int position_b, int count, ThreadPool& pool);

/// Computes the Kullback–Leibler divergence of B's predictions from A's at each pair of positions of the
/// output sequence, NaN if one is missing. Fails if `cancel` was set; the vocabularies must have equal size.
Result<std::vector<float>> prediction_divergence(const Trace& a, const Trace& b, const TokenPairs& pairs,
                                                 ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight

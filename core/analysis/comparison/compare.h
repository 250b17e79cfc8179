// How far apart two runs are: patterns, predictions.
#pragma once

#include <string>
#include <vector>

#include "analysis/comparison/align.h"
#include "analysis/prediction/predict.h"
#include "trace/trace.h"

namespace headlight {

/// Jensen–Shannon divergence in bits of two rows of weights (Lin 1991): 0 alike, 1 without anything in
/// common.
float divergence(const Eigen::Ref<const Eigen::RowVectorXf>& a,
                 const Eigen::Ref<const Eigen::RowVectorXf>& b);

/// Kullback–Leibler divergence in bits of two distributions over the same outcomes: Σ p log2(p / q).
float relative_entropy(const Vector& p, const Vector& q);

/// The tokens of one stack of A and of one of B; the same tokens, unless tied by hand, each with itself.
TokenPairs align_stacks(const Alignment& how, const Trace& a, int stack_a, const Trace& b, int stack_b);

/// Pairs of the tokens that an attention block of A and one of B read: queries, keys.
struct BlockPairs {
    TokenPairs queries, keys;
};
BlockPairs align_blocks(const Alignment& how, const Trace& a, int block_a, const Trace& b, int block_b);

/// The divergence of two heads' rows, averaged over the queries that both have; keys that one of them lacks
/// weigh 0 there. Where `cancel` is set on the way, it is of the first queries alone.
float head_distance(const Trace& a, int block_a, int head_a, const Trace& b, int block_b, int head_b,
                    const BlockPairs& pairs, const CancelFlag* cancel = nullptr);

/// That of each head of A and the same head of B. The two models need as many
/// blocks and heads.
Result<PerHead<float>> head_distances(const Trace& a, const Trace& b, const Alignment& how, ThreadPool& pool,
                                      const CancelFlag* cancel = nullptr);
bool same_heads(const ModelConfig& a, const ModelConfig& b);

/// How likely one token, or class, is in two runs. What one of the two lacks: probability 0, else NaN.
struct ProbabilityChange {
    int id = 0;  // in A's vocabulary, or −1
    std::string label;
    float a = 0, b = 0;
    float logit = 0, log_probability = 0;  // B's minus A's; log p in nats
};

/// Tokens whose probability is among the `count` highest of A or of B, largest change first. Models with
/// different vocabularies share the tokens whose labels are equal.
std::vector<ProbabilityChange> probability_changes(const Trace& a, int position_a, const Trace& b,
                                                   int position_b, int count, ThreadPool& pool);

/// Kullback–Leibler divergence of B's predictions from A's at each pair of positions of the output sequence,
/// NaN where one of them is missing. An error means that `cancel` was set; the vocabularies must be as large.
Result<std::vector<float>> prediction_divergence(const Trace& a, const Trace& b, const TokenPairs& pairs,
                                                 ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight

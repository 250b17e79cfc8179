// Counts over many texts which experts the tokens go to (Shazeer et al. 2017), layer by layer.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/corpus/exact_sum.h"
#include "analysis/prediction/experts.h"

namespace headlight {

/// Holds what one expert took of the texts.
struct ExpertCount {
    int64_t tokens = 0;                    // that chose it
    ExactSum weight;                       // of their choices
    std::unordered_map<int, int64_t> ids;  // how many of them had each token: grows with the vocabulary
};

struct LayerExpertCounts {
    int layer = 0;
    std::vector<ExpertCount> experts;
};

/// Counts in every layer that has experts.
struct ExpertCounts {
    std::vector<LayerExpertCounts> layers;
    std::unordered_map<int, std::string> labels;  // of the tokens read
    int64_t tokens = 0;                           // of the stack that predicts, which choose

    explicit ExpertCounts(const ModelConfig& config);
    /// Adds the choices of a text's tokens.
    void add(const Trace& trace, const ExpertRoutes& routes);
};

/// Returns the `count` tokens that chose an expert most often: ids and how often, of equal ones the smaller
/// id.
std::vector<std::pair<int, int64_t>> most_frequent(const ExpertCount& expert, int count);

/// Holds the same as plain values: share is of all tokens, which add up to the number of choices of each.
struct ExpertOverTexts {
    int64_t tokens = 0;
    double share = 0, weight = 0;  // weight: mean over its tokens, NaN without any
    std::vector<std::pair<std::string, int64_t>>
        often;  // its most frequent tokens, and how often it had them
};
struct LayerExperts {
    int layer = 0;
    std::vector<ExpertOverTexts> experts;
};

inline constexpr int kFrequentTokens = 8;

std::vector<LayerExperts> experts_over_texts(const ExpertCounts& counts);

}  // namespace headlight

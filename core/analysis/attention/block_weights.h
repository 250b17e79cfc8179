// What a part of a model has learned, as small pictures of its matrices and their singular values.
#pragma once

#include <string>
#include <vector>

#include "analysis/attention/shown.h"

namespace headlight {

/// The parts of a layer, and those before and behind the layers.
enum class WeightsPart {
    embedding,
    positions,
    attention_norm,
    attention,
    mlp_norm,
    mlp,
    final_norm,
    unembedding
};

/// A few large weights leave the rest their colors.
inline constexpr float kWeightReach = 5;

/// A matrix as a picture: the residual stream's dimensions go across. Of matrices that are wider or higher
/// than a picture, each entry is the farthest from zero of down × across weights.
struct WeightMap {
    std::string name;             // "W_Q"
    std::string shape;            // as it is multiplied, in × out: "256 × 32"
    Index rows = 0, columns = 0;  // of the picture, before it was pooled
    int down = 1, across = 1;
    Matrix values;                   // [rows / down, columns / across]
    Matrix places;                   // the same as places 0 … 1 of a diverging map, ±reach at its ends
    float largest = 0, typical = 0;  // largest magnitude; root of the mean square
    float reach = 0;  // what has the strongest color: the largest, but no more than kWeightReach typical ones
    std::string down_is;  // what goes down: "the head's dimension"
};

/// Singular values of a matrix or of a product, the largest first.
struct WeightSpectrum {
    std::string name;  // "W_Q W_Kᵀ"
    Vector values;
};

struct BlockWeights {
    std::vector<WeightMap> maps;
    std::vector<WeightSpectrum> matrices;  // one for each map where that is cheap
    std::vector<WeightSpectrum> circuits;  // of a head: what meets in a score, what is moved
};

struct BlockWeightsRequest {
    using Answer = BlockWeights;
    WeightsPart part = WeightsPart::attention;
    int block = 0, head = 0;  // block: the layer and stack whose part is meant; head: of attention, else 0
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const BlockWeightsRequest&) const = default;
};

Result<BlockWeights> answer_block_weights(const Trace& trace, const BlockWeightsRequest& request,
                                          ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// The picture of a stored matrix; `outputs_down`: its outputs go down, else its inputs. Shape: "in × out"
/// where none is given.
WeightMap map_of_linear(const std::string& name, const std::string& down_is, const Linear& w,
                        bool outputs_down, ThreadPool& pool, const std::string& shape = "");

/// The same from a model alone; empty where the part has no weights.
BlockWeights block_weights(const Model& model, const BlockWeightsRequest& request, ThreadPool& pool);

}  // namespace headlight

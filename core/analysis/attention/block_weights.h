// Shows what a part of a model has learned: small pictures of its matrices, and their singular values.
#pragma once

#include <string>
#include <vector>

#include "analysis/attention/shown.h"

namespace headlight {

/// Names the parts of a layer, and those before and after the layers.
enum class WeightsPart {
    embedding,
    positions,
    attention_norm,
    attention,
    mlp_norm,
    mlp,
    final_norm,
    unembedding,
    layer_embedding,
    laurel,
    streams
};

/// Bounds the color range at this many times the typical weight, because of a few large ones.
inline constexpr float kWeightReach = 5;

/// Shows a matrix as a picture: the dimensions of the residual stream go across. If the matrix is larger than
/// the picture, each entry is the weight of largest magnitude among down × across.
struct WeightMap {
    std::string name;             // "W_Q"
    std::string shape;            // in × out: "256 × 32"
    Index rows = 0, columns = 0;  // of the picture, before pooling
    int down = 1, across = 1;
    Matrix values;                   // [rows / down, columns / across]
    Matrix places;                   // `values` as positions 0 … 1 of a diverging map, ±reach at its ends
    float largest = 0, typical = 0;  // largest magnitude; root mean square
    float reach = 0;      // weight of the strongest color: the largest, at most kWeightReach typical ones
    std::string down_is;  // meaning of rows: "the head's dimension"
};

/// Holds singular values of a matrix or of a product, descending.
struct WeightSpectrum {
    std::string name;  // "W_Q W_Kᵀ"
    Vector values;
};

struct BlockWeights {
    std::vector<WeightMap> maps;
    std::vector<WeightSpectrum> matrices;  // one per map where that is cheap
    std::vector<WeightSpectrum> circuits;  // of a head: QK and OV products
};

struct BlockWeightsRequest {
    using Answer = BlockWeights;
    WeightsPart part = WeightsPart::attention;
    int block = 0, head = 0;  // block: selects layer and stack of the part; head: of attention, else 0
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const BlockWeightsRequest&) const = default;
};

Result<BlockWeights> answer_block_weights(const Trace& trace, const BlockWeightsRequest& request,
                                          ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// Makes the picture of a stored matrix, outputs down if `outputs_down`, else inputs. Shape: "in × out".
WeightMap map_of_linear(const std::string& name, const std::string& down_is, const Linear& w,
                        bool outputs_down, ThreadPool& pool, const std::string& shape = "");

/// Computes them from a model alone; empty if the part has no weights.
BlockWeights block_weights(const Model& model, const BlockWeightsRequest& request, ThreadPool& pool);

}  // namespace headlight

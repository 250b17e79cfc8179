// A model's tensors: asked for by name and expected shape, bound once to the places the forward pass reads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/safetensors.h"
#include "model/linear.h"

namespace headlight {

struct Norm {
    const float* gain = nullptr;  // [d]
    const float* bias = nullptr;  // [d]
};

/// Pointers into the store, one struct per layer.
struct LayerWeights {
    Norm attn_norm, mlp_norm;   // [d_model]
    Linear q, k, v;             // d_model → heads · d_head
    Linear o;                   // heads · d_head → d_model
    Linear mlp_in, mlp_out;     // d_model → d_mlp → d_model
};

struct ModelWeights {
    const float* token_embedding = nullptr;     // [vocab, d_model]
    const float* position_embedding = nullptr;  // [context, d_model]
    std::vector<LayerWeights> layers;
    Norm final_norm;                            // [d_model]
    Linear unembedding;                         // d_model → vocab
};

/// All tensors of a folder. F32 is used where it is mapped; F16 and BF16 are decoded to float32 when first asked for.
/// Not for use by several threads; a model binds everything when it opens.
class WeightStore {
public:
    /// Opens model.safetensors, or the shards of model.safetensors.index.json.
    static Result<WeightStore> open(const std::filesystem::path& folder);

    /// Prefixes to try in front of names ("transformer." in head models, "" in base models).
    void set_prefixes(std::vector<std::string> prefixes) { prefixes_ = std::move(prefixes); }

    /// The tensor's values, row-major. A missing name or another shape is an error that says both.
    Result<const float*> tensor(const std::string& name, const std::vector<int64_t>& shape);

    /// Bytes of the files, and the number of parameters in them.
    int64_t file_bytes() const;
    int64_t parameters() const;

private:
    Status add_file(const std::filesystem::path& path);
    const StoredTensor* find(const std::string& name) const;

    std::string folder_;
    std::vector<std::string> prefixes_{""};
    std::vector<Safetensors> files_;
    std::vector<std::unique_ptr<float[]>> decoded_;
};

}  // namespace headlight

// What a model is, in plain numbers and enums; nothing here depends on where they were read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "io/json.h"

namespace headlight {

enum class NormKind { layer_norm };       // y = (x − mean) / sqrt(var + eps) · gain + bias
enum class Activation { gelu, gelu_tanh, relu };
enum class PositionKind { learned };      // a table added to the embeddings

/// Numbers read from config.json. Widths in floats, counts from 1, layers and heads numbered from 0.
struct ModelConfig {
    std::string family;       // the row of families.h, "gpt2"
    std::string family_name;  // for people, "GPT-2"
    int layers = 0, heads = 0;
    int d_model = 0, d_head = 0, d_mlp = 0;
    int vocab = 0, context = 0;
    NormKind norm = NormKind::layer_norm;
    float norm_eps = 1e-5f;
    Activation activation = Activation::gelu_tanh;
    PositionKind position = PositionKind::learned;
    bool causal = true;               // the model's own mask: a query sees no later key
    bool tied_unembedding = true;     // logits use the embedding matrix
    bool scale_scores = true;         // divide q·k by sqrt(d_head)
    bool scale_by_layer = false;      // and by layer + 1 (GPT-2's scale_attn_by_inverse_layer_idx)

    /// What q·k is multiplied by in a layer.
    float score_scale(int layer) const;
};

/// Reads config.json of a Hugging Face folder.
Result<ModelConfig> read_config(const std::filesystem::path& folder);

/// The same from text; `name` is what messages call it. For tests and fuzzing.
Result<ModelConfig> parse_config(const Json& root, const std::string& name);

/// The activation that a config file names ("gelu_new").
Result<Activation> activation_named(const std::string& label, const std::string& file);

}  // namespace headlight

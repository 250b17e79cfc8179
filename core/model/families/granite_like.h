// Reads the factors of Granite's layers (IBM 2024).
#pragma once

#include "model/families/llama_like.h"

namespace headlight {

/// Reads Granite's factors of embeddings, scores, what blocks add, and logits.
void read_granite_multipliers(ConfigReader& r, ModelConfig& c);

inline constexpr TensorRow kGraniteMoeTensors[] = {
    {Slot::sinks, "layers.#.self_attn.sinks"},
    {Slot::router, "layers.#.block_sparse_moe.router.layer"},
    {Slot::router, "layers.#.block_sparse_moe.router"},
    {Slot::expert_gate_up, "layers.#.block_sparse_moe.input_linear", "", Stored::stacked},
    {Slot::expert_gate_up, "layers.#.block_sparse_moe.experts.gate_up_proj", "", Stored::stacked},
    {Slot::expert_down, "layers.#.block_sparse_moe.output_linear", "", Stored::stacked},
    {Slot::expert_down, "layers.#.block_sparse_moe.experts.down_proj", "", Stored::stacked},
    {Slot::gate_up, "layers.#.shared_mlp.input_linear"},
    {Slot::down, "layers.#.shared_mlp.output_linear"},
};

}  // namespace headlight

// Names the tensors of BART and of its relatives.
#pragma once

#include "model/families.h"

namespace headlight {

inline constexpr const char *kBartPrefixes[] = {"model.", ""}, *kLedPrefixes[] = {"led.", ""},
                            *kNoPrefix[] = {""};

inline constexpr TensorRow kBartTensors[] = {
    {Slot::token_embedding, "@.embed_tokens"},
    {Slot::token_embedding, "shared"},
    {Slot::token_embedding, "lm_head"},  // then these, if copies differ, as the class lists them
    {Slot::token_embedding, "decoder.embed_tokens"},
    {Slot::token_embedding, "encoder.embed_tokens"},
    {Slot::position_embedding, "@.embed_positions"},
    {Slot::embed_norm, "@.layernorm_embedding"},
    {Slot::q, "@.layers.#.self_attn.q_proj"},
    {Slot::k, "@.layers.#.self_attn.k_proj"},
    {Slot::v, "@.layers.#.self_attn.v_proj"},
    {Slot::o, "@.layers.#.self_attn.out_proj"},
    {Slot::attn_norm, "@.layers.#.self_attn_layer_norm"},
    {Slot::cross_q, "@.layers.#.encoder_attn.q_proj"},
    {Slot::cross_k, "@.layers.#.encoder_attn.k_proj"},
    {Slot::cross_v, "@.layers.#.encoder_attn.v_proj"},
    {Slot::cross_o, "@.layers.#.encoder_attn.out_proj"},
    {Slot::cross_norm, "@.layers.#.encoder_attn_layer_norm"},
    {Slot::up, "@.layers.#.fc1"},
    {Slot::down, "@.layers.#.fc2"},
    {Slot::mlp_norm, "@.layers.#.final_layer_norm"},
    {Slot::final_norm, "@.layer_norm"},
    {Slot::unembedding, "lm_head"},
    {Slot::unembedding_bias, "final_logits_bias", "", Stored::one_row},
};
// Names the last norm after the embeddings, and the encoder's attention as BigBird does.
inline constexpr TensorRow kBigBirdPegasusTensors[] = {
    {Slot::final_norm, "@.layernorm_embedding"},
    {Slot::q, "@.layers.#.self_attn.self.query", "", Stored::plain, 0},
    {Slot::k, "@.layers.#.self_attn.self.key", "", Stored::plain, 0},
    {Slot::v, "@.layers.#.self_attn.self.value", "", Stored::plain, 0},
    {Slot::o, "@.layers.#.self_attn.output", "", Stored::plain, 0},
};
inline constexpr TensorRow kFsmtTensors[] = {{Slot::unembedding, "decoder.output_projection"}};
inline constexpr TensorRow kLedTensors[] = {
    {Slot::q, "@.layers.#.self_attn.longformer_self_attn.query", "", Stored::plain, 0},
    {Slot::k, "@.layers.#.self_attn.longformer_self_attn.key", "", Stored::plain, 0},
    {Slot::v, "@.layers.#.self_attn.longformer_self_attn.value", "", Stored::plain, 0},
    {Slot::o, "@.layers.#.self_attn.output", "", Stored::plain, 0},
};
inline constexpr TensorRow kLoneHeads[] = {
    {Slot::token_embedding, "decoder.embed_tokens"}, {Slot::token_embedding, "proj_out"},
    {Slot::token_embedding, "output_projection"},    {Slot::unembedding, "proj_out"},
    {Slot::unembedding, "output_projection"},
};
inline constexpr TensorRow kSeamlessTensors[] = {
    {Slot::token_embedding, "text_@.embed_tokens"},
    {Slot::token_embedding, "shared"},
    {Slot::token_embedding, "lm_head"},
    {Slot::token_embedding, "text_decoder.embed_tokens"},
    {Slot::token_embedding, "text_encoder.embed_tokens"},
    {Slot::q, "text_@.layers.#.self_attn.q_proj"},
    {Slot::k, "text_@.layers.#.self_attn.k_proj"},
    {Slot::v, "text_@.layers.#.self_attn.v_proj"},
    {Slot::o, "text_@.layers.#.self_attn.out_proj"},
    {Slot::attn_norm, "text_@.layers.#.self_attn_layer_norm"},
    {Slot::cross_q, "text_@.layers.#.cross_attention.q_proj"},
    {Slot::cross_k, "text_@.layers.#.cross_attention.k_proj"},
    {Slot::cross_v, "text_@.layers.#.cross_attention.v_proj"},
    {Slot::cross_o, "text_@.layers.#.cross_attention.out_proj"},
    {Slot::cross_norm, "text_@.layers.#.cross_attention_layer_norm"},
    {Slot::up, "text_@.layers.#.ffn.fc1"},
    {Slot::down, "text_@.layers.#.ffn.fc2"},
    {Slot::mlp_norm, "text_@.layers.#.ffn_layer_norm"},
    {Slot::final_norm, "text_@.layer_norm"},
    {Slot::unembedding, "lm_head"},
};
/// Lists the tables of classes in which the encoder's comes first.
inline constexpr TensorRow kEncoderFirst[] = {
    {Slot::token_embedding, "@.embed_tokens"},
    {Slot::token_embedding, "shared"},
    {Slot::token_embedding, "lm_head"},
    {Slot::token_embedding, "encoder.embed_tokens"},
    {Slot::token_embedding, "decoder.embed_tokens"},
};
inline constexpr TensorNames kEncoderFirstNames{kBartPrefixes, kEncoderFirst, kBartTensors};
inline constexpr TensorNames kBartNames{kBartPrefixes, kBartTensors},
    kSeamlessNames{kNoPrefix, kSeamlessTensors};

}  // namespace headlight

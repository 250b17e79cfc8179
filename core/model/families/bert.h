// BERT's layers (Devlin et al. 2019), its names and RoBERTa's, for the families that have them.
#pragma once

#include "model/families.h"

namespace headlight {

/// Holds the defaults in which the classes differ; BERT's.
struct BertUsual {
    int64_t width = 768, heads = 12, layers = 12, mlp = 3072;
    int64_t vocabulary = 30522, context = 512, types = 2;
    double norm_eps = 1e-12;
    const char* activation = "gelu";
    bool learned_positions = true;
};

/// Reads a post-norm encoder with a masked-language head; a decoder, if is_decoder says so.
ModelConfig read_bert_common(ConfigReader& r, const BertUsual& usual = {});

/// Reads the same with RoBERTa's head, and positions that count from past the padding id.
ModelConfig read_roberta_common(ConfigReader& r, const BertUsual& usual = {});

/// Counts positions from past this padding id.
void count_from_padding(ConfigReader& r, ModelConfig& c, int padding);

/// Moves the norms before the blocks, and one behind the last layer.
void set_pre_norm(ModelConfig& c);

inline constexpr TensorRow kBertLayers[] = {
    {Slot::token_embedding, "embeddings.word_embeddings"},
    {Slot::position_embedding, "embeddings.position_embeddings"},
    {Slot::type_embedding, "embeddings.token_type_embeddings"},
    {Slot::embed_norm, "embeddings.LayerNorm"},
    {Slot::embed_project, "embeddings_project"},
    {Slot::qkv, "encoder.layer.#.attention.self.qkv"},
    {Slot::q, "encoder.layer.#.attention.self.query"},
    {Slot::k, "encoder.layer.#.attention.self.key"},
    {Slot::v, "encoder.layer.#.attention.self.value"},
    {Slot::o, "encoder.layer.#.attention.output.dense"},
    {Slot::attn_norm, "encoder.layer.#.attention.output.LayerNorm", "blk.#.attn_output_norm"},
    {Slot::up, "encoder.layer.#.intermediate.dense"},
    {Slot::down, "encoder.layer.#.output.dense"},
    {Slot::mlp_norm, "encoder.layer.#.output.LayerNorm", "blk.#.layer_output_norm"},
};
inline constexpr TensorRow kBertHead[] = {
    {Slot::head_dense, "cls.predictions.transform.dense"},
    {Slot::head_norm, "cls.predictions.transform.LayerNorm"},
    {Slot::unembedding, "cls.predictions.decoder"},
    {Slot::unembedding_bias, "cls.predictions.decoder.bias"},
    {Slot::unembedding_bias, "cls.predictions.bias"},
};
inline constexpr TensorRow kRobertaHead[] = {
    {Slot::head_dense, "lm_head.dense"},      {Slot::head_norm, "lm_head.layer_norm"},
    {Slot::unembedding, "lm_head.decoder"},   {Slot::unembedding_bias, "lm_head.decoder.bias"},
    {Slot::unembedding_bias, "lm_head.bias"},
};

}  // namespace headlight

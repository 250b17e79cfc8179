// Lists tensors that checkpoints hold and no pass reads.
#include "model/loading/unread.h"

#include <algorithm>
#include <string_view>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

enum class At { begin, end };  // where in a name, in whole parts between dots

/// Describes a tensor that real checkpoints hold and no pass needs.
struct Spare {
    const char* family;  // "": any
    At at;
    const char* name;
    bool of_half = false;  // if one half of an encoder–decoder is opened alone
};

/// Lists all of them; names omit a family's prefix ("bert.").
constexpr Spare kSpares[] = {
    // Frequencies and positions, which follow from the configuration.
    {"", At::end, "rotary_emb.inv_freq"},
    {"", At::end, "rotary_emb.original_inv_freq"},
    {"", At::end, "rotary_emb.cos_cached"},
    {"", At::end, "rotary_emb.sin_cached"},
    {"", At::end, "position_ids"},
    {"", At::end, "token_type_ids"},
    {"", At::end, "attn_rot_embd"},
    {"", At::end, "attn_rot_embd.weight"},
    {"marian", At::end, "embed_positions.weight"},
    {"pegasus", At::end, "embed_positions.weight"},
    {"m2m_100", At::end, "embed_positions.weights"},
    {"roformer", At::end, "embed_positions.weight"},
    {"esm", At::end, "rotary_embeddings.inv_freq"},
    {"", At::begin, "rope_factors_long"},  // read with the configuration in GGUF, as the next two
    {"", At::begin, "rope_factors_short"},
    {"", At::begin, "rope_freqs"},
    // Causal masks, and the score that they put on masked cells.
    {"gpt2", At::end, "attn.bias"},
    {"gpt2", At::end, "attn.masked_bias"},
    {"gpt2", At::end, "crossattention.bias"},
    {"gpt2", At::end, "crossattention.masked_bias"},
    {"gpt_bigcode", At::end, "attn.bias"},
    {"gpt_bigcode", At::end, "attn.masked_bias"},
    {"openai-gpt", At::end, "attn.bias"},
    {"gptj", At::end, "attn.bias"},
    {"gptj", At::end, "attn.masked_bias"},
    {"codegen", At::end, "attn.causal_mask"},
    {"gpt_neo", At::end, "attention.bias"},
    {"gpt_neo", At::end, "attention.masked_bias"},
    {"gpt_neox", At::end, "attention.bias"},
    {"gpt_neox", At::end, "attention.masked_bias"},
    // Version marks, and a bias that T5's cross-attention never had.
    {"", At::begin, "encoder.version"},
    {"", At::begin, "decoder.version"},
    {"opt", At::begin, "version"},
    {"t5", At::end, "EncDecAttention.relative_attention_bias.weight"},
    {"t5", At::end, "cross_attn_rel_b.weight"},
    {"mt5", At::end, "EncDecAttention.relative_attention_bias.weight"},
    // Heads for other tasks on the last layer: classes, spans, rewards, next sentence.
    {"", At::begin, "pooler"},
    {"", At::begin, "classifier"},
    {"", At::begin, "pre_classifier"},
    {"", At::begin, "classification_head"},
    {"", At::begin, "multiple_choice_head"},
    {"", At::begin, "qa_outputs"},
    {"", At::begin, "qa_classifier"},
    {"", At::begin, "score"},
    {"", At::begin, "v_head"},
    {"", At::begin, "value_head"},
    {"", At::begin, "reward_head"},
    {"", At::begin, "regression_head"},
    {"", At::begin, "score_head"},
    {"", At::begin, "normalizer"},
    {"", At::begin, "regression_layer"},
    {"", At::begin, "gating"},
    {"", At::begin, "reward_transform_matrix"},
    {"", At::begin, "fit_denses"},  // TinyBERT's, which compared its layers with the teacher's
    {"", At::begin, "summary"},
    {"", At::begin, "sequence_summary"},
    {"", At::begin, "linear"},
    {"", At::begin, "fc"},
    {"", At::begin, "crf"},
    {"", At::begin, "dense"},
    {"", At::begin, "cls.seq_relationship"},
    {"", At::begin, "cls.output"},
    {"", At::begin, "cls.norm"},
    {"", At::begin, "cls.weight"},
    {"", At::begin, "cls.bias"},
    {"", At::begin, "sop_classifier"},
    {"", At::begin, "discriminator_predictions"},
    // I-BERT's scales and integers, and what Longformer reads where a task names global tokens.
    {"ibert", At::end, "act_scaling_factor"},
    {"ibert", At::end, "fc_scaling_factor"},
    {"ibert", At::end, "weight_scaling_factor"},
    {"ibert", At::end, "weight_integer"},
    {"ibert", At::end, "bias_integer"},
    {"ibert", At::end, "x_min"},
    {"ibert", At::end, "x_max"},
    {"ibert", At::end, "LayerNorm.shift"},
    {"longformer", At::end, "query_global.weight"},
    {"longformer", At::end, "query_global.bias"},
    {"longformer", At::end, "key_global.weight"},
    {"longformer", At::end, "key_global.bias"},
    {"longformer", At::end, "value_global.weight"},
    {"longformer", At::end, "value_global.bias"},
    {"led", At::end, "query_global.weight"},
    {"led", At::end, "query_global.bias"},
    {"led", At::end, "key_global.weight"},
    {"led", At::end, "key_global.bias"},
    {"led", At::end, "value_global.weight"},
    {"led", At::end, "value_global.bias"},
    {"modernbert", At::begin, "head"},
    {"modernbert-decoder", At::begin, "head"},
    // DeBERTa: heads of its training, positions that are not added, the norm of a table that is not used.
    {"deberta", At::begin, "mask_predictions"},
    {"deberta-v2", At::begin, "mask_predictions"},
    {"deberta", At::begin, "embeddings.position_embeddings"},
    {"deberta-v2", At::begin, "embeddings.position_embeddings"},
    {"deberta-v2", At::begin, "encoder.LayerNorm"},
    // Vectors of languages that no text names; entities beside the words.
    {"xlm", At::begin, "lang_embeddings"},
    {"flaubert", At::begin, "lang_embeddings"},
    {"xlm", At::begin, "logits_proj"},
    {"flaubert", At::begin, "logits_proj"},
    {"luke", At::begin, "entity_embeddings"},
    {"luke", At::begin, "entity_predictions"},
    {"luke", At::end, "w2e_query.weight"},
    {"luke", At::end, "w2e_query.bias"},
    {"luke", At::end, "e2w_query.weight"},
    {"luke", At::end, "e2w_query.bias"},
    {"luke", At::end, "e2e_query.weight"},
    {"luke", At::end, "e2e_query.bias"},
    {"dinov2", At::begin, "embeddings.mask_token"},
    {"dinov2_with_registers", At::begin, "embeddings.mask_token"},
    {"vit", At::begin, "decoder"},
    {"vit", At::begin, "embeddings.mask_token"},
    // Encoders of images, where the text part alone is opened.
    {"gemma3", At::begin, "vision_tower"},
    {"gemma3", At::begin, "multi_modal_projector"},
    {"gemma3n", At::begin, "vision_tower"},
    {"gemma3n", At::begin, "audio_tower"},
    {"gemma3n", At::begin, "embed_vision"},
    {"gemma3n", At::begin, "embed_audio"},
    {"gemma4", At::begin, "vision_tower"},
    {"gemma4", At::begin, "audio_tower"},
    {"gemma4", At::begin, "embed_vision"},
    {"gemma4", At::begin, "embed_audio"},
    // Layers that predict the token after next (multi-token prediction), beyond those of the model.
    {"deepseek_v3", At::begin, "layers.61"},
    {"deepseek_v32", At::begin, "layers.61"},
    {"glm_moe_dsa", At::begin, "layers.78"},
    {"glm4_moe_lite", At::begin, "layers.47"},
    // The indexer, which chooses keys in texts longer than the number chosen; such texts are refused.
    {"", At::end, "self_attn.indexer.wq_b.weight"},
    {"", At::end, "self_attn.indexer.wk.weight"},
    {"", At::end, "self_attn.indexer.k_norm.weight"},
    {"", At::end, "self_attn.indexer.k_norm.bias"},
    {"", At::end, "self_attn.indexer.weights_proj.weight"},
    {"qwen3_5", At::begin, "visual"},
    {"qwen3_5_moe", At::begin, "visual"},
    {"mistral3", At::begin, "vision_tower"},
    {"mistral3", At::begin, "multi_modal_projector"},
    {"llava", At::begin, "vision_tower"},
    {"llava", At::begin, "multi_modal_projector"},
    {"llava", At::begin, "image_newline"},
    {"got_ocr2", At::begin, "vision_tower"},
    {"got_ocr2", At::begin, "multi_modal_projector"},
    {"fuyu", At::begin, "vision_embed_tokens"},
    {"git", At::begin, "image_encoder"},
    {"git", At::begin, "visual_projection"},
    {"git", At::begin, "img_temporal_embedding"},
    {"phi4_multimodal", At::begin, "embed_tokens_extend"},
    {"mllama", At::begin, "vision_model"},
    {"mllama", At::begin, "multi_modal_projector"},
    {"emu3", At::begin, "vqmodel"},
    {"modernvbert", At::begin, "vision_model"},
    {"modernvbert", At::begin, "connector"},
    {"roc_bert", At::end, "shape_embed.weight"},
    {"roc_bert", At::end, "pronunciation_embed.weight"},
    {"encoder-decoder", At::begin, "encoder.pooler"},
    // Parts of SeamlessM4T that hear and speak.
    {"seamless_m4t", At::begin, "speech_encoder"},
    {"seamless_m4t", At::begin, "t2u_model"},
    {"seamless_m4t", At::begin, "vocoder"},
    {"seamless_m4t_v2", At::begin, "speech_encoder"},
    {"seamless_m4t_v2", At::begin, "t2u_model"},
    {"seamless_m4t_v2", At::begin, "vocoder"},
    {"llama4", At::begin, "vision_model"},
    {"llama4", At::begin, "multi_modal_projector"},
    // Layers that predict tokens after the next one.
    {"exaone_moe", At::begin, "mtp"},
    {"qwen3_next", At::begin, "mtp"},
    {"qwen3_5_text", At::begin, "mtp"},
    {"qwen3_5_moe_text", At::begin, "mtp"},
    {"qwen3_5", At::begin, "mtp"},
    {"qwen3_5_moe", At::begin, "mtp"},
    {"mellum", At::begin, "mtp"},
    {"hy_v3", At::begin, "layers.80"},
    // A bias that the class of the unembedding does not have.
    {"", At::begin, "lm_head.bias"},
    {"", At::begin, "embed_out.bias"},
    // The decoder, if the encoder alone is opened.
    {"t5", At::begin, "decoder", true},
    {"t5", At::begin, "lm_head", true},
    {"mt5", At::begin, "decoder", true},
    {"mt5", At::begin, "lm_head", true},
    {"umt5", At::begin, "decoder", true},
    {"umt5", At::begin, "lm_head", true},
    {"longt5", At::begin, "decoder", true},
    {"longt5", At::begin, "lm_head", true},
    {"switch_transformers", At::begin, "decoder", true},
    {"switch_transformers", At::begin, "lm_head", true},
    // Attention to an encoder, if the decoder alone is opened.
    {"", At::end, "encoder_attn.q_proj.weight", true},
    {"", At::end, "encoder_attn.q_proj.bias", true},
    {"", At::end, "encoder_attn.k_proj.weight", true},
    {"", At::end, "encoder_attn.k_proj.bias", true},
    {"", At::end, "encoder_attn.v_proj.weight", true},
    {"", At::end, "encoder_attn.v_proj.bias", true},
    {"", At::end, "encoder_attn.out_proj.weight", true},
    {"", At::end, "encoder_attn.out_proj.bias", true},
    {"", At::end, "encoder_attn_layer_norm.weight", true},
    {"", At::end, "encoder_attn_layer_norm.bias", true},
};

bool matches(const Spare& spare, const ModelConfig& c, std::string_view name) {
    const std::string_view part = spare.name;
    if (*spare.family && c.family != spare.family) return false;
    if (spare.of_half && c.stacks.size() > 1) return false;
    if (name == part) return true;
    if (name.size() <= part.size()) return false;
    return spare.at == At::begin ? name.starts_with(part) && name[part.size()] == '.'
                                 : name.ends_with(part) && name[name.size() - part.size() - 1] == '.';
}

/// Lists what layers that read a picture hold (Llama 3.2 Vision).
constexpr std::string_view kOfPictures[] = {
    "cross_attn.q_proj.weight",       "cross_attn.k_proj.weight", "cross_attn.v_proj.weight",
    "cross_attn.o_proj.weight",       "cross_attn.q_norm.weight", "cross_attn.k_norm.weight",
    "cross_attn_attn_gate",           "cross_attn_mlp_gate",      "input_layernorm.weight",
    "mlp.gate_proj.weight",           "mlp.up_proj.weight",       "mlp.down_proj.weight",
    "post_attention_layernorm.weight"};

/// Returns whether a tensor is of a layer that texts pass by, or that predicts later tokens (blk.N in GGUF).
bool is_of_skipped_layer(const ModelConfig& c, std::string_view name) {
    for (const int layer : c.stacks[0].skipped) {
        if (name.starts_with("blk." + std::to_string(layer) + ".")) return true;
        const std::string begin = "layers." + std::to_string(layer) + ".";
        if (name.starts_with(begin)) return contains(kOfPictures, name.substr(begin.size()));
    }
    return false;
}

/// Returns whether a tensor would make keys or values that a layer reads from an earlier one.
bool is_of_read_keys(const ModelConfig& c, std::string_view name) {
    constexpr std::string_view kMakers[] = {
        "self_attn.k_proj.weight", "self_attn.k_proj.bias",   "self_attn.v_proj.weight",
        "self_attn.v_proj.bias",   "self_attn.k_norm.weight", "self_attn.v_norm.weight",
        "attn_k.weight",           "attn_v.weight",           "attn_k_norm.weight"};
    for (int l = 0; l < c.stacks[0].depth(); ++l) {
        if (c.stacks[0].layers[l].attention.makes_keys()) continue;
        for (const char* layers : {"layers.", "blk."})
            if (const std::string begin = layers + std::to_string(l) + "."; name.starts_with(begin))
                return contains(kMakers, name.substr(begin.size()));
    }
    return false;
}

using Names = std::set<std::string>;

/// Returns whether the pass reads a part of what a spare names: then it is no head of another task.
bool is_read(const Spare& spare, const WeightStore& store, const Names& read) {
    return spare.at == At::begin && std::any_of(read.begin(), read.end(), [&](const std::string& name) {
               return store.without_prefix(name).starts_with(std::string(spare.name) + ".");
           });
}

/// Accepts integer tensors, which hold masks and positions, unless they are called weights or biases.
bool is_spare(const WeightStore& store, const ModelConfig& c, const std::string& name,
              const StoredTensor& tensor, const Names& read) {
    const std::string_view type = tensor.dtype->name;
    const bool whole =
        !tensor.dtype->holds_weights() && (type == "BOOL" || type.starts_with('U') || type[0] == 'I');
    const bool weighs = name.ends_with(".weight") || name.ends_with(".bias");
    if ((whole && !weighs) || element_count(tensor.shape) == 0) return true;
    const std::string own = store.without_prefix(name);
    if (is_of_skipped_layer(c, own) || is_of_read_keys(c, own)) return true;
    return std::any_of(std::begin(kSpares), std::end(kSpares), [&](const Spare& spare) {
        return matches(spare, c, own) && !is_read(spare, store, read);
    });
}

}  // namespace

Status check_all_read(const WeightStore& store, const ModelConfig& c,
                      const std::set<const StoredTensor*>& read) {
    const auto all = store.all();
    Names known;  // shards may store a tensor twice
    for (const auto& [name, tensor] : all)
        if (read.count(tensor)) known.insert(name);
    std::vector<std::string> left;
    for (const auto& [name, tensor] : all)
        if (!known.count(name) && !is_spare(store, c, name, *tensor, known)) left.push_back(name);
    if (left.empty()) return success();
    const bool several = left.size() > 1;
    return Error{store.place() + " holds the tensor " + shortened(left[0]) +
                 (several ? " and " + std::to_string(left.size() - 1) + " more" : "") + " that a " +
                 c.family_name + " of this configuration does not have, so Headlight would show another " +
                 "model; correct the configuration, or save the model without " +
                 (several ? "them." : "it.")};
}

}  // namespace headlight

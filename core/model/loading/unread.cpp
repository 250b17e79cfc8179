// Lists tensors that checkpoints hold and no pass reads.
#include "model/loading/unread.h"

#include <algorithm>
#include <string_view>

#include "base/quoted.h"

namespace headlight {

namespace {

enum class At { begin, end };  // where in a name, in whole parts between dots

/// Describes a tensor that real checkpoints hold and no pass needs.
struct Spare {
    const char* family;  // "": any
    At at;
    const char* name;
    bool of_encoder_alone = false;
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
    {"", At::begin, "rope_freqs"},  // read with the configuration (gguf_model.cpp)
    // Causal masks, and the score that they put on masked cells.
    {"gpt2", At::end, "attn.bias"},
    {"gpt2", At::end, "attn.masked_bias"},
    {"gpt2", At::end, "crossattention.bias"},
    {"gpt2", At::end, "crossattention.masked_bias"},
    {"gpt_neox", At::end, "attention.bias"},
    {"gpt_neox", At::end, "attention.masked_bias"},
    // Version marks, and a bias that T5's cross-attention never had.
    {"", At::begin, "encoder.version"},
    {"", At::begin, "decoder.version"},
    {"opt", At::begin, "version"},
    {"t5", At::end, "EncDecAttention.relative_attention_bias.weight"},
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
    {"modernbert", At::begin, "head"},
    {"vit", At::begin, "decoder"},
    {"vit", At::begin, "embeddings.mask_token"},
    // A bias that the class of the unembedding does not have.
    {"", At::begin, "lm_head.bias"},
    {"", At::begin, "embed_out.bias"},
    // The decoder, if the encoder alone is opened.
    {"t5", At::begin, "decoder", true},
    {"t5", At::begin, "lm_head", true},
    {"mt5", At::begin, "decoder", true},
    {"mt5", At::begin, "lm_head", true},
};

bool matches(const Spare& spare, const ModelConfig& c, std::string_view name) {
    const std::string_view part = spare.name;
    if (*spare.family && c.family != spare.family) return false;
    if (spare.of_encoder_alone && c.stacks.size() > 1) return false;
    if (name == part) return true;
    if (name.size() <= part.size()) return false;
    return spare.at == At::begin ? name.starts_with(part) && name[part.size()] == '.'
                                 : name.ends_with(part) && name[name.size() - part.size() - 1] == '.';
}

/// Accepts integer tensors, which hold masks and positions, unless they are called weights or biases.
bool is_spare(const WeightStore& store, const ModelConfig& c, const std::string& name,
              const StoredTensor& tensor) {
    const std::string_view type = tensor.dtype->name;
    const bool whole = type == "BOOL" || type.starts_with('U') || (type[0] == 'I' && type[1] != 'Q');
    const bool weighs = name.ends_with(".weight") || name.ends_with(".bias");
    if ((whole && !weighs) || element_count(tensor.shape) == 0) return true;
    const std::string own = store.without_prefix(name);
    return std::any_of(std::begin(kSpares), std::end(kSpares),
                       [&](const Spare& spare) { return matches(spare, c, own); });
}

}  // namespace

Status check_all_read(const WeightStore& store, const ModelConfig& c,
                      const std::set<const StoredTensor*>& read) {
    const auto all = store.all();
    std::set<std::string> known;  // shards may store a tensor twice
    for (const auto& [name, tensor] : all)
        if (read.count(tensor)) known.insert(name);
    std::vector<std::string> left;
    for (const auto& [name, tensor] : all)
        if (!known.count(name) && !is_spare(store, c, name, *tensor)) left.push_back(name);
    if (left.empty()) return success();
    const bool several = left.size() > 1;
    return Error{store.place() + " holds the tensor " + shortened(left[0]) +
                 (several ? " and " + std::to_string(left.size() - 1) + " more" : "") + " that a " +
                 c.family_name + " of this configuration does not have, so Headlight would show another " +
                 "model; correct the configuration, or save the model without " +
                 (several ? "them." : "it.")};
}

}  // namespace headlight

// Maps each GGUF architecture to its family, the family's config keys and tensor names, one row each.
#include "model/loading/gguf_names.h"

#include <cctype>

#include "base/cast.h"
#include "base/quoted.h"

namespace headlight {

namespace {

using Names = GgufNames;

constexpr Names kUsualKeys[] = {{"hidden_size", "embedding_length"},
                                {"num_hidden_layers", "block_count"},
                                {"num_attention_heads", "attention.head_count"},
                                {"num_key_value_heads", "attention.head_count_kv"},
                                {"intermediate_size", "feed_forward_length"},
                                {"max_position_embeddings", "context_length"},
                                {"rms_norm_eps", "attention.layer_norm_rms_epsilon"},
                                {"layer_norm_eps", "attention.layer_norm_epsilon"},
                                {"rope_theta", "rope.freq_base"},
                                {"head_dim", "attention.key_length"},
                                {"sliding_window", "attention.sliding_window"},
                                {"attn_logit_softcapping", "attn_logit_softcapping"},
                                {"final_logit_softcapping", "final_logit_softcapping"}};
constexpr Names kGpt2Keys[] = {
    {"n_embd", "embedding_length"},     {"n_layer", "block_count"},
    {"n_head", "attention.head_count"}, {"n_inner", "feed_forward_length"},
    {"n_positions", "context_length"},  {"layer_norm_epsilon", "attention.layer_norm_epsilon"}};

constexpr Names kLlamaTensors[] = {{"embed_tokens", "token_embd"},
                                   {"norm", "output_norm"},
                                   {"lm_head", "output"},
                                   {"layers.#.input_layernorm", "blk.#.attn_norm"},
                                   {"layers.#.self_attn.q_proj", "blk.#.attn_q"},
                                   {"layers.#.self_attn.k_proj", "blk.#.attn_k"},
                                   {"layers.#.self_attn.v_proj", "blk.#.attn_v"},
                                   {"layers.#.self_attn.o_proj", "blk.#.attn_output"},
                                   {"layers.#.self_attn.qkv_proj", "blk.#.attn_qkv"},
                                   {"layers.#.self_attn.q_norm", "blk.#.attn_q_norm"},
                                   {"layers.#.self_attn.k_norm", "blk.#.attn_k_norm"},
                                   {"layers.#.post_attention_layernorm", "blk.#.ffn_norm"},
                                   {"layers.#.mlp.gate_proj", "blk.#.ffn_gate"},
                                   {"layers.#.mlp.up_proj", "blk.#.ffn_up"},
                                   {"layers.#.mlp.down_proj", "blk.#.ffn_down"}};
constexpr Names kGemma2Tensors[] = {
    {"layers.#.post_attention_layernorm", "blk.#.post_attention_norm"},
    {"layers.#.pre_feedforward_layernorm", "blk.#.ffn_norm"},
    {"layers.#.post_feedforward_layernorm", "blk.#.post_ffw_norm"}};  // also Llama's
constexpr Names kGpt2Tensors[] = {{"wte", "token_embd"},
                                  {"wpe", "position_embd"},
                                  {"ln_f", "output_norm"},
                                  {"lm_head", "output"},
                                  {"h.#.ln_1", "blk.#.attn_norm"},
                                  {"h.#.attn.c_attn", "blk.#.attn_qkv"},
                                  {"h.#.attn.c_proj", "blk.#.attn_output"},
                                  {"h.#.ln_2", "blk.#.ffn_norm"},
                                  {"h.#.mlp.c_fc", "blk.#.ffn_up"},
                                  {"h.#.mlp.c_proj", "blk.#.ffn_down"}};
constexpr Names kPhiTensors[] = {{"final_layernorm", "output_norm"},
                                 {"layers.#.self_attn.dense", "blk.#.attn_output"},
                                 {"layers.#.mlp.fc1", "blk.#.ffn_up"},
                                 {"layers.#.mlp.fc2", "blk.#.ffn_down"}};  // also Llama's
constexpr Names kBertTensors[] = {{"embeddings.word_embeddings", "token_embd"},
                                  {"embeddings.position_embeddings", "position_embd"},
                                  {"embeddings.token_type_embeddings", "token_types"},
                                  {"embeddings.LayerNorm", "token_embd_norm"},
                                  {"encoder.layer.#.attention.self.query", "blk.#.attn_q"},
                                  {"encoder.layer.#.attention.self.key", "blk.#.attn_k"},
                                  {"encoder.layer.#.attention.self.value", "blk.#.attn_v"},
                                  {"encoder.layer.#.attention.self.qkv", "blk.#.attn_qkv"},
                                  {"encoder.layer.#.attention.output.dense", "blk.#.attn_output"},
                                  {"encoder.layer.#.attention.output.LayerNorm", "blk.#.attn_output_norm"},
                                  {"encoder.layer.#.intermediate.dense", "blk.#.ffn_up"},
                                  {"encoder.layer.#.output.dense", "blk.#.ffn_down"},
                                  {"encoder.layer.#.output.LayerNorm", "blk.#.layer_output_norm"}};

constexpr GgufArchitecture kArchitectures[] = {
    {"llama", "llama", kUsualKeys, kLlamaTensors, {}, true},
    {"qwen2", "qwen2", kUsualKeys, kLlamaTensors, {}, false},
    {"qwen3", "qwen3", kUsualKeys, kLlamaTensors, {}, false},
    {"gemma", "gemma", kUsualKeys, kLlamaTensors, {}, false},
    {"gemma2", "gemma2", kUsualKeys, kGemma2Tensors, kLlamaTensors, false},
    {"gpt2", "gpt2", kGpt2Keys, kGpt2Tensors, {}, false},
    {"phi2", "phi", kUsualKeys, kPhiTensors, kLlamaTensors, false},
    {"bert", "bert", kUsualKeys, kBertTensors, {}, false},
};

/// Config keys outside the table of keys.
constexpr Names kRopeKeys[] = {{"rope_type", "rope.scaling.type"},
                               {"factor", "rope.scaling.factor"},
                               {"original_max_position_embeddings", "rope.scaling.original_context_length"},
                               {"beta_fast", "rope.scaling.yarn_beta_fast"},
                               {"beta_slow", "rope.scaling.yarn_beta_slow"}};
constexpr Names kOtherNames[] = {{"vocab_size", "token_embd.weight"},
                                 {"type_vocab_size", "token_types.weight"},
                                 {"eos_token_id", "tokenizer.ggml.eos_token_id"}};

/// Splits "layers.12.mlp" into "layers.#.mlp" and the number.
std::string take_number(std::string name, std::string& number) {
    for (size_t i = 0; i + 1 < name.size(); ++i) {
        if (name[i] != '.' || !std::isdigit(as_byte(name[i + 1]))) continue;
        size_t end = i + 1;
        while (end < name.size() && std::isdigit(as_byte(name[end]))) ++end;
        number = name.substr(i + 1, end - i - 1);
        return name.replace(i + 1, end - i - 1, "#");
    }
    return name;
}

}  // namespace

Result<const GgufArchitecture*> gguf_architecture(const Gguf& file, const std::string& name) {
    const Json& wanted = file.value("general.architecture");
    if (!wanted.is_string())
        return Error{name +
                     " does not say its general.architecture; convert the model with a current "
                     "converter."};
    for (const auto& row : kArchitectures)
        if (wanted == row.name) return &row;
    return Error{name + ": the architecture " + in_quotes(wanted.get<std::string>()) +
                 " is not one that Headlight opens from GGUF; it opens " + gguf_architecture_list() + "."};
}

std::string gguf_architecture_list() {
    std::string out;
    for (const auto& row : kArchitectures) out += (out.empty() ? "" : ", ") + std::string(row.name);
    return out;
}

Error in_gguf_names(Error error, const GgufArchitecture& row) {
    const auto rename = [&](const char* ours, const std::string& theirs) {
        const std::string from = in_quotes(ours), to = in_quotes(theirs);
        for (size_t at = 0; (at = error.message.find(from, at)) != std::string::npos; at += to.size())
            error.message.replace(at, from.size(), to);
    };
    for (const auto table : {row.keys, std::span<const Names>(kRopeKeys)})
        for (const auto& [ours, theirs] : table) rename(ours, row.name + std::string(".") + theirs);
    for (const auto& [ours, theirs] : kOtherNames) rename(ours, theirs);
    return error;
}

std::span<const GgufNames> gguf_rope_keys() { return kRopeKeys; }

std::string gguf_tensor_name(const GgufArchitecture& row, const std::string& asked) {
    const size_t dot = asked.rfind('.');
    if (dot == std::string::npos) return "";
    std::string number;
    const std::string base = take_number(asked.substr(0, dot), number);
    for (const auto table : {row.tensors, row.more_tensors})
        for (const auto& [ours, theirs] : table) {
            if (base != ours) continue;
            std::string out = theirs;
            if (const size_t mark = out.find('#'); mark != std::string::npos) out.replace(mark, 1, number);
            return out + asked.substr(dot);
        }
    return "";
}

}  // namespace headlight

// Text parts of models that also see or hear, which are families of their own or Llama's (Touvron et al.
// 2023) under other names: Emu 3 (Wang et al. 2024), GOT-OCR 2 (Wei et al. 2024), Fuyu (Bavishi et al. 2023),
// Llama 3.2 Vision (Grattafiori et al. 2024), Phi-4-multimodal (Abouelenin et al. 2025), Moshi (Défossez et
// al. 2024), ModernVBERT (Teiletche et al. 2025), Mistral 3, LLaVA (Liu et al. 2023); and EXAONE 3 (LG AI
// Research 2024).
#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/families/text_part.h"

namespace headlight {

namespace {

Result<ModelConfig> read_text_part(const Json& root, const std::string& file, const char* usual, bool tied) {
    return read_text_part(root, file, TextPart{{usual}, tied});
}

/// Reads Mistral Small 3.1 and later, and LLaVA, whose text parts are called as Llama is.
Result<ModelConfig> read_mistral3(const Json& root, const std::string& file) {
    return read_text_part(root, file, TextPart{{"mistral", "ministral3"}, true});
}
Result<ModelConfig> read_llava(const Json& root, const std::string& file) {
    return read_text_part(root, file, TextPart{{"llama", "mistral", "qwen2"}, false});
}

Result<ModelConfig> read_emu3_text(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.usual_kv_heads = 8,
                                        .head_dim = {or_null("head_dim")},
                                        .usual_mlp = 14336,
                                        .usual_vocab = 184622,
                                        .usual_context = 9216,
                                        .usual_norm_eps = 1e-5});
    set_rope(r, c, {.usual_theta = 1e6});
    c.end_id = 151850;
    return r.finish(c);
}
Result<ModelConfig> read_emu3(const Json& root, const std::string& file) {
    return read_text_part(root, file, "emu3_text_model", false);
}

/// Reads GOT-OCR 2, whose class makes the text part where the file has none.
Result<ModelConfig> read_got_ocr2(const Json& root, const std::string& file) {
    Json whole = root;
    if (!root.contains("text_config") || root["text_config"].is_null())
        whole["text_config"] = {{"vocab_size", 151860},
                                {"hidden_size", 1024},
                                {"intermediate_size", 2816},
                                {"num_hidden_layers", 24},
                                {"num_attention_heads", 16},
                                {"num_key_value_heads", 16},
                                {"max_position_embeddings", 32768}};
    return read_text_part(whole, file, "qwen2", true);
}

Result<ModelConfig> read_fuyu(const Json& root, const std::string& file) {
    return read_text_part(root, file, "persimmon", false);
}

Result<ModelConfig> read_modernvbert(const Json& root, const std::string& file) {
    return read_text_part(root, file, "modernbert", false);
}

/// Reads Phi-3 whose adapters for pictures and sound are left out.
Result<ModelConfig> read_phi4_multimodal(const Json& root, const std::string& file) {
    Json text = {{"vocab_size", 200064}, {"num_key_value_heads", 8}, {"max_position_embeddings", 131072}};
    text.update(root);
    text["model_type"] = "phi3";
    return find_family("phi3")->read_config(text, file);
}

Result<ModelConfig> read_exaone(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    LlamaKeys keys{.usual_kv_heads = 8,
                   .usual_mlp = 14336,
                   .usual_vocab = 102400,
                   .usual_context = 4096,
                   .usual_norm_eps = 1e-5};
    if (r.has("activation_function")) keys.activation = "activation_function";
    if (r.has("layer_norm_epsilon")) keys.norm_eps = "layer_norm_epsilon";
    if (r.has("num_layers")) keys.layers = "num_layers";
    ModelConfig c = read_llama_like(r, keys);
    read_biases(r, c);
    set_rope(r, c, {.usual_theta = 5e5});
    c.end_id = 361;
    return r.finish(c);
}

/// Leaves out the layers that read a picture, which a text alone passes by; `group` keeps the others'
/// numbers.
void skip_layers(ConfigReader& r, ModelConfig& c) {
    const bool stated = r.has("cross_attention_layers");
    const Json list = stated ? r.root()["cross_attention_layers"] : Json{3, 8, 13, 18, 23, 28, 33, 38};
    StackConfig& s = c.stacks[0];
    std::vector<LayerSpec> kept;
    for (int l = 0; l < s.depth(); ++l) {
        if (list.is_array() && std::find(list.begin(), list.end(), Json(l)) != list.end()) {
            s.skipped.push_back(l);
            continue;
        }
        kept.push_back(s.layers[l]);
        kept.back().group = l;
    }
    if (!list.is_array() || kept.empty())
        r.fail(r.file() + ": \"cross_attention_layers\" must list some of the layers; correct the file.");
    else
        s.layers = std::move(kept);
}

Result<ModelConfig> read_mllama_text(const Json& root, const std::string& file) {
    constexpr int kPictureTokens = 8;  // further rows of the table of embeddings
    ConfigReader r(root, file);
    ModelConfig c = read_llama_like(r, {.kv_heads = "num_key_value_heads",
                                        .usual_kv_heads = 8,
                                        .head_dim = {""},
                                        .usual_layers = 40,
                                        .usual_mlp = 14336,
                                        .usual_vocab = 128256,
                                        .usual_context = 131072,
                                        .usual_norm_eps = 1e-5});
    c.stacks[0].vocab = c.vocab + kPictureTokens;
    if (c.tied_unembedding)
        r.fail(file +
               ": an unembedding tied to embeddings of more tokens is not computed; set "
               "tie_word_embeddings to false.");
    set_rope(r, c, {.usual_theta = 5e5});
    skip_layers(r, c);
    c.end_id = 128001;
    return r.finish(c);
}
Result<ModelConfig> read_mllama(const Json& root, const std::string& file) {
    return read_text_part(root, file, "mllama_text_model", false);
}

/// Reads the decoder of text alone, without the streams of sound.
Result<ModelConfig> read_moshi(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    if (!contains(r.architectures(), "MoshiForCausalLM"))
        r.fail(file +
               ": of Moshi, only its decoder of text is computed; save MoshiForCausalLM, the whole model's "
               "`decoder`, in a folder of its own.");
    LlamaKeys keys{.usual_context = 3000, .usual_norm_eps = 1e-8};
    keys.mlp_width = "ffn_dim";
    keys.usual_mlp = 22528;
    ModelConfig c = read_llama_like(r, keys);
    for_layers(c, [&](LayerSpec& layer, int) {
        if (layer.mlp.width % 2) r.fail(file + ": an odd ffn_dim has no halves; correct the file.");
        layer.mlp.width = std::max(1, layer.mlp.width / 2);
    });
    c.stacks[0].vocab = c.vocab + 1;
    if (c.tied_unembedding)
        r.fail(file +
               ": an unembedding tied to embeddings of more tokens is not computed; set "
               "tie_word_embeddings to false.");
    set_rope(r, c);
    return r.finish(c);
}

constexpr const char *kEmu3Prefixes[] = {"model.text_model.", "text_model.model.", "text_model.", "model.",
                                         ""},
                     *kExaonePrefixes[] = {"transformer.", "model.", ""},
                     *kModernVBertPrefixes[] = {"model.text_model.", "model.", ""};

constexpr TensorRow kFuyuTensors[] = {
    {Slot::qkv, "layers.#.self_attn.query_key_value", "", Stored::by_head},
    {Slot::o, "layers.#.self_attn.dense"},
    {Slot::q_norm, "layers.#.self_attn.q_layernorm"},
    {Slot::k_norm, "layers.#.self_attn.k_layernorm"},
    {Slot::up, "layers.#.mlp.dense_h_to_4h"},
    {Slot::down, "layers.#.mlp.dense_4h_to_h"},
    {Slot::final_norm, "final_layernorm"},
};
constexpr TensorRow kExaoneTensors[] = {
    {Slot::token_embedding, "wte"},
    {Slot::attn_norm, "h.#.ln_1"},
    {Slot::q, "h.#.attn.attention.q_proj"},
    {Slot::k, "h.#.attn.attention.k_proj"},
    {Slot::v, "h.#.attn.attention.v_proj"},
    {Slot::o, "h.#.attn.attention.out_proj"},
    {Slot::mlp_norm, "h.#.ln_2"},
    {Slot::gate, "h.#.mlp.c_fc_0"},
    {Slot::up, "h.#.mlp.c_fc_1"},
    {Slot::down, "h.#.mlp.c_proj"},
    {Slot::final_norm, "ln_f"},
    {Slot::unembedding, "lm_head"},
};
constexpr TensorRow kMoshiTensors[] = {
    {Slot::q, "layers.#.self_attn.q_proj.linear"}, {Slot::k, "layers.#.self_attn.k_proj.linear"},
    {Slot::v, "layers.#.self_attn.v_proj.linear"}, {Slot::o, "layers.#.self_attn.o_proj.linear"},
    {Slot::gate_up, "layers.#.mlp.fc1"},           {Slot::down, "layers.#.mlp.fc2"},
};
constexpr TensorRow kModernVBertTensors[] = {
    {Slot::token_embedding, "embeddings.tok_embeddings"},
    {Slot::embed_norm, "embeddings.norm"},
    {Slot::attn_norm, "layers.#.attn_norm"},
    {Slot::qkv, "layers.#.attn.Wqkv"},
    {Slot::o, "layers.#.attn.Wo"},
    {Slot::mlp_norm, "layers.#.mlp_norm"},
    {Slot::gate_up, "layers.#.mlp.Wi"},
    {Slot::down, "layers.#.mlp.Wo"},
    {Slot::final_norm, "final_norm"},
    {Slot::head_dense, "projection_head.dense"},
    {Slot::head_norm, "projection_head.norm"},
    {Slot::unembedding, "lm_head"},
    {Slot::unembedding_bias, "lm_head.bias"},
};

}  // namespace

Result<ModelConfig> read_text_part(const Json& root, const std::string& file, const TextPart& part) {
    TRY(Json text, json_object(root, "text_config", file));
    TRY(const std::string type, json_string(text, "model_type", part.types.front(), file));
    const Family* family = find_family(type);
    if (!family || !contains(part.types, type))
        return Error{file + ": a text part of the type " + in_quotes(shortened(type)) +
                     " is not computed here; use a model whose text part is " +
                     find_family(part.types.front())->name + "."};
    const JsonKey tied = or_null("tie_word_embeddings");  // older files say it of the text part
    TRY(const bool whole, json_boolean(root, tied, root.contains(tied.name) ? false : part.tied, file));
    TRY(const bool own, json_boolean(text, tied, false, file));
    text[tied.name] = whole || own;
    return family->read_config(text, file);
}

const Family kEmu3Text{"emu3_text_model", "Emu 3", read_emu3_text, {kLlamaPrefixes, kLlamaTensors}};
const Family kEmu3{"emu3", "Emu 3 (text part)", read_emu3, {kEmu3Prefixes, kLlamaTensors}};
const Family kGotOcr2{"got_ocr2", "GOT-OCR 2 (text part)", read_got_ocr2, {kTextPrefixes, kLlamaTensors}};
const Family kMistral3{"mistral3", "Mistral 3 (text part)", read_mistral3, {kTextPrefixes, kLlamaTensors}};
const Family kLlava{"llava", "LLaVA (text part)", read_llava, {kTextPrefixes, kLlamaTensors}};
const Family kFuyu{"fuyu", "Fuyu (text part)", read_fuyu, {kTextPrefixes, kFuyuTensors, kLlamaTensors}};
const Family kModernVBert{
    "modernvbert", "ModernVBERT (text part)", read_modernvbert, {kModernVBertPrefixes, kModernVBertTensors}};
const Family kPhi4Multimodal{
    "phi4_multimodal", "Phi-4-multimodal (text part)", read_phi4_multimodal, {kLlamaPrefixes, kLlamaTensors}};
const Family kExaone{"exaone", "EXAONE", read_exaone, {kExaonePrefixes, kExaoneTensors}};
const Family kMllamaText{
    "mllama_text_model", "Llama 3.2 Vision", read_mllama_text, {kTextPrefixes, kLlamaTensors}};
const Family kMllama{"mllama", "Llama 3.2 Vision (text part)", read_mllama, {kTextPrefixes, kLlamaTensors}};
const Family kMoshi{"moshi", "Moshi (text)", read_moshi, {kLlamaPrefixes, kMoshiTensors, kLlamaTensors}};

}  // namespace headlight

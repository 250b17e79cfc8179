// Llama and its relatives (Touvron et al. 2023): RMSNorm, rotary positions, gated MLP, shared key/value
// heads. Mistral adds a sliding window, Qwen2 biases on q, k and v, Qwen3 a norm on q and k, Gemma scaled
// embeddings, Gemma 2 also norms on the outputs of blocks, a window in every other layer, and soft caps.
#include <cmath>

#include "model/families.h"
#include "model/loading/rope_config.h"

namespace headlight {

namespace {

/// Lists the keys and defaults in which the classes differ; the defaults are Llama's.
struct ClassKeys {
    JsonKey kv_heads = or_null("num_key_value_heads");
    int64_t usual_kv_heads = 0;  // 0: one for each query head
    HeadDim head_dim{or_null("head_dim")};
    JsonKey activation = "hidden_act";
    const char* usual_activation = "silu";
    int64_t usual_width = 4096, usual_heads = 32, usual_layers = 32;
};

/// Reads the keys that all of them share; the defaults are Llama's.
ModelConfig read_llama_common(ConfigReader& r, const ClassKeys& keys) {
    ModelConfig c;
    r.widths(c, {"hidden_size"}, keys.usual_width, {"num_attention_heads"}, keys.usual_heads, keys.head_dim);
    r.kv_heads(c.stacks[0], keys.kv_heads, keys.usual_kv_heads ? keys.usual_kv_heads : c.stacks[0].heads);
    StackConfig& s = c.stacks[0];
    s.layers = r.layers({"num_hidden_layers"}, keys.usual_layers);
    s.d_mlp = r.mlp_width({"intermediate_size"}, 11008);
    s.vocab = c.vocab = r.vocabulary(32000);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.norm = NormKind::rms_norm;
    c.norm_eps = r.number({"rms_norm_eps"}, 1e-6);
    c.norm_bias = c.mlp_bias = c.attention_bias = c.output_bias = false;
    c.activation = r.activation({keys.activation}, keys.usual_activation);
    c.gated = true;
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, false);
    return c;
}

Result<ModelConfig> read_llama(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_common(r, {});
    c.attention_bias = c.output_bias = r.boolean({"attention_bias"}, false);
    c.mlp_bias = r.boolean({"mlp_bias"}, false);
    c.rope = read_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelConfig> read_mistral(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_common(r, {.kv_heads = "num_key_value_heads", .usual_kv_heads = 8});
    c.stacks[0].d_mlp = r.mlp_width({"intermediate_size"}, 14336);
    c.context = r.context({"max_position_embeddings"}, 4096 * 32);
    if (!r.is_null("sliding_window"))
        c.stacks[0].windows.assign(c.stacks[0].layers, r.integer({"sliding_window"}, 4096, 1, 1 << 24));
    c.rope = read_rope(r, c);
    c.end_id = 2;
    return r.finish(c);
}

/// Applies Qwen's window only if use_sliding_window is set, in the layers from max_window_layers on.
void read_qwen_window(ConfigReader& r, StackConfig& s) {
    if (!r.boolean({"use_sliding_window"}, false) || r.is_null("sliding_window")) return;
    const int window = r.integer({"sliding_window"}, 4096, 1, 1 << 24),
              first = r.integer({"max_window_layers"}, 28, 0, 1000);
    s.windows = r.windows(s.layers, window, [](int) { return false; });
    if (r.has("layer_types")) return;
    for (int l = first; l < s.layers; ++l) s.windows[l] = window;
}

Result<ModelConfig> read_qwen2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_common(r, {.usual_kv_heads = 32, .head_dim = {"head_dim"}});
    c.attention_bias = true;
    c.stacks[0].d_mlp = r.mlp_width({"intermediate_size"}, 22016);
    c.stacks[0].vocab = c.vocab = r.vocabulary(151936);
    c.context = r.context({"max_position_embeddings"}, 32768);
    read_qwen_window(r, c.stacks[0]);
    c.rope = read_rope(r, c, {.reads_layer_types = true});
    return r.finish(c);
}

Result<ModelConfig> read_qwen3(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_common(r, {.usual_kv_heads = 32, .head_dim = {"head_dim", 128}});
    c.attention_bias = c.output_bias = r.boolean({"attention_bias"}, false);
    c.qk_norm = true;
    c.stacks[0].d_mlp = r.mlp_width({"intermediate_size"}, 22016);
    c.stacks[0].vocab = c.vocab = r.vocabulary(151936);
    c.context = r.context({"max_position_embeddings"}, 32768);
    read_qwen_window(r, c.stacks[0]);
    c.rope = read_rope(r, c, {.reads_layer_types = true});
    return r.finish(c);
}

/// Applies the traits of both generations of Gemma: norm weights less 1, embeddings times √d_model.
void make_gemma(ConfigReader& r, ModelConfig& c) {
    c.stacks[0].vocab = c.vocab = r.vocabulary(256000);
    c.context = r.context({"max_position_embeddings"}, 8192);
    c.attention_bias = c.output_bias = r.boolean({"attention_bias"}, false);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    c.norm_weight_offset = 1;
    c.embed_scale = std::sqrt(float(c.d_model));
}

Result<ModelConfig> read_gemma(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_common(
        r, {"num_key_value_heads", 16, {"head_dim", 256}, "hidden_act", "gelu_pytorch_tanh", 3072, 16, 28});
    // its class computes "gelu" as gelu_tanh
    if (c.activation == Activation::gelu) c.activation = Activation::gelu_tanh;
    make_gemma(r, c);
    c.stacks[0].d_mlp = r.mlp_width({"intermediate_size"}, 24576);
    c.rope = read_rope(r, c);
    c.end_id = 1;
    return r.finish(c);
}

Result<ModelConfig> read_gemma2(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_llama_common(
        r,
        {"num_key_value_heads", 4, {"head_dim", 256}, "hidden_activation", "gelu_pytorch_tanh", 2304, 8, 26});
    make_gemma(r, c);
    c.stacks[0].d_mlp = r.mlp_width({"intermediate_size"}, 9216);
    c.post_norm = true;
    c.scale = 1 / std::sqrt(float(r.positive(root, "query_pre_attn_scalar", 256)));
    const auto cap = [&](const char* key, double usual) {
        return r.is_null(key) ? 0.0f : float(r.positive(root, key, usual));
    };
    c.score_cap = cap("attn_logit_softcapping", 50);
    c.logit_cap = cap("final_logit_softcapping", 30);
    c.stacks[0].windows = r.windows(c.stacks[0].layers, r.integer({"sliding_window"}, 4096, 1, 1 << 24),
                                    [](int layer) { return layer % 2 == 0; });
    c.rope = read_rope(r, c, {.reads_layer_types = true});
    c.end_id = 1;
    return r.finish(c);
}

Result<ModelWeights> bind_llama(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"model.", "transformer.", ""});  // "transformer.": models for question answering
    Binder b(store, c);
    StackWeights s;
    s.token_embedding = b.embedding("embed_tokens", c.vocab, c.d_model, "lm_head");
    s.layers = b.layers(c.stacks[0], "layers.", [&](LayerWeights& w, const std::string& at) {
        w.self.norm = b.norm(at + "input_layernorm");
        b.attention(w.self, c.stacks[0], at + "self_attn.", "q_proj", "k_proj", "v_proj", "o_proj",
                    "qkv_proj");
        if (c.qk_norm) {
            w.self.q_norm = b.norm(at + "self_attn.q_norm", c.stacks[0].d_head, false);
            w.self.k_norm = b.norm(at + "self_attn.k_norm", c.stacks[0].d_head, false);
        }
        if (c.post_norm) {
            w.self.post_norm = b.norm(at + "post_attention_layernorm");
            w.mlp_norm = b.norm(at + "pre_feedforward_layernorm");
            w.mlp_post_norm = b.norm(at + "post_feedforward_layernorm");
        } else {
            w.mlp_norm = b.norm(at + "post_attention_layernorm");
        }
        b.mlp(w, c.stacks[0], at + "mlp.up_proj", at + "mlp.down_proj", at + "mlp.gate_proj");
    });
    s.final_norm = b.norm("norm");
    const Linear unembedding = b.unembedding(s.token_embedding, "lm_head", c.d_model);
    return b.finish(std::move(s), unembedding);
}

}  // namespace

const Family kLlama{"llama", "Llama", read_llama, bind_llama};
const Family kMistral{"mistral", "Mistral", read_mistral, bind_llama};
const Family kQwen2{"qwen2", "Qwen2", read_qwen2, bind_llama};
const Family kQwen3{"qwen3", "Qwen3", read_qwen3, bind_llama};
const Family kGemma{"gemma", "Gemma", read_gemma, bind_llama};
const Family kGemma2{"gemma2", "Gemma 2", read_gemma2, bind_llama};

}  // namespace headlight

// Phi-1, 1.5 and 2 (Li et al. 2023): one norm for parallel attention and MLP, partial rotation, biases.
#include "model/families.h"
#include "model/loading/rope_config.h"

namespace headlight {

namespace {

Result<ModelConfig> read_phi(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    r.widths(c, {"hidden_size"}, 2048, {"num_attention_heads"}, 32, HeadDim{"head_dim"});
    r.kv_heads(c.stacks[0], or_null("num_key_value_heads"), c.stacks[0].heads);
    StackConfig& s = c.stacks[0];
    s.layers = r.layers({"num_hidden_layers"}, 24);
    s.d_mlp = r.mlp_width({"intermediate_size"}, 8192);
    s.vocab = c.vocab = r.vocabulary(51200);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-5);
    c.activation = r.activation({"hidden_act"}, "gelu_new");
    c.parallel = c.shared_norm = true;
    c.qk_norm = r.boolean({"qk_layernorm"}, false);
    c.logits_bias = true;
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, false);
    c.rope = read_rope(
        r, c, {.share = "partial_rotary_factor", .usual_share = 0.5, .rotated = RopeKeys::even_part});
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelWeights> bind_phi(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"model.", ""});
    Binder b(store, c);
    StackWeights s;
    s.token_embedding = b.embedding("embed_tokens", c.vocab, c.d_model, "lm_head");
    s.layers = b.layers(c.stacks[0], "layers.", [&](LayerWeights& w, const std::string& at) {
        w.self.norm = w.mlp_norm = b.norm(at + "input_layernorm");
        b.attention(w.self, c.stacks[0], at + "self_attn.", "q_proj", "k_proj", "v_proj", "dense",
                    "qkv_proj");
        if (c.qk_norm) {
            w.self.q_norm = b.norm(at + "self_attn.q_layernorm", c.stacks[0].d_head, true);
            w.self.k_norm = b.norm(at + "self_attn.k_layernorm", c.stacks[0].d_head, true);
        }
        b.mlp(w, c.stacks[0], at + "mlp.fc1", at + "mlp.fc2");
    });
    s.final_norm = b.norm("final_layernorm");
    const bool bias = b.has("lm_head.bias");
    const Linear unembedding = b.unembedding(s.token_embedding, "lm_head", c.d_model,
                                             std::vector<std::string>(bias, "lm_head.bias"));
    return b.finish(std::move(s), unembedding);
}

}  // namespace

const Family kPhi{"phi", "Phi", read_phi, bind_phi};

}  // namespace headlight

// GPT-NeoX and Pythia (Black et al. 2022): parallel attention and MLP, interleaved q, k, v, partial rotation.
#include "model/families.h"
#include "model/loading/rope_config.h"

namespace headlight {

namespace {

Result<ModelConfig> read_gpt_neox(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    r.widths(c, {"hidden_size"}, 6144, {"num_attention_heads"}, 64);
    StackConfig& s = c.stacks[0];
    s.layers = r.layers({"num_hidden_layers"}, 44);
    s.d_mlp = r.mlp_width({"intermediate_size"}, 24576);
    s.vocab = c.vocab = r.vocabulary(50432);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-5);
    c.activation = r.activation({"hidden_act"}, "gelu");
    c.parallel = r.boolean({"use_parallel_residual"}, true);
    c.attention_bias = c.output_bias = r.boolean({"attention_bias"}, true);
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, false);
    c.rope = read_rope(r, c,
                       {.theta = "rotary_emb_base",
                        .share = "rotary_pct",
                        .usual_share = 0.25,
                        .rotated = RopeKeys::any_part});
    c.end_id = 2;
    return r.finish(c);
}

Result<ModelWeights> bind_gpt_neox(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"gpt_neox.", ""});
    Binder b(store, c);
    const char* head = b.has("lm_head.weight") ? "lm_head" : "embed_out";  // current and older names
    StackWeights s;
    s.token_embedding = b.embedding("embed_in", c.vocab, c.d_model, head);
    s.layers = b.layers(c.stacks[0], "layers.", [&](LayerWeights& w, const std::string& at) {
        w.self.norm = b.norm(at + "input_layernorm");
        b.split_qkv(w.self,
                    b.linear(at + "attention.query_key_value", c.d_model, 3 * b.inner(), c.attention_bias),
                    true);
        w.self.o = b.linear(at + "attention.dense", b.inner(), c.d_model, c.output_bias);
        w.mlp_norm = b.norm(at + "post_attention_layernorm");
        b.mlp(w, c.stacks[0], at + "mlp.dense_h_to_4h", at + "mlp.dense_4h_to_h");
    });
    s.final_norm = b.norm("final_layer_norm");
    const Linear unembedding = b.unembedding(s.token_embedding, head, c.d_model);
    return b.finish(std::move(s), unembedding);
}

}  // namespace

const Family kGptNeox{"gpt_neox", "GPT-NeoX", read_gpt_neox, bind_gpt_neox};

}  // namespace headlight

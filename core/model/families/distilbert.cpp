// DistilBERT (Sanh et al. 2019): BERT without token types, under other names.
#include "model/families.h"

namespace headlight {

namespace {

Result<ModelConfig> read_distilbert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    c.kind = ModelKind::encoder;
    r.widths(c, {"hidden_size", "dim"}, 768, {"num_attention_heads", "n_heads"}, 12);
    StackConfig& s = c.stacks[0];
    s.causal = false;
    s.layers = r.layers({"num_hidden_layers", "n_layers"}, 6);
    s.d_mlp = r.mlp_width({"hidden_dim"}, 4 * 768);
    s.vocab = c.vocab = r.vocabulary(30522);
    c.context = r.context({"max_position_embeddings"}, 512);
    c.norm_place = NormPlace::after;
    c.norm_eps = 1e-12f;
    c.final_norm = false;
    c.embed_norm = c.mlm_head = true;
    c.positions = PositionScheme::learned;
    c.activation = c.head_activation = r.activation({"activation"}, "gelu");
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    return r.finish(c);
}

Result<ModelWeights> bind_distilbert(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"distilbert.", ""});
    Binder b(store, c);
    StackWeights s;
    s.token_embedding = b.embedding("embeddings.word_embeddings", c.vocab, c.d_model, "vocab_projector");
    s.position_embedding = b.table("embeddings.position_embeddings", c.context, c.d_model);
    s.embed_norm = b.norm("embeddings.LayerNorm");
    s.layers = b.layers(c.stacks[0], "transformer.layer.", [&](LayerWeights& w, const std::string& at) {
        b.attention(w.self, c.stacks[0], at + "attention.", "q_lin", "k_lin", "v_lin", "out_lin");
        w.self.norm = b.norm(at + "sa_layer_norm");
        b.mlp(w, c.stacks[0], at + "ffn.lin1", at + "ffn.lin2");
        w.mlp_norm = b.norm(at + "output_layer_norm");
    });
    return b.finish(std::move(s),
                    {"vocab_transform", "vocab_layer_norm", "vocab_projector", "vocab_projector.bias"},
                    b.has("vocab_transform.weight"));
}

}  // namespace

const Family kDistilBert{"distilbert", "DistilBERT", read_distilbert, bind_distilbert};

}  // namespace headlight

// BERT (Devlin et al. 2019) and models with its layers: RoBERTa (Liu et al. 2019) counts positions from past
// the padding id, ELECTRA (Clark et al. 2020) may have narrow embeddings.
#include "base/quoted.h"
#include "model/families.h"

namespace headlight {

namespace {

/// Reads bidirectionally, as BERT and its relatives do, unless is_decoder makes the model causal.
void read_direction(ConfigReader& r, ModelConfig& c) {
    const bool decoder = r.boolean({"is_decoder"}, false);
    c.kind = decoder ? ModelKind::decoder : ModelKind::encoder;
    c.stacks[0].causal = decoder;
    r.refuse_cross_attention();
}

ModelConfig read_bert_common(ConfigReader& r) {
    ModelConfig c;
    r.widths(c, {"hidden_size"}, 768, {"num_attention_heads"}, 12);
    read_direction(r, c);
    StackConfig& s = c.stacks[0];
    s.layers = r.layers({"num_hidden_layers"}, 12);
    s.d_mlp = r.mlp_width({"intermediate_size"}, 3072);
    s.vocab = c.vocab = r.vocabulary(30522);
    c.context = r.context({"max_position_embeddings"}, 512);
    c.token_types = r.integer({"type_vocab_size"}, 2, 1, 1 << 10);
    c.norm_place = NormPlace::after;
    c.norm_eps = r.number({"layer_norm_eps"}, 1e-12);
    c.final_norm = false;
    c.embed_norm = c.mlm_head = true;
    c.positions = PositionScheme::learned;
    c.activation = c.head_activation = r.activation({"hidden_act"}, "gelu");
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    const std::string kind = r.text({"position_embedding_type"}, "absolute");
    if (kind != "absolute")
        r.fail(r.file() + ": positions of the type " + in_quotes(kind) +
               " are not supported; use a model with absolute positions.");
    return c;
}

Result<ModelConfig> read_bert(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    return r.finish(read_bert_common(r));
}

Result<ModelConfig> read_roberta_like(const Json& root, const std::string& file, int64_t vocabulary) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r);
    c.stacks[0].vocab = c.vocab = r.vocabulary(vocabulary);
    c.position_pad = r.integer({"pad_token_id"}, 1, 0, 1 << 23);
    c.position_offset = c.position_pad + 1;
    c.end_id = 2;
    c.context -= c.position_offset;
    if (c.context < 1)
        r.fail(file + ": max_position_embeddings leaves no position after the padding id; correct the file.");
    c.head_activation = Activation::gelu;
    return r.finish(c);
}

Result<ModelConfig> read_roberta(const Json& root, const std::string& file) {
    return read_roberta_like(root, file, 50265);
}
Result<ModelConfig> read_xlm_roberta(const Json& root, const std::string& file) {
    return read_roberta_like(root, file, 30522);
}

Result<ModelConfig> read_electra(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bert_common(r);
    r.widths(c, {"hidden_size"}, 256, {"num_attention_heads"}, 4);
    c.stacks[0].d_mlp = r.mlp_width({"intermediate_size"}, 1024);
    c.d_embed = r.integer({"embedding_size"}, 128, 1, 1 << 17);
    c.head_activation = Activation::gelu;
    return r.finish(c);
}

Result<ModelWeights> bind_bert_layers(WeightStore& store, const ModelConfig& c, const std::string& prefix,
                                      const MlmHeadNames& head) {
    store.set_prefixes({prefix, ""});
    Binder b(store, c);
    StackWeights s;
    s.token_embedding = b.embedding("embeddings.word_embeddings", c.vocab, c.d_embed, head.decoder);
    s.position_embedding =
        b.table("embeddings.position_embeddings", c.context + c.position_offset, c.d_embed);
    if (c.token_types)
        s.type_embedding = b.table("embeddings.token_type_embeddings", c.token_types, c.d_embed);
    s.embed_norm = b.norm("embeddings.LayerNorm", c.d_embed, true);
    if (c.d_embed != c.d_model) s.embed_project = b.linear("embeddings_project", c.d_embed, c.d_model, true);
    s.layers = b.layers(c.stacks[0], "encoder.layer.", [&](LayerWeights& w, const std::string& at) {
        b.attention(w.self, c.stacks[0], at + "attention.", "self.query", "self.key", "self.value",
                    "output.dense", "self.qkv");
        w.self.norm = b.norm(at + "attention.output.LayerNorm");
        b.mlp(w, c.stacks[0], at + "intermediate.dense", at + "output.dense");
        w.mlp_norm = b.norm(at + "output.LayerNorm");
    });
    return b.finish(std::move(s), head, b.has(head.dense + ".weight"));
}

Result<ModelWeights> bind_bert(WeightStore& store, const ModelConfig& c) {
    return bind_bert_layers(store, c, "bert.",
                            {"cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm",
                             "cls.predictions.decoder", "cls.predictions.bias"});
}
Result<ModelWeights> bind_roberta(WeightStore& store, const ModelConfig& c) {
    return bind_bert_layers(store, c, "roberta.",
                            {"lm_head.dense", "lm_head.layer_norm", "lm_head.decoder", "lm_head.bias"});
}
Result<ModelWeights> bind_electra(WeightStore& store, const ModelConfig& c) {
    return bind_bert_layers(store, c, "electra.",
                            {"generator_predictions.dense", "generator_predictions.LayerNorm",
                             "generator_lm_head", "generator_lm_head.bias"});
}

}  // namespace

const Family kBert{"bert", "BERT", read_bert, bind_bert};
const Family kRoberta{"roberta", "RoBERTa", read_roberta, bind_roberta};
const Family kXlmRoberta{"xlm-roberta", "XLM-RoBERTa", read_xlm_roberta, bind_roberta};
const Family kCamembert{"camembert", "CamemBERT", read_xlm_roberta, bind_roberta};
const Family kElectra{"electra", "ELECTRA", read_electra, bind_electra};

}  // namespace headlight

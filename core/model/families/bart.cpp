// Marian (Junczys-Dowmunt et al. 2018), the transformer of Vaswani et al. 2017 with sinusoidal positions, and
// BART (Lewis et al. 2020), with learned ones: post-norm encoder and decoder.
#include <cmath>

#include "base/quoted.h"
#include "model/families.h"

namespace headlight {

namespace {

constexpr int kBartOffset = 2;

/// Refuses checkpoints that hold the encoder or the decoder alone: their tensors have other names.
void refuse_halves(ConfigReader& r) {
    const std::vector<std::string> classes = r.architectures();
    std::string half = classes.empty() && !r.boolean({or_null("is_encoder_decoder")}, true)
                           ? "is_encoder_decoder false"
                           : "";
    for (const std::string& name : classes)
        for (const char* ending : {"ForCausalLM", "Encoder", "Decoder"})
            if (name.ends_with(ending)) half = name;
    if (!half.empty())
        r.fail(r.file() + ": this is one half of an encoder–decoder (" + shortened(half) +
               "), which Headlight does not open; use the whole model.");
}

ModelConfig read_bart_common(ConfigReader& r) {
    refuse_halves(r);
    ModelConfig c;
    c.kind = ModelKind::encoder_decoder;
    c.stacks.assign(2, {});
    r.widths(c, {"hidden_size", "d_model"}, 1024, {"num_attention_heads", "encoder_attention_heads"}, 16);
    r.heads(c.stacks[1], c.d_model, {"decoder_attention_heads"}, 16);
    StackConfig &encoder = c.stacks[0], &decoder = c.stacks[1];
    encoder.name = "encoder";
    decoder.name = "decoder";
    encoder.causal = false;
    decoder.cross = true;
    encoder.layers = r.layers({"num_hidden_layers", "encoder_layers"}, 12);
    decoder.layers = r.layers({"decoder_layers"}, 12);
    encoder.d_mlp = r.mlp_width({"encoder_ffn_dim"}, 4096);
    decoder.d_mlp = r.mlp_width({"decoder_ffn_dim"}, 4096);
    c.context = r.context({"max_position_embeddings"}, 1024);
    c.norm_place = NormPlace::after;
    c.final_norm = false;
    c.activation = r.activation({"activation_function"}, "gelu");
    if (r.boolean({"scale_embedding"}, false)) c.embed_scale = std::sqrt(float(c.d_model));
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    c.logits_bias = true;
    return c;
}

Result<ModelConfig> read_marian(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_common(r);
    c.positions = PositionScheme::sinusoidal;
    c.stacks[0].vocab = r.vocabulary(58101);
    c.shared_embedding = r.boolean({"share_encoder_decoder_embeddings"}, true);
    c.stacks[1].vocab = c.vocab = r.vocabulary(c.stacks[0].vocab, {or_null("decoder_vocab_size")});
    c.start_id = r.integer({"decoder_start_token_id", or_null("pad_token_id")}, 58100, 0, 1 << 23);
    c.end_id = 0;
    return r.finish(c);
}

Result<ModelConfig> read_bart(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c = read_bart_common(r);
    c.positions = PositionScheme::learned;
    c.embed_norm = true;
    c.position_offset = kBartOffset;
    c.stacks[0].vocab = c.stacks[1].vocab = c.vocab = r.vocabulary(50265);
    c.start_id = r.integer({"decoder_start_token_id"}, 2, 0, 1 << 23);
    c.end_id = 2;
    return r.finish(c);
}

/// Adds the names of one table that all stacks share (and the unembedding's), or of one table per stack.
std::vector<std::string> names_of_table(const ModelConfig& c, std::vector<std::string> names) {
    if (c.shared_embedding)
        for (const char* other : {"shared", "decoder.embed_tokens", "encoder.embed_tokens"})
            names.emplace_back(other);
    const bool predicts = c.shared_embedding || names.front() != "encoder.embed_tokens";
    if (c.tied_unembedding && predicts) names.emplace_back("lm_head");
    return names;
}

StackWeights bind_bart_stack(Binder& b, const StackConfig& stack) {
    const ModelConfig& c = b.config();
    const std::string in = stack.name + ".";
    StackWeights s;
    s.token_embedding = b.tied_table(names_of_table(c, {in + "embed_tokens"}), stack.vocab, c.d_model);
    if (c.positions == PositionScheme::learned)
        s.position_embedding = b.table(in + "embed_positions", c.context + c.position_offset, c.d_model);
    if (c.embed_norm) s.embed_norm = b.norm(in + "layernorm_embedding");
    s.layers = b.layers(stack, in + "layers.", [&](LayerWeights& w, const std::string& at) {
        b.attention(w.self, stack, at + "self_attn.", "q_proj", "k_proj", "v_proj", "out_proj");
        w.self.norm = b.norm(at + "self_attn_layer_norm");
        if (stack.cross) {
            b.attention(w.cross, stack, at + "encoder_attn.", "q_proj", "k_proj", "v_proj", "out_proj");
            w.cross.norm = b.norm(at + "encoder_attn_layer_norm");
        }
        b.mlp(w, stack, at + "fc1", at + "fc2");
        w.mlp_norm = b.norm(at + "final_layer_norm");
    });
    return s;
}

Result<ModelWeights> bind_bart(WeightStore& store, const ModelConfig& c) {
    store.set_prefixes({"model.", ""});
    Binder b(store, c);
    ModelWeights w;
    for (const auto& stack : c.stacks) w.stacks.push_back(bind_bart_stack(b, stack));
    const Linear tied = c.shared_embedding ? b.tied_table(names_of_table(c, {}), c.vocab, c.d_model)
                                           : w.stacks[1].token_embedding;
    w.unembedding = b.unembedding(tied, "lm_head", c.d_model);
    if (w.unembedding && b.has("final_logits_bias"))
        w.unembedding.bias = b.vector("final_logits_bias", {1, c.vocab});
    return b.finish(std::move(w));
}

}  // namespace

const Family kMarian{"marian", "Marian", read_marian, bind_bart};
const Family kBart{"bart", "BART", read_bart, bind_bart};

}  // namespace headlight

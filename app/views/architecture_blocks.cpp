// What the diagram of a model is made of.
#include "base/cast.h"
#include "model/position_scheme.h"
#include "views/architecture.h"

namespace headlight {

namespace {

std::string by(int64_t a, int64_t b) { return std::to_string(a) + " × " + std::to_string(b); }

const char* norm_name(const ModelConfig& c) {
    return c.norm == NormKind::layer_norm ? "LayerNorm" : "RMSNorm";
}

Block position_block(const ModelConfig& c, const StackConfig& s, const std::string& of) {
    Block b;
    b.thin = true;
    b.rows = {of + "position embedding", of + "distance bias"};
    const PositionSchemeRow& scheme = position_scheme(c.positions);
    b.name = scheme.title;
    b.shape = scheme.shape(c, s);
    b.view = "positions";
    b.help = "How the model knows where a token stands. Opens its table.";
    return b;
}

Block attention_block(const ModelConfig& c, const std::string& of, const StackConfig& stack, bool cross,
                      int block) {
    Block b;
    b.name = cross ? "Cross-attention" : stack.causal ? "Masked self-attention" : "Self-attention";
    const std::string shared =
        stack.kv_heads < stack.heads ? " (" + std::to_string(stack.kv_heads) + " key/value)" : "";
    b.shape = std::to_string(stack.heads) + " heads" + shared + " · W_Q, W_K, W_V " +
              by(c.d_model, stack.d_head) + " each · W_O " +
              by(int64_t{stack.heads} * stack.d_head, c.d_model);
    const std::string what = of + (cross ? "cross-attention " : "attention ");
    b.rows = {what + "query", what + "key", what + "norms", what + "output"};
    b.view = "head";
    b.block = block;
    b.in_layer = b.adds = true;
    b.from_encoder = cross;
    b.help = cross ? "Queries from the decoder, keys and values from the encoder. Opens its heat map."
                   : "softmax(QKᵀ / √d) V for every head, side by side. Opens its heat map.";
    return b;
}

Block norm_block(const ModelConfig& c, const char* where) {
    Block b;
    b.name = norm_name(c);
    b.shape = where;
    b.in_layer = b.thin = true;
    b.help = "Brings every vector to one scale, then multiplies each dimension by a learned gain.";
    return b;
}

}  // namespace

std::vector<Block> blocks_of(const ModelConfig& c, int index) {
    const StackConfig& s = c.stacks[index];
    const std::string of = c.stacks.size() > 1 ? s.name + " " : "";
    const bool before = c.norm_place == NormPlace::before;
    std::vector<Block> out;
    Block embedding;
    embedding.name = s.vocab ? "Token embedding" : "Patch embedding";
    embedding.shape = s.vocab ? by(s.vocab, c.d_embed)
                              : by(int64_t{c.vision.channels} * c.vision.patch * c.vision.patch, c.d_model);
    embedding.rows = {index == 0 || c.shared_embedding ? "token embedding" : "target embedding",
                      "type embedding",
                      "embedding projection",
                      "patch embedding",
                      "class token",
                      of + "embedding norm"};
    embedding.view = "delta";
    embedding.block = c.blocks_of(index, 0).front();
    embedding.help = "Each id becomes a vector: the row of the table. Opens ΔE, where the vectors move.";
    out.push_back(embedding);
    if (const Block positions = position_block(c, s, of); !positions.name.empty()) out.push_back(positions);
    const auto add = [&](Block block, const std::string& norm_row) {
        Block norm = norm_block(c, before ? "before" : "after");
        norm.rows = {norm_row};
        if (before && !(c.parallel && c.shared_norm && block.view && std::string_view(block.view) == "lens"))
            out.push_back(norm);
        out.push_back(std::move(block));
        if (!before) out.push_back(norm);
    };
    add(attention_block(c, of, s, false, c.blocks_of(index, 0).front()), of + "attention norm");
    if (s.cross)
        add(attention_block(c, of, s, true, c.blocks_of(index, 0).back()), of + "cross-attention norm");
    Block mlp;
    mlp.name = c.gated ? "Gated MLP" : "MLP";
    mlp.shape =
        by(c.d_model, s.d_mlp) + " → " + by(s.d_mlp, c.d_model) + (c.parallel ? " · beside attention" : "");
    mlp.rows = {of + "MLP in", of + "MLP out"};
    mlp.view = index + 1 == isize(c.stacks) ? "lens" : nullptr;
    mlp.in_layer = mlp.adds = true;
    mlp.help =
        "Each token by itself: wider, a nonlinearity, back. Opens Prediction, which shows what MLPs add to a "
        "prediction.";
    add(mlp, of + "MLP norm");
    if (c.final_norm) {
        Block norm = norm_block(c, "final");
        norm.in_layer = false;
        norm.rows = {of + "final norm"};
        out.push_back(norm);
    }
    if (index + 1 < isize(c.stacks)) return out;
    Block head;
    head.name = c.can.read_image ? "Classifier" : "Unembedding";
    head.shape = by(c.mlm_head || c.project_positions() ? c.d_embed : c.d_model, c.vocab) +
                 (c.tied_unembedding ? " · the token embedding again" : "");
    head.rows = {"unembedding", "head", "output projection"};
    head.view = "lens";
    head.help = "A score for every token: the logits. Opens Prediction.";
    out.push_back(head);
    return out;
}

}  // namespace headlight

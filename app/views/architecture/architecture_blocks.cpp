// Lists the blocks of a model's diagram.
#include <algorithm>
#include <set>

#include "base/cast.h"
#include "model/heads.h"
#include "model/position_scheme.h"
#include "views/architecture/architecture.h"

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
    b.shapes = {scheme.shape(c, s)};
    b.part = WeightsPart::positions;
    b.view = "positions";
    b.help = "Encodes the position of a token. Click for its learned weights, again for its table.";
    return b;
}

/// "3 × delta net", "1 × attention": how many layers mix tokens how; empty: all by attention.
std::vector<std::string> mixers_of(const StackConfig& stack) {
    std::vector<std::pair<std::string, int>> counts;
    for (const LayerSpec& layer : stack.layers) {
        const std::string name = mixer_name(layer.attention);
        const auto at =
            std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == name; });
        if (at == counts.end())
            counts.emplace_back(name, 1);
        else
            ++at->second;
    }
    std::vector<std::string> out;
    if (counts.size() == 1 && !stack.layers[0].attention.recurrence) return out;
    for (const auto& [name, layers] : counts) out.push_back(std::to_string(layers) + " × " + name);
    return out;
}

/// Returns for each layer the one whose keys and values it reads; empty if all make their own.
std::vector<int> sources_of(const StackConfig& stack) {
    std::vector<int> out;
    bool any = false;
    for (const LayerSpec& layer : stack.layers) {
        out.push_back(layer.attention.source);
        any |= !layer.attention.makes_keys();
    }
    return any ? out : std::vector<int>();
}

/// "20 of 35 layers read k and v of 13 and 14".
std::string sharing_text(const std::vector<int>& sources) {
    std::set<int> read;
    int readers = 0;
    for (const int source : sources) {
        readers += source >= 0;
        if (source >= 0) read.insert(source);
    }
    std::string names;
    for (auto it = read.begin(); it != read.end(); ++it)
        names += (it == read.begin()            ? ""
                  : std::next(it) == read.end() ? " and "
                                                : ", ") +
                 std::to_string(*it);
    return std::to_string(readers) + " of " + std::to_string(sources.size()) +
           (readers == 1 ? " layers reads" : " layers read") + " k and v of " + names;
}

/// Describes what a layer makes of its own vector of a token, after the MLP (Gemma 4); no name: nothing.
Block layer_embedding_block(const ModelConfig& c, const StackConfig& s, const std::string& of) {
    Block b;
    const auto& spec = s.layers[0].embedding;
    if (!spec) return b;
    b.name = "Layer embedding";
    b.shapes = {by(c.d_model, spec->width) + " as a gate", "× the layer’s own vector of the token",
                "→ " + by(spec->width, c.d_model)};
    b.rows = {of + "layer embedding"};
    b.part = WeightsPart::layer_embedding;
    b.in_layer = b.adds = true;
    b.help =
        "Gates a short vector that this layer alone has of each token, projects it back and norms it. Click "
        "for its weights.";
    return b;
}

/// Describes the table of those vectors, below the layers.
Block layer_table_block(const StackConfig& s, const std::string& of) {
    Block b;
    const auto& spec = s.layers[0].embedding;
    if (!spec) return b;
    b.thin = true;
    b.name = "Layer embeddings";
    b.shapes = {by(spec->vocab, spec->width) + " for each layer"};
    b.rows = {of + "layer embeddings", of + "projection to layer embeddings",
              of + "norm of layer embeddings"};
    b.part = WeightsPart::embedding;
    b.help =
        "A second table: a short vector of each token for every layer, added to a projection of the token "
        "embedding.";
    return b;
}

/// Describes the product beside attention (Gemma 3n); no name: there is none.
Block laurel_block(const ModelConfig& c, const LayerSpec& layer, const std::string& of) {
    Block b;
    if (!layer.laurel_rank) return b;
    b.name = "LAuReL beside it";
    b.shapes = {by(c.d_model, layer.laurel_rank), "→ " + by(layer.laurel_rank, c.d_model),
                "added with its input, all ÷ √2"};
    b.rows = {of + "LAuReL"};
    b.part = WeightsPart::laurel;
    b.in_layer = b.adds = true;
    b.help =
        "A product of low rank of what attention reads, normed and added with that to the stream. Click for "
        "its "
        "weights.";
    return b;
}

/// Describes how a layer moves the streams that it does not compute with (Gemma 3n); no name: there are none.
Block streams_block(const StackConfig& s, const std::string& of) {
    Block b;
    if (!s.streams) return b;
    b.name = "Streams";
    b.shapes = {std::to_string(s.streams->count) + ", predicted before the layer",
                "it reads and writes stream " + std::to_string(s.streams->active),
                "by which all are corrected"};
    b.rows = {of + "norm of streams", of + "router of streams", of + "prediction of streams",
              of + "correction of streams", of + "scale of streams"};
    b.part = WeightsPart::streams;
    b.in_layer = true;
    b.help =
        "Carries several streams: before the layer each is predicted from all, after it each is corrected by "
        "what "
        "the layer left of the active one. Click for the router's weights.";
    return b;
}

Block attention_block(const ModelConfig& c, const std::string& of, const StackConfig& stack, bool cross) {
    const LayerSpec& layer = stack.layers[0];
    const AttentionSpec& a = cross ? *layer.second : layer.attention;
    Block b;
    b.name = cross ? "Cross-attention" : stack.causal ? "Masked self-attention" : "Self-attention";
    const std::string shared = a.kv_heads < a.heads ? " (" + std::to_string(a.kv_heads) + " key/value)" : "";
    b.shapes = {std::to_string(a.heads) + " heads" + shared,
                a.value_width() == a.d_head
                    ? "W_Q, W_K, W_V " + by(c.d_model, a.d_head) + " each"
                    : "W_Q, W_K " + by(c.d_model, a.d_head) + " each, W_V " + by(c.d_model, a.value_width()),
                "W_O " + by(int64_t{a.heads} * a.value_width(), c.d_model)};
    if (const auto mixers = mixers_of(stack); !cross && !mixers.empty()) {
        b.name = "Token mixing";
        b.shapes = mixers;
    }
    if (!cross) b.sources = sources_of(stack);
    if (!b.sources.empty()) b.shapes.push_back(sharing_text(b.sources));
    const std::string what = of + (cross ? "cross-attention " : "attention ");
    b.rows = {what + "query", what + "key", what + "norms", what + "output"};
    b.view = "head";
    b.in_layer = b.adds = true;
    b.from_encoder = b.second = cross;
    b.help =
        cross ? "Queries from the decoder, keys and values from the encoder. Click for the head's weights, "
                "again "
                "for its heat map."
              : "softmax(QKᵀ / √d) V for every head in parallel. Click for the head's weights, again for its "
                "heat map.";
    if (b.name == "Token mixing")
        b.help =
            "Each layer mixes tokens by one of these. Click for the chosen head's weights, again for its "
            "heat map.";
    return b;
}

/// Describes the mixer that reads what attention reads (Falcon-H1).
Block mixer_block(const ModelConfig& c, const std::string& of, const AttentionSpec& a) {
    Block b;
    b.name = "State space beside it";
    b.shapes = {
        std::to_string(a.heads) + " heads (" + std::to_string(a.recurrence->key_heads) + " key/query)",
        "B, C " + by(c.d_model, a.d_head) + " each, values " + by(c.d_model, a.value_width()),
        "→ " + by(int64_t{a.heads} * a.value_width(), c.d_model)};
    b.rows = {of + "mixer "};
    b.view = "head";
    b.in_layer = b.adds = b.second = true;
    b.help =
        "Mamba-2 reads what attention reads; what both make is added to the stream. Click for the head's "
        "weights, again for its heat map.";
    return b;
}

Block norm_block(const ModelConfig& c, const char* where, WeightsPart part, bool of_cross = false) {
    Block b;
    b.name = norm_name(c);
    b.shapes = {where};
    b.part = part;
    b.from_encoder = b.second = of_cross;
    b.in_layer = b.thin = true;
    b.help = "Normalizes each vector, then multiplies each dimension by a learned weight γ.";
    return b;
}

Block embedding_block(const ModelConfig& c, int index, const std::string& of) {
    const StackConfig& s = c.stacks[index];
    Block embedding;
    embedding.name = s.vocab ? "Token embedding" : "Patch embedding";
    embedding.shapes = {s.vocab
                            ? by(s.vocab, c.d_embed)
                            : by(int64_t{c.vision.channels} * c.vision.patch * c.vision.patch, c.d_model)};
    embedding.rows = {index == 0 || c.shared_embedding ? "token embedding" : "target embedding",
                      "type embedding",
                      "embedding projection",
                      "patch embedding",
                      "class token",
                      of + "projection to streams",
                      of + "embedding norm"};
    embedding.view = "delta";
    embedding.part = WeightsPart::embedding;
    embedding.help =
        "Maps each token id to a row of the table. Click for the table, again for ΔE, where the vectors "
        "move.";
    return embedding;
}

Block mlp_block(const ModelConfig& c, int index, const std::string& of) {
    const LayerSpec& layer = c.stacks[index].layers.back();  // the first may be dense among experts
    const MlpSpec& spec = layer.mlp;
    Block mlp;
    mlp.name = spec.gated ? "Gated MLP" : "MLP";
    const auto shapes_of = [&](int width) {
        return std::vector<std::string>{by(c.d_model, width) + (spec.gated ? " twice" : ""),
                                        "→ " + by(width, c.d_model)};
    };
    mlp.shapes = shapes_of(spec.experts ? spec.experts->width : spec.width);
    if (spec.experts) {
        mlp.name = "Experts";
        mlp.shapes.insert(mlp.shapes.begin(), std::to_string(spec.experts->used) + " of " +
                                                  std::to_string(spec.experts->count) + " for each token");
        if (spec.width) mlp.shapes.push_back("and " + by(c.d_model, spec.width) + " for all tokens");
    }
    if (layer.parallel) mlp.shapes.emplace_back("parallel to attention");
    mlp.part = WeightsPart::mlp;
    mlp.rows = {of + "MLP in", of + "MLP out", of + "router", of + "experts"};
    mlp.view = index + 1 == isize(c.stacks) ? "lens" : nullptr;
    mlp.in_layer = mlp.adds = true;
    mlp.help =
        "Per token: expand, apply a nonlinearity, project back. Click for its weights, again for Prediction, "
        "which shows what MLPs add.";
    return mlp;
}

Block unembedding_block(const ModelConfig& c) {
    Block head;
    head.name = c.can.read_image ? "Classifier" : "Unembedding";
    head.shapes = {by(c.unembedding_width(), c.vocab)};
    if (c.tied_unembedding) head.shapes.emplace_back("tied to the token embedding");
    head.part = WeightsPart::unembedding;
    head.rows = {"unembedding", "head", "output projection", "projection of streams"};
    head.view = "lens";
    head.help = "Computes the logits, a score for every token. Click for the matrix, again for Prediction.";
    return head;
}

}  // namespace

std::vector<Block> blocks_of(const ModelConfig& c, int index) {
    const StackConfig& s = c.stacks[index];
    const std::string of = c.stacks.size() > 1 ? s.name + " " : "";
    const LayerSpec& layer = s.layers[0];
    const bool before = !layer.norms_sum();
    std::vector<Block> out;
    out.push_back(embedding_block(c, index, of));
    const auto add_named = [&](const Block& block) {
        if (!block.name.empty()) out.push_back(block);
    };
    add_named(position_block(c, s, of));
    add_named(layer_table_block(s, of));
    const auto add = [&](Block block, const std::string& norm_row) {
        const bool of_mlp = block.part == WeightsPart::mlp;
        Block norm =
            norm_block(c, before ? "before" : "after",
                       of_mlp ? WeightsPart::mlp_norm : WeightsPart::attention_norm, block.from_encoder);
        norm.rows = {norm_row};
        if (layer.norms_input() && !(layer.shared_norm && of_mlp)) out.push_back(norm);
        out.push_back(std::move(block));
        if (!before) out.push_back(norm);
    };
    add(attention_block(c, of, s, false), of + "attention norm");
    if (s.cross()) add(attention_block(c, of, s, true), of + "cross-attention norm");
    if (s.beside()) out.push_back(mixer_block(c, of, *layer.second));
    add_named(laurel_block(c, layer, of));
    add(mlp_block(c, index, of), of + "MLP norm");
    add_named(streams_block(s, of));
    add_named(layer_embedding_block(c, s, of));
    if (c.final_norm) {
        Block norm = norm_block(c, "final", WeightsPart::final_norm);
        norm.in_layer = false;
        norm.rows = {of + "final norm"};
        out.push_back(norm);
    }
    const bool has_head = c.can.read_image ? c.vocab > 0 : unembeds(c);
    if (index + 1 < isize(c.stacks) || !has_head) return out;
    out.push_back(unembedding_block(c));
    return out;
}

}  // namespace headlight

// GPT-Neo (Black et al. 2021): like GPT-2, but every other layer has a window, and scores are not scaled.
#include "base/cast.h"
#include "model/families.h"

namespace headlight {

namespace {

/// Expands attention_types, a list of [kinds of layers, times to repeat them], to a kind for each layer; null
/// if it is no such list, or names more than the layers.
Json expanded_kinds(const Json& types, int layers) {
    Json out = Json::array();
    for (const Json& item : types.is_array() ? types : Json::array()) {
        if (!item.is_array() || item.size() != 2 || !item[0].is_array() || item[0].empty() ||
            !item[1].is_number_integer())
            return nullptr;
        for (int64_t times = item[1].get<int64_t>(); times > 0; --times)
            for (const Json& kind : item[0]) {
                if (isize(out) == layers) return nullptr;
                out.push_back(kind);
            }
    }
    return out;
}

/// Gives a window to the layers that attention_layers, or else attention_types, calls local.
void read_gpt_neo_windows(ConfigReader& r, StackConfig& s) {
    const int window = r.integer({"window_size"}, 256, 1, 1 << 24);
    const Json usual = Json::array({Json::array({Json::array({"global", "local"}), 12})}),
               types = r.has("attention_types") ? r.root()["attention_types"] : usual,
               kinds = r.has("attention_layers") ? r.root()["attention_layers"]
                                                 : expanded_kinds(types, s.depth());
    bool known = kinds.is_array() && isize(kinds) == s.depth();
    for (int l = 0; known && l < s.depth(); ++l) {
        known = kinds[l] == "global" || kinds[l] == "local";
        if (kinds[l] == "local") s.layers[l].attention.window = window;
    }
    if (!known)
        r.fail(
            r.file() + ": \"attention_types\" must say for each of the " + std::to_string(s.depth()) +
            " layers whether it is \"global\" or \"local\", as [[[\"global\", \"local\"], 12]] does for 24; "
            "correct the file.");
}

Result<ModelConfig> read_gpt_neo(const Json& root, const std::string& file) {
    ConfigReader r(root, file);
    ModelConfig c;
    LayerSpec layer;
    r.widths(c, layer.attention, {"hidden_size"}, 2048, {"num_attention_heads", "num_heads"}, 16);
    StackConfig& s = c.stacks[0];
    const int layers = r.layers({"num_hidden_layers", "num_layers"}, 24);
    layer.mlp.width = r.mlp_width({or_null("intermediate_size")}, 4 * int64_t{c.d_model});
    s.vocab = c.vocab = r.vocabulary(50257);
    c.context = r.context({"max_position_embeddings"}, 2048);
    c.positions = PositionScheme::learned;
    c.norm_eps = r.number({"layer_norm_epsilon"}, 1e-5);
    layer.mlp.activation = r.activation({"activation_function"}, "gelu_new");
    layer.attention.bias = false;
    layer.attention.scale = 1;
    c.tied_unembedding = r.boolean({"tie_word_embeddings"}, true);
    s.layers.assign(layers, layer);
    read_gpt_neo_windows(r, s);
    c.end_id = 50256;
    return r.finish(c);
}

constexpr const char* kGptNeoPrefixes[] = {"transformer.", ""};

constexpr TensorRow kGptNeoTensors[] = {
    {Slot::token_embedding, "wte"},
    {Slot::position_embedding, "wpe"},
    {Slot::attn_norm, "h.#.ln_1"},
    {Slot::q, "h.#.attn.attention.q_proj"},
    {Slot::k, "h.#.attn.attention.k_proj"},
    {Slot::v, "h.#.attn.attention.v_proj"},
    {Slot::o, "h.#.attn.attention.out_proj"},
    {Slot::mlp_norm, "h.#.ln_2"},
    {Slot::up, "h.#.mlp.c_fc"},
    {Slot::down, "h.#.mlp.c_proj"},
    {Slot::final_norm, "ln_f"},
    {Slot::unembedding, "lm_head"},
};

}  // namespace

const Family kGptNeo{"gpt_neo", "GPT-Neo", read_gpt_neo, {kGptNeoPrefixes, kGptNeoTensors}};

}  // namespace headlight

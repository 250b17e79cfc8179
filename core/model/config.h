// What a model is, in plain numbers and enums; nothing here depends on where they were read.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/image.h"
#include "io/json.h"
#include "model/rope.h"

namespace headlight {

enum class ModelKind { decoder, encoder, encoder_decoder, vision };
enum class NormKind { layer_norm, rms_norm };
enum class NormPlace {
    before,
    after
};  // pre-norm: norm(x) enters a block; post-norm: norm(x + block(x)) leaves it
enum class Activation { gelu, gelu_tanh, relu, silu, quick_gelu };

/// Layers that follow one another over one sequence. Layers and heads are numbered from 0.
struct StackConfig {
    bool operator==(const StackConfig&) const = default;
    std::string name = "blocks";  // what trace files call it: blocks, encoder, decoder
    int layers = 0, d_mlp = 0;
    int heads = 1, kv_heads = 1, d_head = 1;  // of each attention block, cross too; kv_heads < heads: several
                                              // query heads share one key/value head
    int vocab = 0;                            // ids it reads; 0: no ids (patches)
    bool skip_first_attn_norm = false;  // layer 0 attends to what the embeddings' norm left (ModernBERT)
    int layer_groups = 0;      // ALBERT: so many kinds of layers share the weights; 0: each has its own
    bool causal = true;        // the model's own mask: a query sees no later key
    bool cross = false;        // each layer also reads the stack before it
    std::vector<int> windows;  // per layer, if any: a query sees the keys nearer than this; 0: all

    int window(int layer) const { return windows.empty() ? 0 : windows[static_cast<size_t>(layer)]; }
};

/// What one attention block reads: its own stack (blocks, encoder, decoder), or the encoder from the decoder
/// (cross).
enum class AttentionKind { blocks, encoder, decoder, cross };

/// One attention block of a model. Views number them 0, 1, … through encoder, decoder and cross.
struct AttentionBlock {
    AttentionKind kind = AttentionKind::blocks;
    int stack = 0, layer = 0;
    int key_stack() const { return kind == AttentionKind::cross ? stack - 1 : stack; }
};

/// One head: its attention block and its number there, from 0.
struct AttentionHead {
    int block = 0, head = 0;
    auto operator<=>(const AttentionHead&) const = default;
};

/// How T5 sorts distances into buckets (Raffel et al. 2020).
struct RelativeBuckets {
    bool operator==(const RelativeBuckets&) const = default;
    int count = 0, max_distance = 128;
};

/// How a picture becomes patches (Dosovitskiy et al. 2021).
struct VisionConfig {
    bool operator==(const VisionConfig&) const = default;
    int image = 0, patch = 0, channels = 3;
    std::array<float, 3> mean{0.5f, 0.5f, 0.5f}, deviation{0.5f, 0.5f, 0.5f};  // of values 0 … 1
    float rescale = 1.0f / 255;
    Resampling resampling = Resampling::bilinear;
    std::vector<std::string> labels;
    int patches() const { return patch ? (image / patch) * (image / patch) : 0; }
};

/// What writing obeys, as generation_config.json says it.
struct GenerationConfig {
    bool operator==(const GenerationConfig&) const = default;
    std::vector<int> eos_token_ids;    // tokens that end a text
    std::vector<int> suppress_tokens;  // tokens that are never written
    int forced_bos_token_id = -1;  // what the decoder must write first, behind its start token; −1: anything
};

/// Numbers read from config.json. Widths in floats, counts from 1.
struct ModelConfig {
    bool operator==(const ModelConfig&) const = default;
    std::string family;       // the row of families.h, "gpt2"
    std::string family_name;  // for people, "GPT-2"
    ModelKind kind = ModelKind::decoder;
    std::vector<StackConfig> stacks{StackConfig{}};
    int d_model = 0, d_embed = 0;
    int vocab = 0, context = 0;  // columns of the logits; the most tokens of one sequence

    NormKind norm = NormKind::layer_norm;
    NormPlace norm_place = NormPlace::before;
    float norm_eps = 1e-5f;
    bool final_norm = true, embed_norm = false,
         post_norm = false;        // post_norm: one more norm on what a block adds (Gemma 2)
    float norm_weight_offset = 0;  // added to a norm's stored weight (Gemma: 1)
    bool parallel = false;         // attention and MLP read the same residual
    bool shared_norm = false;      // … through one norm (Phi)

    Activation activation = Activation::gelu_tanh;
    bool gated = false;  // MLP: act(gate x) · (in x)
    bool attention_bias = true, output_bias = true, mlp_bias = true, norm_bias = true;
    bool qk_norm = false;  // q and k are normalised per head before they meet

    float embed_scale = 1;
    bool embed_project =
        false;  // a projection stands between embeddings and layers even where the widths agree
    bool d_model_positions =
        false;  // positions are as wide as the layers and are added after that projection (OPT)
    bool shared_embedding = true;  // encoder and decoder read one table
    bool learned_positions = false, sinusoidal = false;
    int position_offset = 0;  // position p reads row p + offset of the table
    int position_pad = -1;    // RoBERTa: a padding id counts no position
    int token_types = 0;
    Rope rope, local_rope;  // local_rope: layers with a window, where they differ
    bool alibi = false;
    RelativeBuckets buckets;
    float scale = 0;                     // what q·k is multiplied by; 0: 1/sqrt(d_head)
    bool scale_by_layer = false;         // and divided by layer + 1
    float score_cap = 0, logit_cap = 0;  // x → cap · tanh(x / cap); 0: none
    float logit_scale = 1;

    bool mlm_head = false;  // dense, activation and norm before the unembedding
    bool head_dense_bias = true, head_bias = true,
         logits_bias = false;  // the dense layer's; the unembedding's, in masked heads and elsewhere
    Activation head_activation = Activation::gelu;
    bool tied_unembedding = true;
    int start_id = 0, end_id = -1, mask_id = -1,
        pad_id = -1;  // what a decoder starts from and ends with; [MASK]; what fills a batch
    GenerationConfig generation;
    VisionConfig vision;
    bool decodes_matrices =
        false;  // matrices in 16 bits are decoded when the model opens, because they are stored [in, out]

    /// What q·k is multiplied by in a layer.
    float score_scale(const StackConfig& stack, int layer) const;
    const StackConfig& decoder() const { return stacks.back(); }
    bool projects_embedding() const { return embed_project || d_embed != d_model; }
    bool project_positions() const { return d_model_positions && projects_embedding(); }
    int layers() const;
    /// Attention blocks in all, and the i-th of them.
    int blocks() const;
    AttentionBlock block(int index) const;
    /// Query heads, key/value heads and the width of a head in the i-th block; the most query heads that a
    /// block has.
    int heads(int block) const { return stack_of(block).heads; }
    int kv_heads(int block) const { return stack_of(block).kv_heads; }
    int d_head(int block) const { return stack_of(block).d_head; }
    int max_heads() const;
    /// Heads of all blocks, numbered through block by block: how many, the number of one, and the one with a
    /// number.
    int head_count() const { return static_cast<int>(head_index(blocks(), 0)); }
    size_t head_index(int block, int head) const;
    AttentionHead head_at(size_t index) const;
    bool has_head(AttentionHead h) const {
        return h.block >= 0 && h.block < blocks() && h.head >= 0 && h.head < heads(h.block);
    }
    /// The blocks of one layer in the order in which the residual stream meets them: self-attention, then
    /// cross.
    std::vector<int> blocks_of(int stack, int layer) const;
    /// The rotary embedding of a layer.
    const Rope& rope_of(const StackConfig& stack, int layer) const {
        return stack.window(layer) && local_rope.dims ? local_rope : rope;
    }

private:
    const StackConfig& stack_of(int block) const {
        return block < stacks.front().layers ? stacks.front() : stacks.back();
    }
};

/// "4", or "2 / 4" where encoder and decoder differ: a number of each stack, as people read it.
std::string per_stack(const ModelConfig& config, int StackConfig::*number);

/// "0", or "encoder 0", "decoder 0", "cross 0": how people call an attention block.
std::string block_name(const ModelConfig& config, int block);
/// The same as options and tables spell it: "0", "encoder.0", "cross.0".
std::string block_path(const ModelConfig& config, int block);
/// "3.5", "encoder.0.2", "cross.0.2" (a layer's number alone is the decoder's): a head that exists; `option`
/// is what the error asks to correct.
Result<AttentionHead> parse_head(const ModelConfig& config, const std::string& text,
                                 const std::string& option);

/// "0.3", "cross 0.3": how people call a head.
std::string head_name(const ModelConfig& config, int block, int head);
inline std::string head_name(const ModelConfig& config, AttentionHead h) {
    return head_name(config, h.block, h.head);
}
/// "0.3", "cross.0.3": how options and tables spell it.
std::string head_path(const ModelConfig& config, int block, int head);
inline std::string head_path(const ModelConfig& config, AttentionHead h) {
    return head_path(config, h.block, h.head);
}

/// Reads config.json of a Hugging Face folder, and preprocessor_config.json where the model reads pictures.
Result<ModelConfig> read_config(const std::filesystem::path& folder);

/// The same from text; `name` is what messages call it. For tests and fuzzing.
Result<ModelConfig> parse_config(const Json& root, const std::string& name);

/// How a model's texts begin and end and what they never hold; entries that are missing keep what `rules`
/// has. `root` is a generation_config.json, or the config.json of older folders.
Status parse_generation_config(const Json& root, const std::string& name, GenerationConfig& rules);

/// Mean, deviation and rescaling of pictures from the text of a preprocessor_config.json.
Status parse_preprocessor(const Json& root, const std::string& name, VisionConfig& vision);

}  // namespace headlight

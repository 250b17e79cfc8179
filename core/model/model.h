// Shows the whole design on one page: what a model is (config), what it has learned (weights), what one pass
// computes (activations), and the model that owns the first two. Shapes stand beside every tensor; n: tokens.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/rows.h"
#include "base/threads.h"
#include "io/image.h"
#include "model/interventions/given_rows.h"
#include "model/linear.h"
#include "model/loading/packed.h"
#include "model/loading/weights.h"
#include "model/rope.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

struct AttentionRule;  // model/attention.h
struct LayerRules;

// ---- Configuration
enum class ModelKind { decoder, encoder, encoder_decoder, vision };
enum class NormKind { layer_norm, rms_norm };
/// pre-norm: norm(x) enters a block; post-norm: norm(x + block(x)) leaves it.
enum class NormPlace { before, after };
enum class Activation { gelu, gelu_tanh, relu, silu, quick_gelu };  // model/activation.h
/// Says how a model encodes positions: a vector added to each token (learned, sinusoidal), a rotation of q
/// and k (rotary), or a bias added to each score (alibi, relative: T5's buckets).
enum class PositionScheme { none, learned, sinusoidal, rotary, alibi, relative };  // model/position_scheme.h

/// Says what a model can do, from its kind. Whether it predicts depends on its weights: Model::has_logits.
struct Capabilities {
    bool operator==(const Capabilities&) const = default;
    bool continue_text = false;  // decoders continue a text
    bool fill_masks = false;     // encoders predict at their mask tokens,
    bool read_pair = false;      // and read two sentences
    bool write_target = false;   // encoder–decoders read one text and write another
    bool read_image = false;     // vision models read patches instead of tokens
    static Capabilities of(ModelKind kind);
};

/// Describes a stack: consecutive layers over one sequence. Layers and heads are numbered from 0.
struct StackConfig {
    bool operator==(const StackConfig&) const = default;
    std::string name = "blocks";  // in trace files: blocks, encoder, decoder
    int layers = 0, d_mlp = 0;
    int heads = 1, kv_heads = 1, d_head = 1;  // of each attention block, cross too; fewer kv_heads are shared
    int vocab = 0;                            // of the ids it reads; 0: none (patches)
    bool skip_first_attn_norm = false;  // layer 0 attends to the output of the embeddings' norm (ModernBERT)
    int layer_groups = 0;               // ALBERT: number of groups of layers that share weights; 0: none
    bool causal = true;                 // the model's own mask: a query sees no later key
    bool cross = false;                 // each layer also attends to the previous stack
    std::vector<int> windows;  // per layer, or empty: a query sees keys less than this far back; 0: all

    int window(int layer) const { return windows.empty() ? 0 : windows[layer]; }
};

/// Says what an attention block reads: its own stack (blocks, encoder, decoder), or the encoder (cross).
enum class AttentionKind { blocks, encoder, decoder, cross };

/// Identifies one attention block. Blocks are numbered 0, 1, … through encoder, decoder and cross.
struct AttentionBlock {
    AttentionKind kind = AttentionKind::blocks;
    int stack = 0, layer = 0;
    int key_stack() const { return kind == AttentionKind::cross ? stack - 1 : stack; }
};

/// Identifies a head by its attention block and its number there, from 0.
struct AttentionHead {
    int block = 0, head = 0;
    auto operator<=>(const AttentionHead&) const = default;
};

/// Describes T5's buckets of relative positions (Raffel et al. 2020).
struct RelativeBuckets {
    bool operator==(const RelativeBuckets&) const = default;
    int count = 0, max_distance = 128;
};

/// Describes how an image becomes patches (Dosovitskiy et al. 2021).
struct VisionConfig {
    bool operator==(const VisionConfig&) const = default;
    int image = 0, patch = 0, channels = 3;
    std::array<float, 3> mean{0.5f, 0.5f, 0.5f}, deviation{0.5f, 0.5f, 0.5f};  // of values 0 … 1
    float rescale = 1.0f / 255;
    Resampling resampling = Resampling::bilinear;
    std::vector<std::string> labels;
    int patches() const { return patch ? (image / patch) * (image / patch) : 0; }
};

/// Holds the constraints on generation of generation_config.json.
struct GenerationConfig {
    bool operator==(const GenerationConfig&) const = default;
    std::vector<int> eos_token_ids;    // tokens that end a text
    std::vector<int> suppress_tokens;  // tokens that are never written
    int forced_bos_token_id = -1;      // a decoder's first token after its start token; −1: any
};

/// Holds the values of config.json. Widths count floats.
struct ModelConfig {
    bool operator==(const ModelConfig&) const = default;
    std::string family;       // the row of families.h, "gpt2"
    std::string family_name;  // for users, "GPT-2"
    ModelKind kind = ModelKind::decoder;
    Capabilities can = Capabilities::of(ModelKind::decoder);  // from the kind
    std::vector<StackConfig> stacks{StackConfig{}};
    int d_model = 0, d_embed = 0;
    int vocab = 0, context = 0;  // columns of the logits; maximum tokens of one sequence

    NormKind norm = NormKind::layer_norm;
    NormPlace norm_place = NormPlace::before;
    float norm_eps = 1e-5f;
    bool final_norm = true, embed_norm = false;
    bool post_norm = false;        // norm on a block's output before it is added (Gemma 2)
    float norm_weight_offset = 0;  // added to a norm's stored weight (Gemma: 1)
    bool parallel = false;         // attention and MLP read the same residual stream
    bool shared_norm = false;      // … through one norm (Phi)

    Activation activation = Activation::gelu_tanh;
    bool gated = false;  // MLP: act(gate x) · (in x)
    bool attention_bias = true, output_bias = true, mlp_bias = true, norm_bias = true;
    bool qk_norm = false;  // normalizes q and k per head before the product

    float embed_scale = 1;
    bool embed_project = false;      // projects the embeddings even if the widths agree
    bool d_model_positions = false;  // positions are d_model wide and added after that projection (OPT)
    bool shared_embedding = true;    // encoder and decoder read one table
    PositionScheme positions = PositionScheme::none;
    int position_offset = 0;  // learned: position p reads row p + offset of the table
    int position_pad = -1;    // RoBERTa: padding ids take no position; −1: none
    int token_types = 0;
    Rope rope, local_rope;  // local_rope: of layers with a window, if it differs
    RelativeBuckets buckets;
    float scale = 0;                     // of q·k; 0: 1/√d_head
    bool scale_by_layer = false;         // also divides by layer + 1
    float score_cap = 0, logit_cap = 0;  // x → cap · tanh(x / cap); 0: none
    float logit_scale = 1;

    bool mlm_head = false;                          // dense, activation and norm before the unembedding
    bool head_dense_bias = true, head_bias = true;  // of the MLM head: of its dense layer, of its unembedding
    bool logits_bias = false;                       // of the unembedding in other models
    Activation head_activation = Activation::gelu;
    bool tied_unembedding = true;
    int start_id = 0, end_id = -1;  // start and end tokens of a decoder
    int mask_id = -1, pad_id = -1;  // [MASK]; padding
    std::string quantized;  // quantization of the stored weights, if they cannot be read: "gptq, 4 bits"
    GenerationConfig generation;
    VisionConfig vision;

    /// Returns the factor of q·k in a layer.
    float score_scale(const StackConfig& stack, int layer) const;
    const StackConfig& decoder() const { return stacks.back(); }
    bool projects_embedding() const { return embed_project || d_embed != d_model; }
    bool project_positions() const { return d_model_positions && projects_embedding(); }
    int layers() const;
    /// Returns the number of attention blocks, and the i-th of them.
    int blocks() const;
    AttentionBlock block(int index) const;
    /// Return query heads, key/value heads and d_head of the i-th block, and the maximum of any block.
    int heads(int block) const { return stack_of(block).heads; }
    int kv_heads(int block) const { return stack_of(block).kv_heads; }
    int d_head(int block) const { return stack_of(block).d_head; }
    int max_heads() const;
    /// Numbers the heads of all blocks, block by block (PerHead, model/heads.h).
    int head_count() const { return head_index({blocks(), 0}); }
    int head_index(AttentionHead head) const;
    AttentionHead head_at(int index) const;
    bool has_head(AttentionHead h) const {
        return h.block >= 0 && h.block < blocks() && h.head >= 0 && h.head < heads(h.block);
    }
    /// Returns the blocks of one layer in the order of the residual stream: self, then cross.
    std::vector<int> blocks_of(int stack, int layer) const;
    /// Returns the rotary embedding of a layer.
    const Rope& rope_of(const StackConfig& stack, int layer) const {
        return stack.window(layer) && local_rope.dims ? local_rope : rope;
    }

private:
    const StackConfig& stack_of(int block) const {
        return block < stacks.front().layers ? stacks.front() : stacks.back();
    }
};

// ---- Weights: pointers into the store
/// Absent (weight null) means that nothing is normalized there.
struct Norm {
    const float* weight = nullptr;  // [d]
    const float* bias = nullptr;    // [d], or null
    explicit operator bool() const { return weight != nullptr; }
};

struct AttentionWeights {
    Norm norm;            // [d_model]; pre-norm: on the block's input; post-norm: on x + block(x)
    Norm q_norm, k_norm;  // [d_head], per head
    Norm post_norm;       // [d_model], on the block's output before it is added
    Linear q;             // d_model → heads · d_head
    Linear k, v;          // d_model → kv_heads · d_head
    Linear o;             // heads · d_head → d_model
};

struct LayerWeights {
    AttentionWeights self, cross;
    Norm mlp_norm, mlp_post_norm;  // [d_model]
    Linear mlp_gate, mlp_in;       // d_model → d_mlp
    Linear mlp_out;                // d_mlp → d_model
};

struct StackWeights {
    Linear token_embedding;     // [vocab, d_embed]
    Linear position_embedding;  // [rows, d_embed or d_model]
    Linear type_embedding;      // [token types, d_embed]
    Norm embed_norm;            // [d_embed]
    Linear embed_project;       // d_embed → d_model
    std::vector<LayerWeights> layers;
    Norm final_norm;                       // [d_model]
    const float* relative_bias = nullptr;  // [buckets, heads]
};

struct ModelWeights {
    std::vector<StackWeights> stacks;
    Linear head_dense;                   // d_model → width of the unembedding
    Norm head_norm;                      // [width of the unembedding]
    Linear unembedding;                  // d_model or d_embed → vocab; absent: no logits
    Linear patch;                        // channels · patch · patch → d_model
    const float* class_token = nullptr;  // [d_model]
};

// ---- Activations: everything that grows linearly with n, in rows that passes share
/// Keeps q, k and v of one attention block. Patterns (n²) are recomputed from q and k on request, z and the
/// block's output from patterns and v.
struct AttentionActivations {
    std::shared_ptr<const AttentionRule> rule;
    Rows q;     // [n, heads · d_head], after norm and rotation
    Rows k, v;  // [keys, kv_heads · d_head]
};

struct LayerActivations {
    Rows resid_pre;         // [n, d_model], as the layer reads it, patched rows included
    ReplacedRows replaced;  // rows of resid_pre as computed, where the user replaced them
    AttentionActivations self, cross;
    LayerChanges changed;
    Rows entering() const;  // [n, d_model]: the previous layer's output, or the embeddings
    Eigen::Map<const Eigen::RowVectorXf> entering_row(Index row) const;
    LayerRules rules() const;
};

struct StackActivations {
    std::vector<std::shared_ptr<const LayerActivations>>
        layers;        // shared with passes that differ only in later layers
    Rows resid_final;  // [n, d_model], resid_post of the last layer
    Rows normalized;   // [n, d_model], after the final norm; resid_final if there is none
};

struct Activations {
    std::vector<std::shared_ptr<const StackActivations>> stacks;
};

// ---- The model: immutable once open, shared between threads
/// Reports the current step of opening to the window.
struct OpeningProgress {
    std::atomic<const char*> step{"reading the configuration"};
};

struct Model {
    std::string name;  // for users: the folder's name
    std::filesystem::path path;
    ModelConfig config;
    WeightStore store;  // owns what `weights` points to
    ModelWeights weights;
    /// Holds packed copies of `weights`, made after the first pass; null: a model without weights.
    std::unique_ptr<PackedWeights> packed;
    Result<std::shared_ptr<const Tokenizer>> tokenizer = Error{"No tokenizer was opened."};
    Result<std::shared_ptr<const Tokenizer>> separate_target = Error{""};  // Marian's, for the target

    /// Opens a Hugging Face folder (or a sentence-transformers folder) or a GGUF file; hub/library.h finds
    /// them by name. A missing or broken tokenizer is not an error yet: ids work without one. Reads `cancel`
    /// between steps. `name`: shown to users, if it is not the folder's or file's name.
    static Result<std::shared_ptr<const Model>> open(const std::filesystem::path& path,
                                                     const CancelFlag* cancel = nullptr,
                                                     OpeningProgress* progress = nullptr,
                                                     const std::string& name = "");

    /// Returns the tokenizer of the decoder's text; requires `tokenizer`.
    const std::shared_ptr<const Tokenizer>& target_tokenizer() const {
        return separate_target ? *separate_target : *tokenizer;
    }
    /// Returns whether it computes logits; base models and sentence encoders do not.
    bool has_logits() const { return static_cast<bool>(weights.unembedding); }
};

/// Open the configuration alone, or the tokenizer alone: of a folder that may hold nothing else, or of a GGUF
/// file; a configuration also of a single .json file.
Result<ModelConfig> open_config(const std::filesystem::path& path);
Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const std::filesystem::path& path);

}  // namespace headlight

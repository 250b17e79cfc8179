// Says what a model is: stacks of layers, each described by itself. Nothing here computes.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/cast.h"
#include "io/image.h"
#include "model/attention_spec.h"
#include "model/mlp_spec.h"
#include "model/quantization.h"

namespace headlight {

enum class ModelKind { decoder, encoder, encoder_decoder, vision };
enum class NormKind { layer_norm, rms_norm };
/// Says where the norms of a layer's blocks stand. before: x + block(norm(x)), pre-norm. after: norm(x +
/// block(x)), post-norm. output: x + norm(block(x)) (OLMo 2). both: x + norm(block(norm(x))) (Gemma 2).
enum class NormPlace { before, after, output, both };
/// Says how a model encodes positions: a vector added to each token (learned, sinusoidal), a rotation of q
/// and k (rotary), a bias added to each score (alibi, relative: T5's buckets), or products of q and k with
/// vectors of their distance (disentangled). model/position_scheme.h
enum class PositionScheme { none, learned, sinusoidal, rotary, alibi, relative, disentangled };

/// Says what a model can do, from its kind. Whether it predicts depends on its weights: Model::has_logits.
struct Capabilities {
    bool operator==(const Capabilities&) const = default;
    bool continue_text = false;  // decoders continue a text
    bool fill_masks = false;     // encoders predict at their mask tokens,
    bool read_pair = false;      // and read two sentences
    bool write_target = false;   // encoder–decoders read one text and write another
    bool read_image = false;     // vision models read patches instead of tokens,
    bool add_image = false;      // and vision–language models beside them (elsewhere alone: Model::engine)
    static Capabilities of(ModelKind kind);
};

/// Describes a convolution along the text beside a layer (model/convolution.h).
struct ConvolutionSpec {
    bool operator==(const ConvolutionSpec&) const = default;
    int kernel = 3, groups = 1;  // odd; each group of outputs reads a group of inputs
    Activation activation = Activation::gelu;
};

/// Describes vectors that a layer alone reads of each token (model/layer_embedding.h).
struct LayerEmbeddingSpec {
    bool operator==(const LayerEmbeddingSpec&) const = default;
    int width = 1, vocab = 1;  // vocab: rows of their table
    Activation activation = Activation::gelu_tanh;
};

/// Describes streams that a stack carries side by side (AltUp; model/streams.h): its layers read and write
/// one of them, and the others follow.
struct StreamsSpec {
    bool operator==(const StreamsSpec&) const = default;
    int count = 4, active = 0;  // active: the one that layers read and write
    bool scaled = true;         // embeddings of layers read it times learned numbers
};

/// Describes one layer: attention, a second block if it has one, then the MLP, each added to the residual
/// stream.
struct LayerSpec {
    bool operator==(const LayerSpec&) const = default;
    AttentionSpec attention;
    /// Attention to the stack's source, which reads what attention left; in a stack without a source a mixer
    /// that reads what attention reads (Falcon-H1).
    std::optional<AttentionSpec> second;
    MlpSpec mlp;
    NormPlace norms = NormPlace::before;
    bool parallel = false;         // attention and MLP read the same residual stream
    bool shared_norm = false;      // … through one norm (Phi)
    bool mlp_output_norm = false;  // what the MLP alone adds is normed too (A.X K1)
    float residual_scale = 1;      // of what attention and MLP add (Granite)
    bool layer_scale = false;      // of each component of what they add, learned (Touvron et al. 2021)
    std::optional<ConvolutionSpec> convolution;   // of the layer's input, added to its output and normed
    std::optional<LayerEmbeddingSpec> embedding;  // added after the MLP
    bool output_scale = false;                    // the layer's output times a learned number (Gemma 4)
    int laurel_rank = 0;  // of a product beside attention (LAuReL; model/laurel.h); 0: none
    int group = -1;       // layers of one group share their weights (ALBERT); −1: has its own

    bool norms_input() const { return norms == NormPlace::before || norms == NormPlace::both; }
    bool norms_output() const { return norms == NormPlace::output || norms == NormPlace::both; }
    bool norms_mlp_output() const { return norms_output() || mlp_output_norm; }
    bool norms_sum() const { return norms == NormPlace::after; }
};

/// Describes a stack: consecutive layers over one sequence. Layers and heads are numbered from 0.
struct StackConfig {
    bool operator==(const StackConfig&) const = default;
    std::string name = "blocks";  // in trace files: blocks, encoder, decoder
    std::vector<LayerSpec> layers;
    int vocab = 0;                        // of the ids it reads; 0: none (patches)
    bool causal = true;                   // the model's own mask: a query sees no later key
    int source = -1;                      // stack that its cross-attention reads; −1: none
    bool decoder_alone = false;           // its files name it as the decoder of an encoder–decoder
    int context = 0, position_table = 0;  // 0: those of the model (LED's stacks differ)
    /// Numbers of the files' layers that hold each layer's attention and MLP, where they are layers apart
    /// (Nemotron-H); empty: its own.
    std::vector<int> attention_at = {}, mlp_at = {};
    std::vector<int> skipped;   // layers of its files that a text alone passes by (Mllama's read an image)
    bool norms_tokens = false;  // the norm of the embeddings stands before their positions (Blenderbot)
    std::optional<StreamsSpec> streams;  // none: the residual stream alone

    int depth() const { return isize(layers); }
    /// Returns whether a layer has the weights of one before it.
    bool repeats(int l) const {
        return l > 0 && layers[l].group >= 0 && layers[l].group == layers[l - 1].group;
    }
    int max_heads() const;
    bool cross() const { return source >= 0; }
    /// Returns whether its layers have a mixer beside attention.
    bool beside() const { return !cross() && !layers.empty() && layers[0].second; }
};

/// Describes a table whose row 0, times `times`, is added to the embedding of every token: tasks of ERNIE,
/// boxes on a page (LayoutLM), columns and rows of a table (TAPAS), as texts without them have.
struct AddedTable {
    bool operator==(const AddedTable&) const = default;
    int rows = 0, times = 1;
};

/// Describes a table whose row 0 is joined to every embedding before its projection: shapes and sounds of
/// characters (RoCBERT), as texts without them have.
struct JoinedTable {
    bool operator==(const JoinedTable&) const = default;
    int rows = 0, width = 0;
};

/// Says what an attention block reads: its own stack (blocks, encoder, decoder; beside: the same rows as the
/// layer's attention), or the encoder (cross).
enum class AttentionKind { blocks, encoder, decoder, cross, beside };

/// Identifies one attention block. Blocks are numbered 0, 1, … through encoder, decoder and cross, or through
/// attention and the mixers beside it.
struct AttentionBlock {
    AttentionKind kind = AttentionKind::blocks;
    int stack = 0, layer = 0;
    int key_stack = 0;  // stack of its keys and values
    bool operator==(const AttentionBlock&) const = default;
    /// Returns whether it is its layer's second block (LayerSpec::second).
    bool is_second() const { return kind == AttentionKind::cross || kind == AttentionKind::beside; }
};

/// Identifies a head by its attention block and its number there, from 0.
struct AttentionHead {
    int block = 0, head = 0;
    auto operator<=>(const AttentionHead&) const = default;
};

/// Numbers the attention blocks of stacks, and the heads of all blocks, block by block.
class BlockTable {
public:
    BlockTable() = default;
    explicit BlockTable(const std::vector<StackConfig>& stacks);
    bool operator==(const BlockTable&) const = default;

    int size() const { return isize(blocks_); }
    const AttentionBlock& operator[](int block) const;
    int head_count() const { return first_.empty() ? 0 : first_.back(); }
    int heads(int block) const { return first_[block + 1] - first_[block]; }
    /// Return a head's number among those of all blocks, and back.
    int index(AttentionHead head) const;
    AttentionHead head(int index) const;
    /// Returns the blocks of one layer: attention, then the second one, if it has one.
    std::vector<int> of_layer(int stack, int layer) const;

private:
    std::vector<AttentionBlock> blocks_;
    std::vector<int> first_;  // number of each block's first head; then of all heads
};

/// Describes ALiBi's slopes (Press et al. 2022): they fall from 2^(−steepness / heads) to 2^(−steepness).
struct Alibi {
    bool operator==(const Alibi&) const = default;
    float steepness = 8;
    float scale = 1;        // of the bias
    bool bfloat16 = false;  // slopes, positions and their products are rounded to bfloat16 (Falcon)
};

/// Describes T5's buckets of relative positions (Raffel et al. 2020).
struct RelativeBuckets {
    bool operator==(const RelativeBuckets&) const = default;
    int count = 0, max_distance = 128;
    bool of_each_layer = false;  // layers have tables of their own (UMT5)
};

/// Describes how an image becomes patches (Dosovitskiy et al. 2021).
struct VisionConfig {
    bool operator==(const VisionConfig&) const = default;
    int image = 0, patch = 0, channels = 3;
    int registers = 0;  // tokens between the class token and the patches (Darcet et al. 2024)
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
    BlockTable block_table;  // of `stacks`, made by number_blocks()
    int d_model = 0, d_embed = 0;
    int vocab = 0, context = 0;  // columns of the logits; maximum tokens of one sequence

    NormKind norm = NormKind::layer_norm;
    float norm_eps = 1e-5f;
    float norm_weight_offset = 0;               // added to a norm's stored weight (Gemma: 1)
    bool norm_weight = true, norm_bias = true;  // false: a norm without them
    bool final_norm = true, embed_norm = false;
    bool final_norm_bias = true;  // if norms have one

    float embed_scale = 1;
    int dropped_id = -1;  // ESM: this token's embedding is 0, and the others make up for it; −1: none
    bool embed_project = false;      // projects the embeddings even if the widths agree
    bool d_model_positions = false;  // positions are d_model wide and added after that projection (OPT)
    bool norm_projected = false;     // their norm follows the projection, which has no bias (DeBERTa)
    bool shared_embedding = true;    // encoder and decoder read one table
    PositionScheme positions = PositionScheme::none;
    int position_offset = 0;         // position p reads row p + offset of the table, or of the sinusoids
    int position_table = 0;          // learned: rows of the table; 0: context + offset
    int position_pad = -1;           // RoBERTa: padding ids take no position; −1: none
    bool waves_stored = false;       // files may hold the sinusoids as a table, which then counts (FSMT)
    bool waves_end_at_base = false;  // sinusoidal: the slowest turns by 1 / 10000 (fairseq)
    int token_types = 0;
    std::vector<AddedTable> added_tables;
    std::vector<JoinedTable> joined_tables;
    Alibi alibi;
    RelativeBuckets buckets;
    float logit_cap = 0;  // logit → cap · tanh(logit / cap); 0: none
    float logit_scale = 1;

    bool mlm_head = false;                          // dense, activation and norm before the unembedding
    bool head_dense_bias = true, head_bias = true;  // of the MLM head: of its dense layer, of its unembedding
    bool logits_bias = false;                       // of the unembedding in other models
    bool plain_head = false;                        // an encoder's unembedding without such a head (EuroBERT)
    int d_unembed = 0;  // width that the unembedding reads, if it is neither d_model nor d_embed
    Activation head_activation = Activation::gelu;
    bool tied_unembedding = true;
    int start_id = 0, end_id = -1;  // start and end tokens of a decoder
    int mask_id = -1, pad_id = -1;  // [MASK]; padding
    Quantization quantization;      // of the stored weights
    GenerationConfig generation;
    VisionConfig vision;

    /// Numbers the blocks; to call once `stacks` is complete.
    void number_blocks() { block_table = BlockTable(stacks); }
    const StackConfig& decoder() const { return stacks.back(); }
    bool projects_embedding() const { return embed_project || d_embed != d_model; }
    int position_rows(const StackConfig& s) const {
        return s.position_table ? s.position_table
               : position_table ? position_table
                                : context_of(s) + position_offset;
    }
    /// Returns the maximum tokens that a stack reads.
    int context_of(const StackConfig& s) const { return s.context ? s.context : context; }
    int embed_norm_width() const { return norm_projected ? d_model : d_embed; }
    /// Returns whether it may predict: base models and encoders alone do not.
    bool predicts() const { return !can.fill_masks || mlm_head || plain_head; }
    int unembedding_width() const {
        return d_unembed ? d_unembed : mlm_head || project_positions() ? d_embed : d_model;
    }
    bool project_positions() const { return d_model_positions && projects_embedding(); }
    int layers() const;
    /// Returns the number of attention blocks, the i-th of them, and those of one layer: attention, then the
    /// second one.
    int blocks() const { return block_table.size(); }
    const AttentionBlock& block(int index) const { return block_table[index]; }
    std::vector<int> blocks_of(int stack, int layer) const { return block_table.of_layer(stack, layer); }
    /// Return the layer of a block, and the attention that it computes.
    const LayerSpec& layer_of(int block) const {
        return stacks[block_table[block].stack].layers[block_table[block].layer];
    }
    const AttentionSpec& attention(int block) const;
    /// Returns the block whose input makes this one's keys and values: itself, or that of its source.
    int key_block(int block) const;
    /// Return query heads, key/value heads and the widths of q and k and of v and z of a block's heads, and
    /// the maximum of heads of any block.
    int heads(int block) const { return attention(block).heads; }
    int kv_heads(int block) const { return attention(block).kv_heads; }
    int d_head(int block) const { return attention(block).d_head; }
    int d_value(int block) const { return attention(block).value_width(); }
    int max_heads() const;
    /// Counts the products of one token with the matrices of the first `layers` layers of a stack.
    double products(int stack, int layers) const;
    /// Returns whether a norm stands in the residual stream itself (post-norm), so that parts of it do not
    /// add up to the logits.
    bool norms_sums() const;
    /// Returns whether streams run beside the one that layers read (StreamsSpec), so that what is added to
    /// that one is not what remains of it.
    bool has_streams() const;
    int head_count() const { return block_table.head_count(); }
    int head_index(AttentionHead head) const { return block_table.index(head); }
    AttentionHead head_at(int index) const { return block_table.head(index); }
    bool has_head(AttentionHead h) const {
        return h.block >= 0 && h.block < blocks() && h.head >= 0 && h.head < heads(h.block);
    }
    /// Returns whether angles of rotation change as a text grows to this many tokens (dynamic scaling).
    bool positions_depend_on_length(int tokens) const;
};

}  // namespace headlight

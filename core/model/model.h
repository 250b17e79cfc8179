// Shows the design on one page: what a model has learned (weights), what one pass computes (activations), and
// the model that owns the first and its configuration (config.h). Shapes stand beside every tensor; n:
// tokens.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/rows.h"
#include "base/threads.h"
#include "model/config.h"
#include "model/interventions/given_rows.h"
#include "model/linear.h"
#include "model/loading/adapter.h"
#include "model/loading/packed.h"
#include "model/loading/weights.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

struct AttentionRule;  // model/attention.h
class Engine;          // model/engine.h
struct ChatTemplates;  // chat/files.h
struct LayerRules;

// ---- Weights: pointers into the store
/// Absent (weight null) means that nothing is normalized there.
struct Norm {
    const float* weight = nullptr;  // [d]
    const float* bias = nullptr;    // [d], or null
    float eps = 0;                  // 0: the model's
    explicit operator bool() const { return weight != nullptr; }
};

/// Holds what latent attention reads with in place of k and v; q then goes from q_rank, if there is one.
struct LatentWeights {
    Linear q_down;   // d_model → q_rank
    Norm q_norm;     // [q_rank]
    Linear kv_down;  // d_model → kv_rank + d_shared
    Norm kv_norm;    // [kv_rank]
    Linear kv_up;    // kv_rank → heads · (own components of k, then v)
};

/// Holds what a recurrence reads beside q, k and v (model/mixers/recurrence.h); channels: of q, k and v as
/// projected.
struct RecurrenceWeights {
    Linear decay;     // d_model → heads, before its softplus; selective: step_rank → heads
    Linear strength;  // d_model → heads, before σ; absent in a state space
    Linear states;    // selective: heads → step_rank + 2 · d_head, the row of Δ, k and q
    Norm step_norm, key_norm,
        query_norm;                      // [step_rank], [d_head], [d_head], of these (RecurrenceSpec::norms)
    const float* decay_rate = nullptr;   // [heads], the rate; selective: [heads · d_head]
    const float* step_bias = nullptr;    // [heads], of decay
    const float* skip = nullptr;         // [heads], D of a state space
    const float* kernel = nullptr;       // [channels, kernel]: of q, k, v; of a state space v, k, q
    const float* kernel_bias = nullptr;  // [channels]
};

struct AttentionWeights {
    Norm norm;            // [d_model]; pre-norm: on the block's input; post-norm: on x + block(x)
    Norm q_norm, k_norm;  // [d_head], or [heads · d_head] (QkNorm)
    Norm v_norm;          // [d_value], of each head's v
    Norm post_norm;       // [d_model], on the block's output before it is added
    Linear q;             // d_model → heads · d_head
    Linear k;             // d_model → kv_heads · d_head; of AttentionSpec::source, if it has one
    Linear v;             // d_model → kv_heads · d_value; likewise; k, if keys are values
    Linear o;             // heads · d_value → d_model
    Linear gate;          // d_model → heads, or heads · d_value (AttentionGate)
    const float* gate_norm = nullptr;  // of z: [heads · d_value], or [width of a part]
    const float* sinks = nullptr;      // [heads]
    RecurrenceWeights recurrence;
    LatentWeights latent;
    // Of disentangled attention: projections of a distance's vector, d_model → heads · d_head; and all of
    // them projected, Kr and Qr [2 · span, heads · d_head], made when the model opens
    Linear relative_key, relative_query;
    Rows relative_keys, relative_queries;
};

struct ExpertWeights {
    Linear gate, in;  // d_model → width; alternating: in, of 2 · width, holds both
    Linear out;       // width → d_model
};

/// Points to what readers of a layer's rows multiply them by, if they differ (ExpertsSpec::apart), and to the
/// norms of what they add.
struct ApartWeights {
    const float *shared_reads = nullptr, *experts_read = nullptr, *router_reads = nullptr;  // [d_model]
    Norm shared_norm, experts_norm;                                                         // [d_model]
};

/// Holds what a layer does with its own vectors of tokens (model/layer_embedding.h).
struct LayerEmbeddingWeights {
    Linear gate;  // d_model → width
    Linear out;   // width → d_model
    Norm norm;    // [d_model]
};

/// Holds what moves the streams around a layer (model/streams.h).
struct StreamsWeights {
    Norm router_norm;              // [d_model]
    Linear router;                 // d_model → streams
    Linear predict;                // streams → streams · streams
    Linear correct;                // streams → streams
    const float* scale = nullptr;  // [d_model]
};

/// Holds the product beside a layer's attention (model/laurel.h).
struct LaurelWeights {
    Linear down;  // d_model → rank
    Linear up;    // rank → d_model
    Norm norm;    // [d_model]
};

/// Points to the parameters of xIELU in one layer (model/activation.h); null: another activation.
struct XieluWeights {
    const float *positive = nullptr, *negative = nullptr;  // [1], before softplus
    const float *beta = nullptr, *end = nullptr;           // [1], β and ε
};

struct LayerWeights {
    AttentionWeights self, second;         // LayerSpec::second
    Norm mlp_norm, mlp_post_norm;          // [d_model]
    Linear mlp_gate, mlp_in;               // d_model → d_mlp
    Linear mlp_out;                        // d_mlp → d_model
    const float* relative_bias = nullptr;  // [buckets, heads]; layers may share it
    std::vector<ExpertWeights> experts;
    Linear router;                         // d_model → experts
    const float* router_bias = nullptr;    // [experts], for the choice alone
    const float* expert_scales = nullptr;  // [experts], of their weights
    ApartWeights apart;
    Linear shared_gate;  // d_model → 1
    XieluWeights xielu;
    Linear convolution;     // kernel · d_model → d_model, of the rows around each
    Norm convolution_norm;  // [d_model]
    LayerEmbeddingWeights embedding;
    StreamsWeights streams;
    LaurelWeights laurel;
    const float* output_scale = nullptr;  // [1]
    float scale() const { return output_scale ? *output_scale : 1; }
};

struct StackWeights {
    Linear token_embedding;     // [vocab, d_embed]
    Linear position_embedding;  // [rows, d_embed or d_model]
    Linear type_embedding;      // [token types, d_embed]
    Norm embed_norm;            // [d_embed], or [d_model] behind the projection
    Linear relative_embedding;  // [2 · span, d_model]: of distances (DisentangledSpec)
    Norm relative_norm;         // [d_model], of that table
    Linear embed_project;       // d_embed → d_model
    Linear layer_table;         // [vocab, layers · width]: vectors of each layer (LayerEmbeddingSpec)
    Linear layer_project;       // d_model → layers · width
    Norm layer_project_norm;    // [width]
    Linear streams_enter;       // d_model → (streams − 1) · d_model, of the embeddings
    Linear streams_leave;       // likewise; its part of a stream reads that stream
    std::vector<LayerWeights> layers;
    Norm final_norm;  // [d_model]
};

struct ModelWeights {
    std::vector<StackWeights> stacks;
    Linear head_dense;                   // d_model → width of the unembedding
    Norm head_norm;                      // [width of the unembedding]
    Linear unembedding;                  // d_model or d_embed → vocab; absent: no logits
    Linear patch;                        // channels · patch · patch → d_model
    const float* class_token = nullptr;  // [d_model]
    const float* registers = nullptr;    // [registers, d_model]
    Linear contact;                      // heads of all blocks → 1: ESM's contact head
};

// ---- Activations: everything that grows linearly with n, in rows that passes share
/// Keeps q, k and v of one attention block. Patterns (n²) are recomputed from q and k on request, z and the
/// block's output from patterns and v.
struct AttentionActivations {
    std::shared_ptr<const AttentionRule> rule;
    Rows q;     // [n, heads · d_head], after norm and rotation
    Rows k;     // [keys, kv_heads · d_head]; of a recurrence each key with its rates (model/mixers/mixing.h)
    Rows v;     // [keys, kv_heads · d_value]
    Rows gate;  // [n, heads or heads · d_value], scores of z's gate (model/mixers/attention_gate.h); empty:
                // none
    Rows out;   // [n, d_model], what the block adds, of a pass elsewhere (Model::engine); empty: to compute
};

struct LayerActivations {
    Rows resid_pre;         // [n, d_model], as the layer reads it, patched rows included
    ReplacedRows replaced;  // rows of resid_pre as computed, where the user replaced them
    Rows streams;           // [n, streams · d_model], as they enter the layer; empty: resid_pre alone does
    AttentionActivations self, second;
    Rows mlp_out;  // [n, d_model], what the MLP adds, of a pass elsewhere; empty: to compute
    LayerChanges changed;
    Rows entering() const;  // [n, d_model]: the previous layer's output, or the embeddings; of streams the
                            // active one, as predicted
    Eigen::Map<const Eigen::RowVectorXf> entering_row(Index row) const;
    LayerRules rules() const;
};

struct StackActivations {
    std::vector<std::shared_ptr<const LayerActivations>>
        layers;             // shared with passes that differ only in later layers
    Rows streams;           // [n, streams · d_model], as the last layer leaves them; empty: one stream
    Rows resid_final;       // [n, d_model], resid_post of the last layer; of streams their mean
    Rows normalized;        // [n, d_model], after the final norm; resid_final if there is none, and of passes
                            // elsewhere, where the norm is a part of the unembedding
    Rows layer_embeddings;  // [n, layers · width], what each layer reads of its own; empty: nothing
    /// [n, d_model]: the embeddings of tokens, with their positions.
    Rows embeddings() const;
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
    std::string name;       // for users: the folder's name, and the adapter's
    std::string base_name;  // without the latter
    std::filesystem::path path;
    ModelConfig config;
    std::shared_ptr<WeightStore> store = std::make_shared<WeightStore>();  // owns what `weights` points to
    ModelWeights weights;
    /// Holds packed copies of `weights`, made after the first pass; null: a model without weights.
    std::shared_ptr<PackedWeights> packed;
    std::shared_ptr<const Adapter> adapter;  // what is added to matrices of `weights`; null: nothing
    std::shared_ptr<Engine> engine;  // computes where the weights are; null: they are here, or nowhere
    Result<std::shared_ptr<const Tokenizer>> tokenizer = Error{"No tokenizer was opened."};
    Result<std::shared_ptr<const Tokenizer>> separate_target = Error{""};  // Marian's, for the target

    Result<std::shared_ptr<const ChatTemplates>> chat = Error{"No tokenizer was opened."};  // may have none

    /// Opens a Hugging Face folder (or a sentence-transformers folder) or a GGUF file; hub/library.h finds
    /// them by name. A missing or broken tokenizer is not an error yet: ids work without one. Reads `cancel`
    /// between steps. `name`: shown to users, if it is not the folder's or file's name. `adapter`: added to
    /// its matrices.
    static Result<std::shared_ptr<const Model>> open(const std::filesystem::path& path,
                                                     const CancelFlag* cancel = nullptr,
                                                     OpeningProgress* progress = nullptr,
                                                     const std::string& name = "",
                                                     std::shared_ptr<Adapter> adapter = nullptr);

    /// Returns the same model with its adapter at another strength; requires `adapter`. Shares everything
    /// else.
    Result<std::shared_ptr<const Model>> at_strength(float strength) const;

    /// Returns the tokenizer of the decoder's text; requires `tokenizer`.
    const std::shared_ptr<const Tokenizer>& target_tokenizer() const {
        return separate_target ? *separate_target : *tokenizer;
    }
    /// Returns whether it computes logits; base models and sentence encoders do not.
    bool has_logits() const { return logit_count() > 0; }
    /// Counts the logits of one position; 0: it computes none.
    int logit_count() const {
        return weights.unembedding ? narrow<int>(weights.unembedding.out) : engine ? config.vocab : 0;
    }
};

/// Open the configuration alone, or the tokenizer alone: of a folder that may hold nothing else, or of a GGUF
/// file; a configuration also of a single .json file.
Result<ModelConfig> open_config(const std::filesystem::path& path);
Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const std::filesystem::path& path);

}  // namespace headlight

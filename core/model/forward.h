// One forward pass, for every family: what it reads is data in ModelConfig and ModelWeights.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/matrix.h"
#include "base/threads.h"
#include "model/attention.h"
#include "model/change.h"
#include "model/model.h"

namespace headlight {

/// What one stack of layers reads: tokens, or the patches of a picture behind a class token.
struct Sequence {
    std::vector<int> ids;                    // patches: their numbers, from 0 for the class token
    std::vector<std::string> tokens;         // as the vocabulary spells them
    std::vector<int> types;                  // token types; empty: all 0
    std::shared_ptr<const Picture> picture;  // vision models only

    int size() const { return static_cast<int>(ids.size()); }
    bool operator==(const Sequence& o) const { return ids == o.ids && types == o.types && picture == o.picture; }
};

/// What a view can ask of one attention block. Everything grows linearly with n; patterns are computed from q and k, z and
/// what the block adds from patterns and v.
struct AttentionActivations {
    std::shared_ptr<const AttentionRule> rule;
    Matrix q;     // [n, heads · d_head], by query, after norm and rotation
    Matrix k, v;  // [keys, kv_heads · d_head], by key
};

struct LayerActivations {
    Matrix resid_pre;  // [n, d_model]
    AttentionActivations self, cross;
};

struct StackActivations {
    std::vector<std::shared_ptr<const LayerActivations>> layers;  // shared with passes that differ only behind them
    Matrix resid_final;  // [n, d_model], resid_post of the last layer
    Matrix normalized;   // [n, d_model], after the final norm; the same where there is none
};

struct Activations {
    std::vector<std::shared_ptr<const StackActivations>> stacks;
};

/// What a person put in the place of the model's own computation.
struct Intervention {
    Mask mask;
    std::vector<Change> changes;
    bool operator==(const Intervention&) const = default;
    /// Whether a block's attention, or the MLP behind a self-attention block, adds nothing.
    bool skips(ChangeKind kind, int site) const;
};

/// What of an earlier pass holds for this one too.
struct Reuse {
    const Activations* past = nullptr;
    std::vector<int> rows;    // per stack: under a causal mask, rows before the first token that differs; all: it is taken over whole
    std::vector<int> layers;  // per stack, where the tokens are the same: layers before the first change that differs
};

/// Runs the model on one sequence per stack (1 … context tokens each, ids within the vocabulary: the caller has checked).
/// Only rows after those reused are computed. Returns an error only when `cancel` was set; it is read between layers.
Result<Activations> forward(const Model& model, std::span<const Sequence> inputs, const Intervention& intervention, ThreadPool& pool, const CancelFlag* cancel = nullptr,
                            const Reuse& reuse = {});

/// logits[rows, vocab] of rows of the final norm, through the model's head. The model must have one.
Matrix unembed(const Model& model, ConstMatrixRef normalized, ThreadPool& pool);

/// [rows, d_model]: z of some rows through the output matrix; and what the block adds: the same, through the norm behind it
/// where there is one.
Matrix project_out(const AttentionWeights& weights, ConstMatrixRef z, ThreadPool& pool);
Matrix block_output(const ModelConfig& config, const AttentionWeights& weights, ConstMatrixRef z, ThreadPool& pool);

/// y = norm(x) row by row. Layer normalization: Ba et al. 2016; RMSNorm: Zhang and Sennrich 2019.
Matrix apply_norm(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ThreadPool& pool);

}  // namespace headlight

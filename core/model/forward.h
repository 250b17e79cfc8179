// One forward pass, for every family: what it reads is data in ModelConfig and ModelWeights.
#pragma once

#include <vector>

#include "base/matrix.h"
#include "base/threads.h"
#include "model/mask.h"
#include "model/model.h"

namespace headlight {

/// Per layer, what a view can ask for. Everything grows linearly with n; patterns are computed from q and k.
struct LayerActivations {
    Matrix resid_pre;   // [n, d_model]
    Matrix q, k, v, z;  // [n, heads · d_head]; v and z by key and by query
    Matrix attn_out;    // [n, d_model]
};

struct Activations {
    MaskPlan mask;
    std::vector<LayerActivations> layers;
    Matrix resid_final;  // [n, d_model], resid_post of the last layer
    Matrix normalized;   // [n, d_model], after the final norm
};

/// Rows of an earlier pass that hold for this one too: under a causal mask, those before the first token that differs.
struct Reuse {
    const Activations* past = nullptr;
    int rows = 0;
};

/// Runs the model on ids (1 … context of them, each within the vocabulary: the caller has checked).
/// Only rows after those reused are computed. Returns an error only when `cancel` was set; it is read between layers.
Result<Activations> forward(const Model& model, const std::vector<int>& ids, const Mask& mask, ThreadPool& pool, const CancelFlag* cancel = nullptr,
                            Reuse reuse = {});

/// logits[rows, vocab] of rows of the final norm.
Matrix unembed(const Model& model, ConstMatrixRef normalized, ThreadPool& pool);

/// y = norm(x) row by row (layer normalization: Ba et al. 2016).
Matrix apply_norm(const ModelConfig& config, const Norm& norm, ConstMatrixRef x, ThreadPool& pool);

}  // namespace headlight

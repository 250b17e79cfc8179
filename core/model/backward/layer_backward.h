// Propagates a gradient down one layer.
#pragma once

#include <map>

#include "model/backward/backward.h"
#include "model/backward/gradient_rows.h"
#include "model/batch.h"

namespace headlight {

/// Holds gradients by the keys and values of a layer that later layers read (AttentionSpec::source).
struct LentGradients {
    GradientSum k, v;  // [rows, kv_heads · d_head], [rows, kv_heads · d_value]
};

/// Holds one stack during a reverse pass.
struct StackBackward : StackRun {
    const StackActivations& activations;
    RopeTables inverse_rope;  // rotation by the negated angles
    const Matrix sources;     // [keys, d_model]: what cross-attention reads
    Matrix by_sources;        // gradient by `sources`, summed over the layers: all rows of each output
    GradientRows source_rows;
    GradientObserver* observer;
    std::map<int, LentGradients> lent = {};  // by layer, until the pass reaches it
    GradientSum by_embeddings = {};          // [rows, d_model]: what came by embeddings of layers
};

/// Propagates from the gradient by layer l's output to the one by its input, and updates `rows` likewise.
/// Stores the gradients in between in `out`, unless it is null.
Matrix layer_vjp(StackBackward& stack, int l, Matrix by_post, GradientRows& rows, LayerGradients* out);

}  // namespace headlight

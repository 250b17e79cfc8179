// Propagates a gradient down one layer.
#pragma once

#include "model/backward/backward.h"
#include "model/backward/gradient_rows.h"
#include "model/batch.h"

namespace headlight {

/// Holds one stack during a reverse pass.
struct StackBackward : StackRun {
    const StackActivations& activations;
    RopeTables inverse_rope;  // rotation by the negated angles
    const Matrix sources;     // [keys, d_model]: what cross-attention reads
    Matrix by_sources;        // gradient by `sources`, summed over the layers: all rows of each output
    GradientRows source_rows;
    GradientObserver* observer;
};

/// Propagates from the gradient by layer l's output to the one by its input, and updates `rows` likewise.
/// Stores the gradients in between in `out`, unless it is null.
Matrix layer_vjp(StackBackward& stack, int l, Matrix by_post, GradientRows& rows, LayerGradients* out);

}  // namespace headlight

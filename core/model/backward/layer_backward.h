// One layer of the reverse pass.
#pragma once

#include "model/backward/backward.h"
#include "model/backward/gradient_rows.h"
#include "model/batch.h"

namespace headlight {

/// A stack while a reverse pass runs over it.
struct StackBackward : StackRun {
    const StackActivations& activations;
    RopeTables inverse_rope;  // cosines and sines of the opposite angles
    const Matrix sources;     // [keys, d_model]: what cross-attention reads
    Matrix by_sources;        // … and the gradient by it, added up over the layers: all rows of each number
    GradientRows source_rows;
    GradientObserver* observer;
};

/// From the gradient by what leaves layer l to the one by what enters it. `rows` are those of the first, then
/// of the second. Where `out` is given, it gets the gradients between.
Matrix layer_vjp(StackBackward& stack, int l, Matrix by_post, GradientRows& rows, LayerGradients* out);

}  // namespace headlight

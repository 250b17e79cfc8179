// Computes the direct path from the residual stream to the logits.
#pragma once

#include <optional>

#include "trace/trace.h"

namespace headlight {

/// Maps vectors added to the residual stream at one position to logits, with the final norm's scale of this
/// pass (Elhage et al. 2021): linear, so that the logits of parts add up to those of the whole.
class DirectPath {
public:
    /// Returns none if there is no direct path: post-norm, several streams, stacks before the last, no head.
    /// block: maps what this block adds (carried_share); −1: what is left of it in the last layer's output.
    static std::optional<DirectPath> at(const Trace& trace, int position, int block = -1);

    /// [rows, vocab] for vectors [rows, d_model], without the two biases below.
    Matrix logits(ConstMatrixRef vectors, ThreadPool& pool) const;
    /// Returns one token's logit of each vector.
    Vector logit(ConstMatrixRef vectors, int token) const;
    /// Return what the final norm's bias and the unembedding's add to one token's logit.
    float norm_bias(int token) const;
    float unembedding_bias(int token) const;

private:
    DirectPath(const Trace& trace, int position, float share);
    Matrix normalized(ConstMatrixRef vectors) const;
    Matrix as_logits(ConstMatrixRef normal, const Linear& head, ThreadPool& pool) const;

    const Trace& trace_;
    float share_ = 1;
    float deviation_ = 1;  // scale of the final norm at this position
};

/// Returns what is left of a block's addition in its stack's output: the product of the scales that layers
/// from its own on multiply the stream by (LayerSpec::output_scale), 1 in most models.
float carried_share(const Model& model, int block);

/// Throws Failure if the trace holds no residual stream, as one from a file.
void check_stream(const Trace& trace);

/// Returns whether the model has such a path.
bool has_direct_path(const Model& model);

}  // namespace headlight

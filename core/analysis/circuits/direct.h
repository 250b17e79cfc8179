// The straight path from the residual stream to the logits.
#pragma once

#include <optional>

#include "trace/trace.h"

namespace headlight {

/// How what is added to the residual stream at one position reads as logits, when the final norm keeps the
/// scale that it has in this pass (Elhage et al. 2021): a linear map, so that the parts of a sum add up to
/// the logits of the whole.
class DirectPath {
public:
    /// None where no straight path leads there: post-norm models, other stacks than the last, models without
    /// a head.
    static std::optional<DirectPath> at(const Trace& trace, int position);

    /// [rows, vocab] for vectors [rows, d_model], without the constants that constants() gives.
    Matrix logits(ConstMatrixRef vectors, ThreadPool& pool) const;
    /// One token's logit of each vector.
    Vector logit(ConstMatrixRef vectors, int token) const;
    /// What the final norm's bias and the unembedding's add to one token's logit.
    float norm_bias(int token) const;
    float unembedding_bias(int token) const;

private:
    DirectPath(const Trace& trace, int position);
    Matrix normalized(ConstMatrixRef vectors) const;
    Matrix as_logits(ConstMatrixRef normal, const Linear& head, ThreadPool& pool) const;

    const Trace& trace_;
    float deviation_ = 1;  // of the residual stream that enters the final norm here
};

/// Whether the model has such a path at all.
bool has_direct_path(const Model& model);

}  // namespace headlight

// Lists the parts of an attention block in the order of its code, with the values of one token.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct BlockPart {
    std::string name;        // "q, split into heads"
    std::vector<int> shape;  // of the whole text: b × n × d, or b × h × n × d with batch b = 1
    Vector values;           // of the token, and of the head in steps that have heads

    float mean() const { return values.mean(); }
    /// √ of the mean squared distance from the mean.
    float deviation() const;
};

/// "1 × 8 × 12 × 32".
std::string shape_name(const std::vector<int>& shape);

/// Computes the parts of a block for a query's token and one head (Vaswani et al. 2017, sections 3.1 and
/// 3.2): input, pre-norm, q, k, v, split heads, weights, z, concatenation, output, residual, post-norm. Norms
/// appear twice: before and after their weight and bias. Throws Failure if the trace has no weights.
std::vector<BlockPart> block_parts(const Trace& trace, AttentionHead head, int query, ThreadPool& pool);

/// (x − mean) / √(variance + eps), without a weight; RMSNorm keeps the mean.
Vector normalized_alone(const ModelConfig& config, const Vector& x);

}  // namespace headlight

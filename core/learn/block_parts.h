// The parts of an attention block in the order of its code, with the numbers of one token.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// What one step of a block leaves behind.
struct BlockPart {
    std::string name;        // "q, split into heads"
    std::vector<int> shape;  // of the whole text: b × n × d, or b × h × n × d with the batch b = 1
    Vector values;           // of the one token, and of the one head where the step has heads

    float mean() const { return values.mean(); }
    /// √ of the mean squared distance from the mean.
    float deviation() const;
};

/// "1 × 8 × 12 × 32".
std::string shape_name(const std::vector<int>& shape);

/// The parts of a block for the token of a query and one head (Vaswani et al. 2017, sections 3.1 and 3.2):
/// input, the norm before it (pre-norm), q, k, v, split heads, weights, z, concatenation, output, residual,
/// the norm behind it (post-norm). Norms stand twice: before and after their weight and bias. Throws Failure
/// where the trace holds no weights.
std::vector<BlockPart> block_parts(const Trace& trace, AttentionHead head, int query, ThreadPool& pool);

/// (x − mean) / √(variance + eps), without a weight; RMSNorm leaves the mean where it is.
Vector normalized_alone(const ModelConfig& config, const Vector& x);

}  // namespace headlight

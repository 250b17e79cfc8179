// What the residual stream of one token is made of: the parts that were added to it, as they arrive at an
// attention block further up.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct StreamPart {
    /// token, position, segment: of the embedding. biases: all that no token decides. given: what a person
    /// put in place of the stream (patches, noise), or of what a head, an attention block, an MLP adds.
    /// others: several parts in one.
    enum class Kind {
        token,
        position,
        segment,
        head,
        mlp,
        biases,
        given,
        given_head,
        given_attention,
        given_mlp,
        others
    } kind = Kind::token;
    int block = -1, head = -1;  // of a head or attention block, or a block's biases; an MLP has the
                                // self-attention block of its layer
    int count = 0;              // others: how many
    bool operator==(const StreamPart&) const = default;
};
/// "token", "0.3", "MLP 0", "biases", "12 others".
std::string stream_part_name(const ModelConfig& config, const StreamPart& part);

/// Vectors that sum to what is read: one row for each part. The first is always that of the biases.
struct StreamParts {
    std::vector<StreamPart> parts;
    Matrix rows;  // [parts, d_model], later [parts, d_head]
};

/// What the queries' (`keys`: the keys') side of an attention block reads at a token of its text, behind the
/// norm before the block. Each norm on the way (also behind blocks, where a model has them there) keeps the
/// scale that it has in this run, which makes it linear (Elhage et al. 2021; Kobayashi et al. 2021); so the
/// rows sum to what is read, but for rounding. Throws Failure where the trace holds no weights.
StreamParts parts_read(const Trace& trace, int block, bool keys, int token, ThreadPool& pool);

/// What leaves the last layer of a stack at a token, before the final norm, with the output biases of each
/// attention block apart; the first row is that of all other biases.
StreamParts parts_left(const Trace& trace, int stack, int token, ThreadPool& pool);

/// Takes parts through a norm with the scale that it has for `whole`, which they sum to: what it adds by its
/// bias goes to the first row.
void pass_through_norm(const ModelConfig& config, const Norm& norm, const Eigen::RowVectorXf& whole, Matrix& rows);

}  // namespace headlight

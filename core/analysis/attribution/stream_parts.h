// Splits the residual stream of a token into the parts added to it, as a later attention block reads them.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct StreamPart {
    /// token, position, segment: of the embedding. mlp: with experts, the shared one.
    /// convolution: of a layer's input, beside it (DeBERTa v2). distance: of a score, the vector that the
    /// distance of query and key has there, which no token wrote (DeBERTa). biases: everything that
    /// does not depend on a token. given: the user's replacement of the stream (patches, noise), or of the
    /// output of a head, attention block or MLP. others: several parts merged.
    enum class Kind {
        token,
        position,
        segment,
        head,
        mlp,
        expert,
        convolution,
        layer_embedding,
        distance,
        biases,
        given,
        given_head,
        given_attention,
        given_mlp,
        others
    } kind = Kind::token;
    /// of a head or attention block, or a block's biases; for an MLP the self-attention block of its layer
    int block = -1, head = -1;  // head: of an expert its number
    int count = 0;              // others: how many
    bool operator==(const StreamPart&) const = default;
};
/// Returns "token", "0.3", "MLP 0", "expert 0.3", "convolution 0", "biases", "12 others".
std::string stream_part_name(const ModelConfig& config, const StreamPart& part);

/// Holds vectors that sum to what is read: one row per part, the first that of the biases.
struct StreamParts {
    std::vector<StreamPart> parts;
    Matrix rows;  // [parts, d_model], later [parts, d_head]
};

/// Returns why a model's residual stream is not split into parts, in a sentence without its end; "": it is.
std::string missing_parts(const ModelConfig& config);

/// Returns what the queries' (`keys`: the keys') side of an attention block reads at a token, after the
/// block's pre-norm. Each norm on the way (post-norms too) keeps its scale of this run, which makes it linear
/// (Elhage et al. 2021; Kobayashi et al. 2021), so that the rows sum to what is read, except for rounding.
/// Throws Failure if the trace holds no weights.
StreamParts parts_read(const Trace& trace, int block, bool keys, int token, ThreadPool& pool);

/// Returns the output of a stack's last layer at a token, before the final norm, with the output biases of
/// each attention block separate; the first row holds all other biases.
StreamParts parts_left(const Trace& trace, int stack, int token, ThreadPool& pool);

/// Norms parts with the scale of `whole`, their sum; adds the norm's bias to the first row.
void apply_fixed_norm(const ModelConfig& config, const Norm& norm, const Eigen::RowVectorXf& whole,
                      Matrix& rows);

}  // namespace headlight

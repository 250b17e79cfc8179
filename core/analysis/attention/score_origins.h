// Splits an attention score: q·k is a sum over what wrote the query's vector and what wrote the key's,
// because everything between the residual stream and the score is linear once the norms keep their scale of
// this run (Elhage et al. 2021).
#pragma once

#include <vector>

#include "analysis/attention/shown.h"
#include "analysis/attribution/stream_parts.h"
#include "io/numbers.h"

namespace headlight {

struct ScoreOrigins {
    /// Parts of the two sides; of disentangled attention the last of each is the vector of the distance, Qr
    /// and Kr: what it makes with the other side's parts are position to content, and content to position.
    std::vector<StreamPart> queries, keys;
    Matrix values;  // [queries, keys]: shares of the score, including rotation, norms and the model's scale
    float sum = 0;  // of all values, in float64
    float scaled = 0;  // scale · q·k of this run: with the next two what they sum to
    float to_position = 0, from_position = 0;  // scale · q·Kr and scale · k·Qr
    bool disentangled = false;
    float cap = 0, capped = 0;  // soft cap (0: none), and the score after it
    float bias = 0;             // position bias (ALiBi, T5's buckets); with the two of disentangled attention
    float before = 0;           // capped + bias, or the user's score
    bool given = false;         // the user set the score
    float score = 0;            // `before` divided by the temperature: softmax's input
};

struct ScoreOriginsRequest {
    using Answer = ScoreOrigins;
    int block = 0, head = 0, query = 0, key = 0;
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const { return block == shown.block && head == shown.head; }
    bool operator==(const ScoreOriginsRequest&) const = default;
};
/// Splits any family's scores; fails for a trace without weights.
Result<ScoreOrigins> answer_score_origins(const Trace& trace, const ScoreOriginsRequest& request,
                                          ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// Keeps the `count` rows and columns with the largest Σ |value|, in the order of the residual stream, and
/// merges all others into one more of each: the sum is unchanged. 0: all.
ScoreOrigins strongest_origins(const ScoreOrigins& all, int count);

struct OriginPair {
    int query = 0, key = 0;
    float value = 0;
};
std::vector<OriginPair> largest_origins(const ScoreOrigins& origins, int count);

/// Lists all shares as a table, and beside it the steps to the score.
std::vector<NumberTable> origin_numbers(const ScoreOrigins& origins, const ModelConfig& config);

}  // namespace headlight

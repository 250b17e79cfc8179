// Where one attention score comes from: q·k is a sum over what wrote the query's vector and what wrote the
// key's, because everything between the residual stream and the score is linear once the norms keep the scale
// that they have in this run (Elhage et al. 2021).
#pragma once

#include <string>
#include <vector>

#include "analysis/attention/shown.h"
#include "analysis/attribution/stream_parts.h"
#include "io/numbers.h"

namespace headlight {

struct ScoreOrigins {
    std::vector<StreamPart> queries, keys;  // what the two sides are made of
    Matrix values;                          // [queries, keys]: share of the score; rotation, norms and the
                                            // model's scale are in it
    float sum = 0;                          // of all values, added in float64
    float scaled = 0;                       // q·k of this run times the model's scale: what they sum to
    float cap = 0, capped = 0;              // soft cap (0: none), and the score behind it
    float bias = 0;                         // what positions add (ALiBi, T5's buckets)
    float before = 0;                       // capped + bias, or what a person put in place of it
    bool given = false;                     // a person put another score in place
    float score = 0;                        // what softmax takes: divided by the temperature
};

struct ScoreOriginsRequest {
    using Answer = ScoreOrigins;
    int block = 0, head = 0, query = 0, key = 0;
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const { return block == shown.block && head == shown.head; }
    bool operator==(const ScoreOriginsRequest&) const = default;
};
/// Every family can be split so; a trace without weights is an error.
Result<ScoreOrigins> answer_score_origins(const Trace& trace, const ScoreOriginsRequest& request,
                                          ThreadPool& pool, const CancelFlag* cancel = nullptr);

/// The `count` rows and columns with the largest Σ |value|, in the order in which the stream meets them, and
/// what all others come to as one more of each: the sum stays what it is. 0: all.
ScoreOrigins strongest_origins(const ScoreOrigins& all, int count);

/// A share of the score: row and column.
struct OriginPair {
    int query = 0, key = 0;
    float value = 0;
};
/// Those of the largest magnitude first.
std::vector<OriginPair> largest_origins(const ScoreOrigins& origins, int count);

/// All shares as a table, and beside it what they lead to.
std::vector<NumberTable> origin_numbers(const ScoreOrigins& origins, const ModelConfig& config);

}  // namespace headlight

// Scaled dot-product attention (Vaswani et al. 2017), computed one head and one block of queries at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/cast.h"
#include "base/check.h"
#include "base/matrix.h"
#include "base/rows.h"
#include "base/threads.h"
#include "model/interventions/mask.h"
#include "model/mixers/disentangled.h"
#include "model/model.h"
#include "model/position_bias.h"

namespace headlight {

/// References one row of a pattern.
using ConstRowRef = Eigen::Ref<const Eigen::RowVectorXf>;

/// Holds the positions that the model uses for a stack's tokens: their own, unless the user changed them.
struct PositionIds {
    bool off = false;           // no position information: no vector, no rotation, no bias
    std::vector<int> shuffled;  // position of each token; empty: its own

    bool own() const { return !off && shuffled.empty(); }
    int of(int token) const { return off ? 0 : shuffled.empty() ? token : shuffled[token]; }
};

/// Points to the patterns stored in a trace file. They are shown as they are; the mask plays no part.
struct RecordedPatterns {
    const float* weights = nullptr;  // [heads, queries, keys]
    int queries = 0, keys = 0;
    std::shared_ptr<const void> owner;  // owner of the weights: the mapped file
};
/// Says whether a block's patterns are computed from q and k under the rule, or recorded.
using PatternSource = std::variant<std::monostate, RecordedPatterns>;

/// Holds the user's changes to one head.
struct HeadRule {
    struct Score {
        int query, key;
        float value;
        bool operator==(const Score&) const = default;
    };
    std::shared_ptr<const MaskPlan> mask;  // replaces the block's mask
    float temperature = 1;      // divides scores; 0: all weight on the largest score; infinite: uniform
    std::vector<Score> scores;  // replace computed scores
    std::shared_ptr<const Matrix> frozen;  // [queries, keys], replaces the pattern; later rows are computed
    enum class Z { kept, zero, mean } z = Z::kept;
    bool depends_on_every_query = false;  // z depends on later queries too
    GivenRows given_z;                    // [n, d_value], replaces z
};

/// Holds everything that turns one block's q and k into its patterns.
struct AttentionRule {
    MaskPlan mask;
    PositionIds positions;          // of the tokens of the block's stack
    PositionBias bias;              // follows from `positions`
    DisentangledBias disentangled;  // likewise
    float scale = 1;
    float cap = 0;                // soft cap: cap · tanh(score / cap); 0: none
    int heads = 1, kv_heads = 1;  // query head h reads key/value head h / (heads / kv_heads)

    PatternSource source;

    std::vector<HeadRule> changed;  // per head; empty: no changes
    bool skipped = false;           // the block adds nothing
    GivenRows given_out;            // [n, d_model], replaces the block's output
    std::vector<float> sinks = {};  // [heads], one more score of each row (AttentionSpec::sinks); empty: none
    /// Says that a recurrence takes the place of softmax: the pattern is its mixing matrix
    /// (model/mixers/mixing.h).
    struct Recurrence {
        RecurrenceSpec::Kind kind = RecurrenceSpec::Kind::delta_rule;
        std::vector<float> skip = {};   // [heads], D of a state space
        std::vector<float> rates = {};  // [heads · d_head], by which Δ decays each component (selective)
    };
    std::optional<Recurrence> recurrence = {};

    const HeadRule* change(int head) const {
        HEADLIGHT_CHECK(head >= 0 && head < heads && (changed.empty() || isize(changed) == heads));
        return changed.empty() ? nullptr : &changed[head];
    }
    const MaskPlan& mask_of(int head) const {
        return change(head) && change(head)->mask ? *change(head)->mask : mask;
    }
    /// Returns the range of keys with nonzero weight for a query: the range of the head's mask, or all keys
    /// where its weights are given.
    KeyRange weight_range(int head, int query) const {
        return is_given(head, query) ? KeyRange{0, mask.keys} : mask_of(head).weight_range(query);
    }
    /// Returns whether rows are softmax over scores: weights that are not negative, and sum to 1.
    bool is_softmax() const { return !recurrence; }
    /// Returns the width of a head's keys, given that of its queries.
    Index key_width(Index d_head) const;
    /// Returns whether all heads read one row of q and one of k, in which each finds its own Δ.
    bool shares_vectors() const { return recurrence && recurrence->kind == RecurrenceSpec::Kind::selective; }
    /// Return how many heads of q and of k there are, and which one a head reads.
    int query_heads() const { return shares_vectors() ? 1 : heads; }
    int key_heads() const { return shares_vectors() ? 1 : kv_heads; }
    int query_head(int head) const { return shares_vectors() ? 0 : head; }
    int key_head(int head) const { return shares_vectors() ? 0 : kv_head(head); }
    bool is_recorded() const { return std::holds_alternative<RecordedPatterns>(source); }
    /// Returns [queries, keys] of a head's first queries with given weights (recorded, or frozen), or none.
    std::optional<ConstMatrixMap> given_pattern(int head) const {
        if (const HeadRule* changed = change(head); changed && changed->frozen)
            return ConstMatrixMap(changed->frozen->data(), changed->frozen->rows(), changed->frozen->cols());
        if (!is_recorded()) return std::nullopt;
        const auto& recorded = std::get<RecordedPatterns>(source);
        return ConstMatrixMap(recorded.weights + Index{head} * recorded.queries * recorded.keys,
                              recorded.queries, recorded.keys);
    }
    bool is_given(int head, int query) const {
        const auto given = given_pattern(head);
        return given && query < given->rows();
    }
    float temperature_of(int head) const { return change(head) ? change(head)->temperature : 1; }
    /// Returns the score of the head's sink as softmax reads it, divided by the temperature.
    float sink_score(int head) const;
    /// Returns whether scores are more than scale · q·k: they have a position bias, or disentangled terms.
    bool has_bias() const { return bias.by_key.size() || bias.by_distance.size() || disentangled; }
    int kv_head(int head) const { return head / (heads / kv_heads); }
};

struct LayerRules {
    std::shared_ptr<const AttentionRule> self, second;  // second: null where the layer has one block
    LayerChanges changed;
};

/// S = scale · q kᵀ, soft-capped, plus the position bias or disentangled terms: scores[rows, keys] of one
/// head before mask and temperature, for `rows` queries from `first` and the keys from `first_key` on. q, k:
/// [n, d_head], all rows of that head. Requires is_softmax().
void attention_scores(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first,
                      int first_key, MatrixRef scores);

/// Divides one head's scores by its temperature T before softmax. Sets them to 0 for T = ∞ (uniform); leaves
/// them for T = 0 (hardmax).
void apply_temperature(const AttentionRule& rule, int head, MatrixRef scores);

/// P = softmax(S) over the allowed keys, exactly 0 elsewhere, for the queries from `first` and the keys from
/// `first_key` (n · kSumLanes) on, in place. A fully masked row becomes uniform (MaskPlan).
void masked_softmax(const MaskPlan& mask, int first, int first_key, MatrixRef scores);

/// Returns the weight that one row of a head's pattern leaves to its sink: 1 − its sum, 0 without sinks.
/// Counts masked keys (−1) as 0.
float sink_weight(const AttentionRule& rule, ConstRowRef row);

/// Computes pattern[rows, keys] of one head for queries from `first` on; rows sum to 1, with the weight of
/// the head's sink, if it has one, or are those of its mixing matrix. q: [n, d_head], k: [n, key_width].
void head_pattern(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first,
                  MatrixRef pattern);

/// Bounds the queries of a tile. Tiles begin at its multiples, or where a pass begins.
inline constexpr int kTileQueries = kBlockRows;

/// Holds rows of one head's pattern while they are in cache: the queries from `first` on, the keys from
/// first_key (n · kSumLanes) on. All other keys have weight 0.
struct PatternTile {
    const AttentionRule& rule;
    int head, first, first_key;
    ConstMatrixRef weights;  // [queries, keys]
};
using SeeTile = std::function<void(const PatternTile&)>;

/// z = pattern · v: z[rows, heads · d_value] for every head and `rows` queries from `first` on; q: [n, heads
/// · d_head], k: [keys, kv_heads · key_width], v: [keys, kv_heads · d_value]. Works on tiles of one head and
/// a block of queries, so that memory grows with n and not with n². Calls `see` for each tile, on any thread,
/// in no order.
void attend(ThreadPool& pool, const AttentionRule& rule, const Rows& q, const Rows& k, const Rows& v,
            int first, MatrixRef z, const SeeTile& see = nullptr);

/// Shows the tiles of one head's queries [first, last) to `see` on the calling thread, bit for bit those of
/// `attend`; q: [n, d_head], k: [n, key_width] of that head. Returns early when the pool is stopped.
void show_pattern(const ThreadPool& pool, const AttentionRule& rule, int head, const Rows& q, const Rows& k,
                  int first, int last, const SeeTile& see);

}  // namespace headlight

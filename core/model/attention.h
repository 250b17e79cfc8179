// Scaled dot-product attention (Vaswani et al. 2017), one head and a block of queries at a time.
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
#include "model/model.h"
#include "model/position_bias.h"

namespace headlight {

/// Where a stack's tokens stand for its model: each at its own place, unless a person changed that.
struct PositionIds {
    bool off = false;           // the model is told nothing: no vector, no rotation, no bias
    std::vector<int> shuffled;  // the position of each token; empty: its own

    bool own() const { return !off && shuffled.empty(); }
    int of(int token) const { return off ? 0 : shuffled.empty() ? token : shuffled[token]; }
};

/// Patterns that a trace file holds, read where they lie: nothing is computed, whatever the mask says.
struct RecordedPatterns {
    const float* weights = nullptr;  // [heads, queries, keys]
    int queries = 0, keys = 0;
    std::shared_ptr<const void> owner;  // of the weights: the mapped file
};
/// Where a block's patterns come from: computed from q and k under the rule, or recorded.
using PatternSource = std::variant<std::monostate, RecordedPatterns>;

/// What a person changed of one head.
struct HeadRule {
    struct Score {
        int query, key;
        float value;
        bool operator==(const Score&) const = default;
    };
    std::shared_ptr<const MaskPlan> mask;  // in place of the block's
    float temperature = 1;      // scores are divided by it; 0: the heaviest key alone; infinite: all alike
    std::vector<Score> scores;  // in place of those computed
    std::shared_ptr<const Matrix>
        frozen;  // [queries, keys], in place of the pattern; rows beyond it are computed
    enum class Z { kept, zero, mean } z = Z::kept;
    bool rests_on_every_query = false;  // its z depends on later queries too
    GivenRows given_z;                  // [n, d_head], in place of its z
};

/// Everything that turns one block's q and k into its patterns.
struct AttentionRule {
    MaskPlan mask;
    PositionIds positions;  // of the block's stack
    PositionBias bias;      // which they gave
    float scale = 1;
    float cap = 0;                // soft cap: cap · tanh(score / cap); 0: none
    int heads = 1, kv_heads = 1;  // query head h reads key/value head h / (heads / kv_heads)

    PatternSource source;

    std::vector<HeadRule> changed;  // per head; empty where nothing was changed
    bool skipped = false;           // the block adds nothing
    GivenRows given_out;            // [n, d_model], in place of what the block adds

    const HeadRule* change(int head) const {
        HEADLIGHT_CHECK(head >= 0 && head < heads && (changed.empty() || isize(changed) == heads));
        return changed.empty() ? nullptr : &changed[head];
    }
    const MaskPlan& mask_of(int head) const {
        return change(head) && change(head)->mask ? *change(head)->mask : mask;
    }
    /// From the first to the last key that the row of a query may weigh: what the mask of the head says, all
    /// where its weights are given.
    KeyRange weight_range(int head, int query) const {
        return is_given(head, query) ? KeyRange{0, mask.keys} : mask_of(head).weight_range(query);
    }
    bool is_recorded() const { return std::holds_alternative<RecordedPatterns>(source); }
    /// [queries, keys] of a head's first queries whose weights are not computed: recorded, or frozen by a
    /// person; or none.
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
    bool has_bias() const { return bias.by_key.size() || bias.by_distance.size(); }
    int kv_head(int head) const { return head / (heads / kv_heads); }
};

/// What is in force for one layer in one pass, beside its weights.
struct LayerRules {
    std::shared_ptr<const AttentionRule> self, cross;  // cross: none where the layer reads no other stack
    LayerChanges changed;
};

/// scores[rows, keys] of one head before the mask and before a temperature, for `rows` queries from `first`
/// and the keys from `first_key` on: scale · q kᵀ, soft-capped, plus the position bias. q, k: [n, d_head] of
/// that head, all of them.
void attention_scores(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first,
                      int first_key, MatrixRef scores);

/// Divides one head's scores by its temperature, as softmax takes them: all 0 where it is infinite, as they
/// are where it is 0.
void apply_temperature(const AttentionRule& rule, int head, MatrixRef scores);

/// Turns scores of the queries from `first` and keys from `first_key` (n · kSumLanes) into rows of the
/// pattern: softmax over the allowed keys, exactly 0 elsewhere; uniform where a row is fully masked
/// (MaskPlan).
void masked_softmax(const MaskPlan& mask, int first, int first_key, MatrixRef scores);

/// pattern[rows, keys] of one head for the queries from `first` on; q, k: [n, d_head] of that head. Each row
/// sums to 1.
void head_pattern(const AttentionRule& rule, int head, const Rows& q, const Rows& k, int first,
                  MatrixRef pattern);

/// Queries of a tile. Tiles begin at its multiples, or where a pass begins, and end before the next one.
inline constexpr int kTileQueries = kBlockRows;

/// Rows of one head's pattern while they are in the cache: those of the queries from `first` on, and the keys
/// from first_key (n · kSumLanes) on. Other keys weigh nothing.
struct PatternTile {
    const AttentionRule& rule;
    int head, first, first_key;
    ConstMatrixRef weights;  // [queries, keys]
};
using SeeTile = std::function<void(const PatternTile&)>;

/// z[rows, heads · d_head] = pattern · v for every head and `rows` queries from `first` on; q: [n, heads ·
/// d_head], k and v: [keys, kv_heads · d_head]. Tiles of one head and a block of queries, so that memory
/// grows with n and not with n². `see` is called for each tile, on any thread, in no order.
void attend(ThreadPool& pool, const AttentionRule& rule, const Rows& q, const Rows& k, const Rows& v,
            int first, MatrixRef z, const SeeTile& see = nullptr);

/// Shows the tiles of one head's queries [first, last), the same bits as `attend` does, on the calling
/// thread; q, k: [n, d_head] of that head. It ends early where the pool is stopped.
void show_pattern(const ThreadPool& pool, const AttentionRule& rule, int head, const Rows& q, const Rows& k,
                  int first, int last, const SeeTile& see);

}  // namespace headlight

// Shows one query's attention number by number, from each key's score to its share of ΔE.
#pragma once

#include <optional>
#include <vector>

#include "analysis/attention/score_steps.h"
#include "analysis/attention/shown.h"

namespace headlight {

/// Holds the steps of one key, left to right.
struct KeyStep : ScoreSteps {
    bool allowed = true;
    /// e^(score − Steps::shift); 0 where masked; 1 in a fully masked row. At temperature 0: 1 for the
    /// heaviest key, else 0. 0 if the pattern is given
    double exp = 0;
    float weight = 0;      // pattern; exp ÷ Steps::sum, unless the pattern is given
    float value_norm = 0;  // ‖v‖
    float moved = 0;       // weight · ‖v‖
    float gated = 0;       // weight · ‖v ∘ gate‖; 0 without a gate
};

/// Say where a head's z at a query comes from: its weighted values, or the user's replacement; and the output
/// of its block: its heads, nothing, or the user's replacement.
enum class ZBy { weights, zero, mean, given };
enum class OutBy { heads, skipped, given };
ZBy z_by(const AttentionRule& rule, int head, int query);
OutBy out_by(const AttentionRule& rule, int query);

struct Steps {
    std::vector<KeyStep> keys;
    WeightsBy weights_by = WeightsBy::softmax;
    float temperature = 1;
    double shift = 0;  // subtracted from every score before exp; 0 while e^score stays readable
    double sum = 0;    // of exp over the keys, and the sink
    /// Score of the head's sink, e^(score − shift), and its weight: one more column of the row, whose weight
    /// no value gets; none without sinks, or if the pattern is given.
    struct Sink {
        float score = 0;
        double exp = 0;
        float weight = 0;
    };
    std::optional<Sink> sink;
    ZBy z_by = ZBy::weights;
    OutBy out_by = OutBy::heads;
    Rows values;   // [keys, d_value], the head's v
    Vector z;      // [d_value]: Σ weight · v, or the user's replacement
    Vector gate;   // [d_value]: what multiplies z before W_O, the sizes of its norms with it; empty: nothing
    Vector delta;  // [d_model], the head's ΔE = z · W_O, or (z ∘ gate) · W_O
    /// Returns z as W_O reads it.
    Vector gated() const { return gate.size() ? Vector(z.cwiseProduct(gate)) : z; }
};

/// Returns [heads · d_value], what multiplies z of all heads at a query before W_O; empty: the block has no
/// gate (model/mixers/attention_gate.h).
Vector gate_at(const Trace& trace, int block, int query, ThreadPool& pool);

struct StepsRequest {
    using Answer = Steps;
    int block = 0, head = 0, query = 0;
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const StepsRequest&) const = default;
};

Result<Steps> answer_steps(const Trace& trace, const StepsRequest& request, ThreadPool& pool,
                           const CancelFlag* cancel);

/// Returns whether the user set any score of the row.
bool has_edited(const Steps& steps);
/// Returns whether softmax divides the scores by a temperature other than 1 and 0.
bool is_tempered(const Steps& steps);

}  // namespace headlight

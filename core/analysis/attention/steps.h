// One query's attention number by number: what each key's score becomes until it is a share of ΔE.
#pragma once

#include <vector>

#include "analysis/attention/score_steps.h"
#include "analysis/attention/shown.h"

namespace headlight {

/// What one key goes through, left to right.
struct KeyStep : ScoreSteps {
    bool allowed = true;
    double exp = 0;    // e^(score − Steps::shift); 0 where masked; 1 in a fully masked row. Of the heaviest
                       // key alone: 1, of all others 0. 0 where the pattern is given
    float weight = 0;  // pattern; exp ÷ Steps::sum, unless the pattern is given
    float value_norm = 0;  // ‖v‖
    float moved = 0;       // weight · ‖v‖
};

/// What a head's z is at a query: its weighted values, or what a person put in their place; and what its
/// block adds: what its heads do, nothing, or what a person put in place.
enum class ZBy { weights, zero, mean, given };
enum class OutBy { heads, skipped, given };
ZBy z_by(const AttentionRule& rule, int head, int query);
OutBy out_by(const AttentionRule& rule, int query);

struct Steps {
    std::vector<KeyStep> keys;
    WeightsBy weights_by = WeightsBy::softmax;
    float temperature = 1;
    double shift =
        0;           // subtracted from every score before exp: 0 while e^score is a number a person can read
    double sum = 0;  // of exp over the keys
    ZBy z_by = ZBy::weights;
    OutBy out_by = OutBy::heads;
    Vector z;      // [d_head]: the weighted values added up, or what a person put in their place
    Vector delta;  // [d_model], the head's ΔE: z through its slice of the output matrix
};

struct StepsRequest {
    using Answer = Steps;
    int block = 0, head = 0, query = 0;
    void clamp_to(const Trace& trace);
    bool valid_for(const Shown& shown) const;
    bool operator==(const StepsRequest&) const = default;
};

Result<Steps> answer_steps(const Trace& trace, const StepsRequest& request, ThreadPool& pool,
                           const CancelFlag* cancel);

/// Whether any score of the row is one that a person put in place.
bool has_edited(const Steps& steps);
/// Whether scores are divided by a temperature: one that is neither 1 nor 0, and a pattern made of them.
bool is_tempered(const Steps& steps);

}  // namespace headlight

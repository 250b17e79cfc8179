// Computes one query's attention step by step.
#include "analysis/attention/steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "model/mixers/attention_gate.h"

namespace headlight {

namespace {

constexpr float kMin = -2, kMax = 25;  // keep the largest e^score short enough to read

/// exp = e^(score − shift) of the keys that take part; 1 for all in a fully masked row (MaskPlan).
void exponentiate(Steps& s) {
    const bool fully_masked =
        std::none_of(s.keys.begin(), s.keys.end(), [](const KeyStep& k) { return k.allowed; });
    float largest = fully_masked ? 0 : -std::numeric_limits<float>::infinity();
    for (const KeyStep& k : s.keys)
        if (k.allowed) largest = std::max(largest, k.score);
    if (s.sink && !fully_masked) largest = std::max(largest, s.sink->score);
    s.shift = largest < kMin || largest > kMax ? largest : 0;
    for (KeyStep& k : s.keys) k.exp = fully_masked ? 1 : k.allowed ? std::exp(double(k.score) - s.shift) : 0;
    if (!s.sink) return;
    s.sink->exp = fully_masked ? 1 : std::exp(double(s.sink->score) - s.shift);
    for (KeyStep& k : s.keys) k.exp = fully_masked ? 0 : k.exp;  // the sink takes all
}

/// Applies temperature 0: 1 for the key with weight, 0 for all others.
void choose_heaviest(Steps& s) {
    for (KeyStep& k : s.keys) k.exp = k.weight > 0 ? 1 : 0;
    if (s.sink) s.sink->exp = s.sink->weight > 0 ? 1 : 0;
}

}  // namespace

ZBy z_by(const AttentionRule& rule, int head, int query) {
    const HeadRule* change = rule.change(head);
    if (!change) return ZBy::weights;
    if (change->given_z.gives(query)) return ZBy::given;
    return change->z == HeadRule::Z::zero   ? ZBy::zero
           : change->z == HeadRule::Z::mean ? ZBy::mean
                                            : ZBy::weights;
}

OutBy out_by(const AttentionRule& rule, int query) {
    if (rule.given_out.gives(query)) return OutBy::given;
    return rule.skipped ? OutBy::skipped : OutBy::heads;
}

Vector gate_at(const Trace& trace, int block, int query, ThreadPool& pool) {
    const AttentionActivations& a = trace.attention(block);
    if (a.gate.size() == 0) return {};
    const Gate gate = gate_of(trace.config(), trace.config().attention(block), trace.weights(block));
    return gate_multipliers(gate, a, query, trace.z(block, query, 1, pool)).transpose();
}

bool has_edited(const Steps& s) {
    return std::any_of(s.keys.begin(), s.keys.end(), [](const KeyStep& k) { return k.edited; });
}

bool is_tempered(const Steps& s) { return s.weights_by == WeightsBy::softmax && s.temperature != 1; }

namespace {

/// Adds what the gate leaves of z, and of each key's part of it.
void add_gate(const Trace& trace, const StepsRequest& w, Steps& s, ThreadPool& pool) {
    const Vector gate = gate_at(trace, w.block, w.query, pool);
    if (gate.size() == 0) return;
    s.gate = gate.segment(w.head * s.z.size(), s.z.size());
    for (int key = 0; key < isize(s.keys); ++key) {
        KeyStep& step = s.keys[size_t(key)];
        step.gated = step.weight * s.values.row(key).transpose().cwiseProduct(s.gate).norm();
    }
}

}  // namespace

Result<Steps> answer_steps(const Trace& trace, const StepsRequest& w, ThreadPool& pool, const CancelFlag*) {
    HEADLIGHT_CHECK(w.query >= 0 && w.query < trace.query_count(w.block));
    const AttentionRule& rule = trace.rule(w.block);
    const Matrix pattern = trace.pattern_rows(w.block, w.head, w.query, 1);
    Steps s;
    s.values = trace.v(w.block, w.head);
    for (const ScoreSteps& score :
         score_steps(trace, {w.block, w.head}, w.query, 0, trace.key_count(w.block))) {
        const int key = isize(s.keys);
        KeyStep step{score};
        step.allowed = rule.mask_of(w.head).allowed(w.query, key);
        step.weight = pattern(0, key);
        step.value_norm = s.values.row(key).norm();
        step.moved = step.weight * step.value_norm;
        s.keys.push_back(step);
    }
    s.weights_by = weights_by(rule, w.head, w.query);
    s.temperature = rule.temperature_of(w.head);
    if (!rule.sinks.empty() && s.weights_by != WeightsBy::given)
        s.sink = Steps::Sink{rule.sink_score(w.head), 0, sink_weight(rule, pattern.row(0))};
    if (s.weights_by == WeightsBy::softmax) exponentiate(s);
    if (s.weights_by == WeightsBy::heaviest) choose_heaviest(s);
    for (const KeyStep& k : s.keys) s.sum += k.exp;
    if (s.sink) s.sum += s.sink->exp;
    s.z_by = z_by(rule, w.head, w.query);
    s.out_by = out_by(rule, w.query);
    const Index d = trace.config().d_value(w.block);
    s.z = trace.z(w.block, w.query, 1, pool).row(0).segment(w.head * d, d).transpose();
    add_gate(trace, w, s, pool);
    s.delta = trace.results(w.block, w.query, pool).row(w.head).transpose();
    return s;
}

void StepsRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    head = nearest_head(t, block, head);
    query = nearest(query, t.query_count(block));
}
bool StepsRequest::valid_for(const Shown& shown) const { return block == shown.block && head == shown.head; }

}  // namespace headlight

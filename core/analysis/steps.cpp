#include "analysis/steps.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace headlight {

namespace {

constexpr float kMin = -2, kMax = 25;  // between them the largest e^score has few enough digits to read

/// e^score of the keys that take part; the same of all keys of a fully masked row, which is uniform
/// (MaskPlan).
void exponentiate(Steps& s) {
    const bool fully_masked =
        std::none_of(s.keys.begin(), s.keys.end(), [](const KeyStep& k) { return k.allowed; });
    float largest = fully_masked ? 0 : -std::numeric_limits<float>::infinity();
    for (const KeyStep& k : s.keys)
        if (k.allowed) largest = std::max(largest, k.score);
    s.shift = largest < kMin || largest > kMax ? largest : 0;
    for (KeyStep& k : s.keys) {
        k.exp = fully_masked ? 1 : k.allowed ? std::exp(double(k.score) - s.shift) : 0;
        s.sum += k.exp;
    }
}

}  // namespace

Result<Steps> answer(const Trace& trace, const StepsWanted& w, ThreadPool& pool, const CancelFlag*) {
    HEADLIGHT_CHECK(w.query >= 0 && w.query < trace.query_count(w.block));
    const AttentionRule& rule = trace.rule(w.block);
    const auto q = trace.q(w.block, w.head), k = trace.k(w.block, w.head), v = trace.v(w.block, w.head);
    Matrix scores(1, trace.key_count(w.block));
    attention_scores(rule, w.head, q, k, w.query, 0, scores);
    Matrix bias = Matrix::Zero(1, trace.key_count(w.block));
    rule.bias.add(w.head, w.query, 0, bias);
    const Matrix pattern = trace.pattern_rows(w.block, w.head, w.query, 1);
    Steps s;
    for (int key = 0; key < trace.key_count(w.block); ++key) {
        KeyStep step;
        step.dot = q.row(w.query).dot(k.row(key));
        step.scaled = step.dot * rule.scale;
        step.capped = rule.cap > 0 ? rule.cap * std::tanh(step.scaled / rule.cap) : step.scaled;
        step.score = scores(0, key);
        step.bias = bias(0, key);
        step.allowed = rule.mask_of(w.head).allows(w.query, key);
        step.weight = pattern(0, key);
        step.value_norm = v.row(key).norm();
        step.moved = step.weight * step.value_norm;
        s.keys.push_back(step);
    }
    exponentiate(s);
    s.z = (pattern * v.all()).row(0).transpose();
    s.delta = trace.results(w.block, w.query, pool).row(w.head).transpose();
    return s;
}

void StepsWanted::fit(const Trace& t) {
    block = nearest_block(t, block);
    head = nearest_head(t, block, head);
    query = nearest(query, t.query_count(block));
}
bool StepsWanted::fits(const Shown& shown) const { return block == shown.block && head == shown.head; }

}  // namespace headlight

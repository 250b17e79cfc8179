// Computes the steps of attention scores.
#include "analysis/attention/score_steps.h"

#include <cmath>

#include "base/cast.h"

namespace headlight {

WeightsBy weights_by(const AttentionRule& rule, int head, int query) {
    if (rule.is_given(head, query)) return WeightsBy::given;
    if (!rule.is_softmax()) return WeightsBy::mixing;
    return rule.temperature_of(head) == 0 ? WeightsBy::heaviest : WeightsBy::softmax;
}

std::vector<ScoreSteps> score_steps(const Trace& trace, AttentionHead at, int query, int first, int count) {
    const AttentionRule& rule = trace.rule(at.block);
    if (!rule.is_softmax()) return std::vector<ScoreSteps>(size_t(count));
    const Rows q = trace.q(at.block, at.head), k = trace.k(at.block, at.head);
    Matrix before(1, count), bias = Matrix::Zero(1, count);
    attention_scores(rule, at.head, q, k, query, first, before);
    rule.bias.add(at.head, query, first, bias);
    Matrix to_position = Matrix::Zero(1, count), from_position = to_position;
    rule.disentangled.add_to_position(at.head, q.middleRows(query, 1) * rule.scale, query, first,
                                      to_position);
    rule.disentangled.add_from_position(at.head, k, rule.scale, query, first, from_position);
    Matrix score = before;
    apply_temperature(rule, at.head, score);
    std::vector<ScoreSteps> out(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        ScoreSteps& s = out[static_cast<size_t>(i)];
        s.dot = q.row(query).dot(k.row(first + i));
        s.scaled = s.dot * rule.scale;
        s.capped = rule.cap > 0 ? rule.cap * std::tanh(s.scaled / rule.cap) : s.scaled;
        s.to_position = to_position(0, i);
        s.from_position = from_position(0, i);
        s.bias = bias(0, i) + s.to_position + s.from_position;
        s.before = before(0, i);
        s.score = score(0, i);
    }
    if (const HeadRule* change = rule.change(at.head))
        for (const HeadRule::Score& edit : change->scores)
            if (edit.query == query && edit.key >= first && edit.key < first + count)
                out[static_cast<size_t>(edit.key - first)].edited = true;
    return out;
}

}  // namespace headlight

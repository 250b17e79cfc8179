// Tags heads. Thresholds separate heads of small trained models from random ones; values are shown.
#include "analysis/attention/head_tags.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "analysis/attention/head_summary.h"
#include "analysis/circuits/direct.h"
#include "analysis/corpus/corpus.h"
#include "analysis/prediction/default_place.h"
#include "analysis/prediction/predict.h"
#include "base/cast.h"

namespace headlight {

namespace {

constexpr int kRandomTokens = 50, kLastQueries = 64, kPromoted = 5;
constexpr float kAnswerWeight = 0.30f;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

float statistic(const std::array<float, kStatistics>* of, std::string_view key) {
    return of ? (*of)[find_statistic(key) - head_statistics().data()] : kUnknown;
}

constexpr HeadTagRow kRows[] = {
    {"←", "previous", "Looks at the previous token.", "mean weight on the previous token, on random tokens",
     0.50f, [](const HeadMeasures& h) { return statistic(h.random, "previous"); }},
    {"↻", "induction", "Finds what followed the same token last time.",
     "mean weight on tokens that follow an earlier copy, on random tokens that repeat", 0.40f,
     [](const HeadMeasures& h) { return statistic(h.random, "induction"); }},
    {"=", "same token", "Looks at earlier copies of the same token.",
     "mean weight on earlier copies, on random tokens that repeat", 0.40f,
     [](const HeadMeasures& h) { return statistic(h.random, "duplicate"); }},
    {"⇤", "first", "Rests on the first token.", "mean weight on the first token, in this text", 0.40f,
     [](const HeadMeasures& h) { return statistic(h.text, "first"); }},
    {"○", "self", "Looks at the token itself.", "mean weight on the diagonal, in this text", 0.50f,
     [](const HeadMeasures& h) { return statistic(h.text, "self"); }},
    {"·", "punctuation", "Looks at punctuation.",
     "mean weight on punctuation, in the last 64 queries of this text", 0.50f,
     [](const HeadMeasures& h) { return h.traits ? h.traits->punctuation : kUnknown; }},
    {"⇒", "name mover", "Copies the answer from where the text has it.",
     "weight from the last token to copies of the answer, which the head promotes", kAnswerWeight,
     [](const HeadMeasures& h) { return h.traits ? h.traits->answer : kUnknown; }},
};

/// Returns the tokens that the head's output at the last position promotes most; none without a direct path.
std::vector<std::vector<int>> promoted_by(const Trace& trace, int block, int query, ThreadPool& pool) {
    const auto path = DirectPath::at(trace, query, block);
    if (!path) return {};
    const Matrix logits = path->logits(trace.head_additions(block, query, pool), pool);
    std::vector<std::vector<int>> out;
    for (Index head = 0; head < logits.rows(); ++head)
        out.push_back(ranked_ids(logits.row(head).transpose(), kPromoted));
    return out;
}

/// Finds the heads of a block that attend to copies of the answer and promote it.
void find_name_movers(const Trace& trace, int block, int query, int answer, PerHead<TextTraits>& out,
                      ThreadPool& pool) {
    if (trace.is_mixing(block)) return;
    const std::vector<int>& keys = trace.keys(block).ids;
    std::vector<float> weights;
    for (int head = 0; head < trace.config().heads(block); ++head) {
        const Matrix row = trace.pattern_rows(block, head, query, 1);
        float sum = 0;
        for (int key = 0; key < isize(keys); ++key) sum += keys[key] == answer ? row(0, key) : 0.0f;
        weights.push_back(sum);
    }
    if (*std::max_element(weights.begin(), weights.end()) < kAnswerWeight) return;
    const auto promoted = promoted_by(trace, block, query, pool);
    for (int head = 0; head < isize(promoted); ++head) {
        const auto& ids = promoted[head];
        if (contains(ids, answer)) out[AttentionHead{block, head}].answer = weights[head];
    }
}

void measure_rows(const Trace& trace, AttentionHead at, const std::vector<bool>& punctuation, TextTraits& t) {
    if (trace.is_mixing(at.block)) return;  // tags are of weights that sum to 1
    const bool self = trace.config().block(at.block).kind != AttentionKind::cross;
    const int queries = trace.query_count(at.block), rows = std::min(queries, kLastQueries),
              from = queries - rows;
    const Matrix weights = trace.pattern_rows(at.block, at.head, from, rows);
    double on_marks = 0;
    for (int i = 0; i < rows; ++i)
        for (int key = 0; key < int(weights.cols()); ++key) {
            const float w = weights(i, key);
            if (punctuation[key]) on_marks += w;
            const int query = from + i;
            const bool near = self && (key == 0 || key == query || key == query - 1);
            if (!near && w > t.strongest) t.strongest = w, t.query = query, t.key = key;
        }
    t.punctuation = float(on_marks / std::max(rows, 1));
}

}  // namespace

Result<RandomStatistics> random_statistics(const std::shared_ptr<const Model>& model, ThreadPool& pool,
                                           const CancelFlag* cancel) {
    RandomStatistics out;
    const ModelConfig& c = model->config;
    if (model->weights.stacks.empty() || c.can.read_image) return out;
    out.length = std::min(kRandomTokens, c.context / 2);
    ForwardRequest request;
    for (const StackConfig& stack : c.stacks) {
        Sequence s;
        s.ids = repeated_random_ids(stack.vocab, out.length, 0);
        request.inputs.push_back(std::move(s));
    }
    HeadObserver observer(c, request.inputs, 1);
    TRY(const auto random, run_trace(model, std::move(request), pool, cancel, nullptr, &observer));
    const auto heads = std::move(observer).finish(*random, pool, cancel);
    out.heads = PerHead<std::array<float, kStatistics>>(c);
    for (size_t i = 0; i < heads.size(); ++i) out.heads[i] = heads[i].statistics;
    return out;
}

Result<RandomStatistics> answer_random_statistics(const Trace& trace, const RandomStatisticsRequest&,
                                                  ThreadPool& pool, const CancelFlag* cancel) {
    return random_statistics(trace.model, pool, cancel);
}

Result<PerHead<TextTraits>> text_traits(const Trace& trace, ThreadPool& pool, const CancelFlag* cancel) {
    const ModelConfig& c = trace.config();
    PerHead<TextTraits> out(c);
    std::vector<std::vector<bool>> marks;
    for (int stack = 0; stack < isize(c.stacks); ++stack) {
        std::vector<bool> of_stack(trace.request.inputs[stack].size(), false);
        if (!c.can.read_image) {
            const std::vector<TokenKind> kinds = kinds_of_tokens(trace, stack);
            for (int i = 0; i < isize(kinds); ++i) of_stack[i] = kinds[i] == TokenKind::punctuation;
        }
        marks.push_back(std::move(of_stack));
    }
    for_heads(c, pool, [&](AttentionHead at) {
        measure_rows(trace, at, marks[c.block(at.block).key_stack], out[at]);
    });
    if (stopped(cancel)) return cancelled();
    const std::vector<int> predicts = predicting_positions(trace);
    if (predicts.empty() || !trace.has_weights() || !has_direct_path(*trace.model)) return out;
    const MetricPlace place = default_place(trace, pool);
    const int query = place.position, answer = place.token, last = isize(c.stacks) - 1;
    for (int block = 0; block < c.blocks() && !stopped(cancel); ++block) {
        const AttentionBlock at = c.block(block);
        if (at.stack == last && (at.key_stack == last || c.shared_embedding))
            find_name_movers(trace, block, query, answer, out, pool);
    }
    if (stopped(cancel)) return cancelled();
    return out;
}

std::vector<HeadTag> head_tags(const HeadMeasures& head) {
    std::vector<HeadTag> out;
    for (const HeadTagRow& row : kRows)
        if (const float value = row.value(head); value >= row.threshold) out.push_back({&row, value});
    return out;
}

}  // namespace headlight

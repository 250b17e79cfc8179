// Explains a prediction: which heads carry it, from which tokens, and along which paths.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/attribution/leave_out.h"
#include "analysis/comparison/run_pair.h"
#include "analysis/corpus/prompts.h"
#include "analysis/patching/path_patching.h"
#include "io/json.h"
#include "io/numbers.h"
#include "model/heads.h"

namespace headlight {

/// The logit of a token instead of its probability: cutting a path moves it also where p is near 1.
Metric in_logits(Metric metric);

/// One measured path. Effects are in the unit of Explanation::metric: how far it falls when the path is cut.
struct PathEdge {
    int token = -1;           // From a token into `to`; −1: from `from`
    AttentionHead from = {};  // unless a token
    bool to_answer = false;   // from `from` straight to the answer
    AttentionHead to = {};    // unless the answer
    float effect = 0;
    float by_queries = NAN, by_keys = NAN, by_values = NAN;  // of solid edges between heads
    /// Whether both are the same path, whatever is known of it.
    bool same_path(const PathEdge& other) const {
        return token == other.token && from == other.from && to_answer == other.to_answer && to == other.to;
    }
};

/// effect = metric(clean) − metric(without the token)
struct LeftOutWord {
    int stack = 0, token = 0;
    float effect = 0;
};

struct ExplanationRequest {
    using Answer = struct ExplanationFound;
    Metric metric;
    float edges_from = 0;  // the weakest solid edge; 0: kShareOfLargest of the largest direct effect
    int max_heads = 8;
    int sentences = 6;  // like this one, on which the circuit is tested
    bool operator==(const ExplanationRequest&) const = default;
};

/// The same circuit on a sentence with other words.
struct OtherSentence {
    std::string text;
    Metric metric;  // resolved
    MetricValues clean, only, without;
    std::vector<float> effects;  // of each head of the circuit: its path to the answer cut, or the head
                                 // ablated, whichever tells more
};

struct Explanation {
    static constexpr float kShareOfLargest = 0.4f, kFaint = 0.35f;  // of edges_from: the weakest dashed edge

    ExplanationRequest asked;
    Metric metric;  // resolved; of a token its logit, because log p is flat near 1
    MetricValues clean;
    std::vector<LeftOutWord> words;  // those measured, in their order
    std::string words_refusal;       // why none can be left out
    PerHead<float> direct;           // straight to the answer, by head; NaN: not measured yet
    PerHead<float> ablated;          // metric(clean) − metric(head ablated); NaN: not measured yet
    float edges_from = 0;
    std::vector<AttentionHead> heads;  // of the circuit, as a pass computes them
    std::vector<PathEdge> edges;       // strongest first, those from kFaint · edges_from up
    std::vector<PathEdge> waiting;     // between these heads, not measured yet
    MetricValues only, without;        // the metric with these heads alone, and with all others
    PromptTemplate like;               // of other sentences
    std::vector<OtherSentence> others;
    std::string others_refusal;  // why there are none

    /// Stages in their order: how many of their steps are done.
    struct Stage {
        const char* name;
        int done = 0, count = 0;
        bool ended = false;
    };
    std::vector<Stage> stages;
    bool whole() const;
    /// Whether `only` and `without` are measured.
    bool checked() const;
    /// In how many of the other sentences a head's effect is at least half of edges_from.
    int still_matters(size_t head) const;
    bool is_solid(const PathEdge& edge) const { return std::abs(edge.effect) >= edges_from; }
};

/// Measures, calling `seen` (or null) after each few runs with what is known so far:
/// 1. the effect of leaving each token out, where that has a meaning;
/// 2. the direct effect of each head; those of at least `edges_from` are in the circuit;
/// 3. the effect of ablating each head; the strongest others may be senders;
/// 4. the path from each candidate into each head of the circuit; candidates with one of at least
///    `edges_from` join;
/// 5. the path from each token into each head of the circuit (the kTokens tokens it attends to most);
/// 6. the metric with the circuit alone, and without it;
/// 7. the same circuit on sentences with other words (similar_prompts), where no intervention is active.
/// An error says why the metric cannot be taken, or that `cancel` was set.
Result<Explanation> explain(const Trace& clean, const ExplanationRequest& request, ThreadPool& pool,
                            const CancelFlag* cancel = nullptr,
                            const std::function<void(const Explanation&)>& seen = nullptr);

/// The explanation, or why there is none.
struct ExplanationFound {
    std::shared_ptr<const Explanation> explanation;  // null: nothing is measured yet, or refused
    std::string refusal;
};
Result<ExplanationFound> measure_explanation(const Runs& runs, const ExplanationRequest& request,
                                             ThreadPool& pool, const CancelFlag* cancel,
                                             const std::function<void(ExplanationFound)>& seen);

/// Its edges as a table (from, to, effect, by queries, keys and values), its heads, the checks, the tokens
/// left out, and all heads.
std::vector<NumberTable> explanation_numbers(const Explanation& explanation, const Trace& clean);

/// All of it as JSON (docs/window/explain.md).
Json explanation_json(const Explanation& explanation, const Trace& clean);

}  // namespace headlight

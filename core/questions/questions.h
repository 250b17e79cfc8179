// Lists what a view can ask of a trace. A question is plain data; equal questions have equal answers.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <tuple>
#include <type_traits>
#include <variant>

#include "analysis/attention/block_chain.h"
#include "analysis/attention/block_weights.h"
#include "analysis/attention/cell.h"
#include "analysis/attention/contacts.h"
#include "analysis/attention/head_map.h"
#include "analysis/attention/head_tags.h"
#include "analysis/attention/layer_patterns.h"
#include "analysis/attention/links.h"
#include "analysis/attention/positions.h"
#include "analysis/attention/score_origins.h"
#include "analysis/attention/shown.h"
#include "analysis/attention/steps.h"
#include "analysis/attention/turns.h"
#include "analysis/attribution/delta.h"
#include "analysis/attribution/flow.h"
#include "analysis/attribution/influence_map.h"
#include "analysis/circuits/adapter_changes.h"
#include "analysis/circuits/circuits.h"
#include "analysis/circuits/composition.h"
#include "analysis/comparison/encodings.h"
#include "analysis/comparison/strengths.h"
#include "analysis/comparison/word_alignment.h"
#include "analysis/corpus/corpus_file.h"
#include "analysis/corpus/prompt_averages.h"
#include "analysis/patching/effects.h"
#include "analysis/patching/explanation.h"
#include "analysis/patching/patch_map.h"
#include "analysis/prediction/experts.h"
#include "analysis/prediction/lens.h"
#include "analysis/prediction/own_answer.h"
#include "analysis/prediction/token_choices.h"
#include "learn/lessons/judge.h"
#include "learn/page_request.h"

namespace headlight {

/// Holds runs again where the weights are here, of models whose weights a server has; other runs as they
/// were.
struct RunsHere {
    std::shared_ptr<const Trace> shown, own, other;  // run here; null: `of` has it
    Runs of;

    Runs runs() const {
        return {shown ? *shown : of.shown, own ? own.get() : of.own, other ? other.get() : of.other};
    }
};
Result<RunsHere> runs_here(const Runs& runs, ThreadPool& pool, const CancelFlag* cancel);
/// Returns a model with weights here: itself, if they are here or nowhere.
Result<std::shared_ptr<const Model>> model_here(const std::shared_ptr<const Model>& model,
                                                const CancelFlag* cancel);

/// Return whether the answer to a request needs weights, which a server may have to send first.
template <class Request>
bool always(const Request&) {
    return true;
}
template <class Request>
bool never(const Request&) {
    return false;
}
/// Of a graph: unless it is made of patterns alone.
template <class Request>
bool beyond_patterns(const Request& request) {
    return request.by != Origins::rollout && request.by != Origins::flow;
}
/// Of scores: by some methods.
template <class Request>
bool by_method(const Request& request) {
    return row_of(influence_methods(), request.how.method).needs_weights;
}
inline bool by_contribution(const TurnsRequest& request) {
    return request.measure == TurnMeasure::contribution;
}
inline bool beside_contributions(const AttentionBesideRequest& request) {
    return request.beside == InfluenceBeside::contribution;
}

/// Calls a function of runs, whose weights are here if they are needed and can be.
template <class Function>
auto with_weights(const Runs& runs, bool needed, ThreadPool& pool, const CancelFlag* cancel,
                  const Function& function) -> decltype(function(runs)) {
    if (!needed) return function(runs);
    TRY(const RunsHere here, runs_here(runs, pool, cancel));
    return function(here.runs());
}

/// Defines a row of the table: the request's type, the function that answers it, and whether that needs
/// weights. The type may have two members: clamp_to(trace) moves blocks, tokens and positions to the nearest
/// that the trace has; valid_for(shown) says whether its answer applies to the shown head, whose tokens label
/// it in views.
template <class Request, auto Function, bool (*NeedsWeights)(const Request&) = never>
struct QuestionRow {
    using Asks = Request;
    static Result<typename Request::Answer> answer(const Runs& runs, const Request& request, ThreadPool& pool,
                                                   const CancelFlag* cancel) {
        return with_weights(runs, NeedsWeights(request), pool, cancel,
                            [&](const Runs& of) { return Function(of, request, pool, cancel); });
    }
};

/// The same of a question whose answer takes long: a job answers it in the background too
/// (session/work/jobs.h). Function also reports answers so far to `seen`, or null; an error becomes the
/// answer's `refusal`. The type may have a static member same_for(a, b): whether two shown runs have the same
/// answer, whatever else is shown.
template <class Request, auto Function, bool (*NeedsWeights)(const Request&) = never>
struct MeasuredRow {
    using Asks = Request;
    using Answer = typename Request::Answer;

    static Result<Answer> answer(const Runs& runs, const Request& request, ThreadPool& pool,
                                 const CancelFlag* cancel,
                                 const std::function<void(Answer)>& seen = nullptr) {
        Result<Answer> found = with_weights(runs, NeedsWeights(request), pool, cancel, [&](const Runs& of) {
            return Function(of, request, pool, cancel, seen);
        });
        if (found || found.error().cancelled) return found;
        Answer refused;
        refused.refusal = found.error().message;
        return refused;
    }
};

/// The questions that are answered before a frame is shown.
inline constexpr std::tuple kAnswered{
    QuestionRow<LinksRequest, answer_links>{},
    QuestionRow<CellWeightsRequest, answer_cell_weights>{},
    QuestionRow<StepsRequest, answer_steps, always>{},
    QuestionRow<DeltaMapsRequest, answer_delta_maps>{},
    QuestionRow<DeltaSplitRequest, answer_delta_split, always>{},
    QuestionRow<ProjectionRequest, answer_projection>{},
    QuestionRow<LensRequest, answer_lens>{},
    QuestionRow<AttributionRequest, answer_attribution, always>{},
    QuestionRow<ExpertRoutesRequest, answer_expert_routes, always>{},
    QuestionRow<ExpertsRequest, answer_experts, always>{},
    QuestionRow<GraphRequest, answer_graph, beyond_patterns>{},
    QuestionRow<RolloutRequest, answer_rollout, beyond_patterns>{},
    QuestionRow<HeadMapRequest, answer_head_map>{},
    QuestionRow<RandomStatisticsRequest, answer_random_statistics>{},
    QuestionRow<HeadPairRequest, answer_head_pair>{},
    QuestionRow<DeltaPairRequest, answer_delta_pair>{},
    QuestionRow<PredictionPairRequest, answer_prediction_pair>{},
    QuestionRow<MovedRequest, answer_moved>{},
    QuestionRow<MetricRequest, answer_metric>{},
    QuestionRow<StagesRequest, answer_stages>{},
    QuestionRow<WordAlignmentRequest, answer_word_alignment>{},
    QuestionRow<LayerPatternsRequest, answer_layer_patterns>{},
    QuestionRow<PositionsRequest, answer_positions, always>{},
    QuestionRow<ContactsRequest, answer_contacts, always>{},
    QuestionRow<BlockWeightsRequest, answer_block_weights, always>{},
    QuestionRow<BlockChainRequest, answer_block_chain, always>{},
    QuestionRow<HeadsChainRequest, answer_heads_chain, always>{},
    QuestionRow<PageRequest, answer_page, always>{},
    QuestionRow<lessons::JudgeRequest, lessons::judge, always>{},
    QuestionRow<TokenChoicesRequest, answer_token_choices>{},
    QuestionRow<PatchMapRequest, answer_patch_map>{},
    QuestionRow<ScoreOriginsRequest, answer_score_origins, always>{},
    QuestionRow<CircuitsRequest, answer_circuits, always>{},
    QuestionRow<CompositionRequest, answer_composition, always>{},
    QuestionRow<DossierRequest, answer_dossier>{},
    QuestionRow<PromptsRequest, answer_prompts, always>{},
    QuestionRow<AttentionBesideRequest, answer_attention_beside, beside_contributions>{}};

/// The questions whose answers take long.
inline constexpr std::tuple kMeasured{MeasuredRow<ExplanationRequest, measure_explanation, always>{},
                                      MeasuredRow<InfluenceMapRequest, measure_influence_map, always>{},
                                      MeasuredRow<FirstScoresRequest, measure_token_scores<0>, by_method>{},
                                      MeasuredRow<SecondScoresRequest, measure_token_scores<1>, by_method>{},
                                      MeasuredRow<TurnsRequest, measure_turns, by_contribution>{},
                                      MeasuredRow<OwnAnswerRequest, measure_own_answer>{},
                                      MeasuredRow<AdapterChangesRequest, measure_adapter_changes>{},
                                      MeasuredRow<StrengthsRequest, measure_strengths>{},
                                      MeasuredRow<EncodingsRequest, measure_encodings>{}};

/// The table of questions: every question has one row.
inline constexpr std::tuple kQuestions = std::tuple_cat(kAnswered, kMeasured);

template <class Rows>
struct RequestsOf;
template <class... Rows>
struct RequestsOf<const std::tuple<Rows...>> {
    using Variant = std::variant<typename Rows::Asks...>;
};
using Question = RequestsOf<decltype(kQuestions)>::Variant;

template <class Request, class... Rows>
constexpr auto row_of(const std::tuple<Rows...>& rows) {
    constexpr bool kIsIts[] = {std::is_same_v<typename Rows::Asks, Request>...};
    return std::get<std::find(std::begin(kIsIts), std::end(kIsIts), true) - std::begin(kIsIts)>(rows);
}

/// Answers a request by its row.
template <class Request>
Result<typename Request::Answer> answer(const Runs& runs, const Request& request, ThreadPool& pool,
                                        const CancelFlag* cancel = nullptr) {
    return row_of<Request>(kQuestions).answer(runs, request, pool, cancel);
}

/// Clamps what a question names to the trace.
Question clamped(const Question& question, const Trace& trace);

template <class Asked>
bool valid_for(const Asked& asked, const Shown& shown) {
    if constexpr (requires { asked.valid_for(shown); })
        return asked.valid_for(shown);
    else
        return true;
}

template <class Asked>
struct Found {
    Asked asked;
    typename Asked::Answer answer;
    std::shared_ptr<const Trace> of;  // the run it describes; null: every run of the model

    bool is_of(const Trace& run) const { return !of || of.get() == &run; }
};

/// Keeps the last answer to each kind of question, shared between snapshots; returns it only if valid.
template <class Variant>
class AnswersTo;

template <class... Asked>
class AnswersTo<std::variant<Asked...>> {
public:
    /// Returns the last answer of a kind if it describes the shown run and is valid for its head; or null.
    template <class Q>
    const Found<Q>* get(const Shown& shown) const {
        const Found<Q>* found = std::get<Slot<Q>>(found_).get();
        const bool of_this = found && (!found->of || (shown.trace && found->is_of(*shown.trace)));
        return of_this && valid_for(found->asked, shown) ? found : nullptr;
    }
    template <class Q>
    void set(Q asked, typename Q::Answer answer, std::shared_ptr<const Trace> of) {
        std::get<Slot<Q>>(found_) =
            std::make_shared<const Found<Q>>(Found<Q>{std::move(asked), std::move(answer), std::move(of)});
    }
    /// Returns whether exactly this was answered about a run.
    bool holds(const std::variant<Asked...>& question, const Trace& run) const {
        return std::visit(
            [&](const auto& q) {
                const auto& found = std::get<Slot<std::decay_t<decltype(q)>>>(found_);
                return found && found->asked == q && found->is_of(run);
            },
            question);
    }
    /// Forgets what compares with another run.
    void drop_pairs() {
        std::get<Slot<HeadPairRequest>>(found_) = nullptr;
        std::get<Slot<DeltaPairRequest>>(found_) = nullptr;
        std::get<Slot<PredictionPairRequest>>(found_) = nullptr;
        std::get<Slot<PatchMapRequest>>(found_) = nullptr;
        std::get<Slot<FirstScoresRequest>>(found_) = nullptr;
        std::get<Slot<SecondScoresRequest>>(found_) = nullptr;
        std::get<Slot<EncodingsRequest>>(found_) = nullptr;
    }
    /// Keeps what is still true of another text in the same model.
    AnswersTo about_model() const {
        AnswersTo out;
        if (const auto& random = std::get<Slot<RandomStatisticsRequest>>(found_))
            out.set(random->asked, random->answer, nullptr);
        if (const auto& weights = std::get<Slot<BlockWeightsRequest>>(found_))
            out.set(weights->asked, weights->answer, nullptr);
        if (const auto& circuits = std::get<Slot<CircuitsRequest>>(found_))
            out.set(circuits->asked, circuits->answer, nullptr);
        if (const auto& composition = std::get<Slot<CompositionRequest>>(found_))
            out.set(composition->asked, composition->answer, nullptr);
        return out;
    }

private:
    template <class Q>
    using Slot = std::shared_ptr<const Found<Q>>;
    std::tuple<Slot<Asked>...> found_;
};

using Answers = AnswersTo<Question>;

}  // namespace headlight

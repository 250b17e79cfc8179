// Everything a view can ask of a trace, beyond heads and cells. A question is plain data; equal questions
// have equal answers.
#pragma once

#include <memory>
#include <tuple>
#include <variant>
#include <vector>

#include "analysis/attention/block_chain.h"
#include "analysis/attention/block_weights.h"
#include "analysis/attention/head_map.h"
#include "analysis/attention/layer_patterns.h"
#include "analysis/attention/links.h"
#include "analysis/attention/positions.h"
#include "analysis/attention/score_origins.h"
#include "analysis/attention/shown.h"
#include "analysis/attention/steps.h"
#include "analysis/attribution/delta.h"
#include "analysis/attribution/flow.h"
#include "analysis/attribution/influence_map.h"
#include "analysis/circuits/circuits.h"
#include "analysis/circuits/composition.h"
#include "analysis/comparison/word_alignment.h"
#include "analysis/corpus/corpus_file.h"
#include "analysis/patching/effects.h"
#include "analysis/patching/patch_map.h"
#include "analysis/prediction/lens.h"
#include "analysis/prediction/token_choices.h"
#include "learn/page_request.h"

namespace headlight {

/// The table of questions: each names the type of its Answer and is answered by answer(runs, question, pool,
/// cancel).
using Question =
    std::variant<LinksWanted, StepsWanted, DeltaMapsWanted, DeltaSplitWanted, ProjectionWanted, LensWanted,
                 AttributionWanted, GraphWanted, RolloutWanted, HeadMapWanted, RandomStatisticsWanted,
                 HeadPairWanted, DeltaPairWanted, PredictionPairWanted, MovedWanted, MetricWanted,
                 StagesWanted, WordAlignmentWanted, LayerPatternsWanted, PositionsWanted, BlockWeightsWanted,
                 BlockChainWanted, HeadsChainWanted, PageWanted, TokenChoicesWanted, PatchMapWanted,
                 ScoreOriginsWanted, CircuitsWanted, CompositionWanted, DossierWanted, InfluenceMapWanted,
                 AttentionBesideWanted, TokenScoresWanted>;

/// The same question with blocks, tokens and positions moved to the nearest that the trace has: by its member
/// fit(), where it names any.
Question fitted(const Question& question, const Trace& trace);

/// Whether an answer to a question goes with the head that is shown: where views put the names of its block's
/// tokens to it, it must be of that block; where it is of one head, of that head; where it is of a stack, of
/// the block's stack. A question says so by a member fits(), where it matters.
template <class Asked>
bool fits(const Asked& asked, const Shown& shown) {
    if constexpr (requires { asked.fits(shown); })
        return asked.fits(shown);
    else
        return true;
}

template <class Asked>
struct Found {
    Asked asked;
    typename Asked::Answer answer;
    std::shared_ptr<const Trace> of;  // the run that it says something of; null: every run of the model

    bool is_of(const Trace& run) const { return !of || of.get() == &run; }
};

/// The last answer to each kind of question, shared between snapshots. It is handed out only where it fits
/// what is shown.
template <class Variant>
class AnswersTo;

template <class... Asked>
class AnswersTo<std::variant<Asked...>> {
public:
    /// The last answer of a kind where it is of the run that is shown and fits its head, whatever else was
    /// asked; or null.
    template <class Q>
    const Found<Q>* get(const Shown& shown) const {
        const Found<Q>* found = std::get<Slot<Q>>(found_).get();
        const bool of_this = found && (!found->of || (shown.trace && found->is_of(*shown.trace)));
        return of_this && fits(found->asked, shown) ? found : nullptr;
    }
    template <class Q>
    void set(Q asked, typename Q::Answer answer, std::shared_ptr<const Trace> of) {
        std::get<Slot<Q>>(found_) =
            std::make_shared<const Found<Q>>(Found<Q>{std::move(asked), std::move(answer), std::move(of)});
    }
    /// Whether exactly this was answered about a run.
    bool holds(const std::variant<Asked...>& question, const Trace& run) const {
        return std::visit(
            [&](const auto& q) {
                const auto& found = std::get<Slot<std::decay_t<decltype(q)>>>(found_);
                return found && found->asked == q && found->is_of(run);
            },
            question);
    }
    /// Forgets what was said of another run.
    void drop_pairs() {
        std::get<Slot<HeadPairWanted>>(found_) = nullptr;
        std::get<Slot<DeltaPairWanted>>(found_) = nullptr;
        std::get<Slot<PredictionPairWanted>>(found_) = nullptr;
        std::get<Slot<PatchMapWanted>>(found_) = nullptr;
        std::get<Slot<TokenScoresWanted>>(found_) = nullptr;
    }
    /// What is still true of another text in the same model.
    AnswersTo about_model() const {
        AnswersTo out;
        if (const auto& random = std::get<Slot<RandomStatisticsWanted>>(found_))
            out.set(random->asked, random->answer, nullptr);
        if (const auto& weights = std::get<Slot<BlockWeightsWanted>>(found_))
            out.set(weights->asked, weights->answer, nullptr);
        if (const auto& circuits = std::get<Slot<CircuitsWanted>>(found_))
            out.set(circuits->asked, circuits->answer, nullptr);
        if (const auto& composition = std::get<Slot<CompositionWanted>>(found_))
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

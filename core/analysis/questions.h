// Everything a view can ask of a trace, beyond heads and cells. A question is plain data; equal questions have equal answers.
#pragma once

#include <memory>
#include <tuple>
#include <variant>
#include <vector>

#include "analysis/delta.h"
#include "analysis/effects.h"
#include "analysis/flow.h"
#include "analysis/head_map.h"
#include "analysis/layer_patterns.h"
#include "analysis/lens.h"
#include "analysis/links.h"
#include "analysis/positions.h"
#include "analysis/steps.h"
#include "analysis/word_alignment.h"

namespace headlight {

/// The table of questions: each names the type of its Answer and is answered by find(runs, question, pool, cancel).
using Question = std::variant<LinksWanted, StepsWanted, DeltaMapsWanted, DeltaSplitWanted, ProjectionWanted, LensWanted, AttributionWanted, GraphWanted, OriginsWanted,
                              HeadMapWanted, RandomStatisticsWanted, HeadPairWanted, DeltaPairWanted, PredictionPairWanted, MovedWanted, StagesWanted, WordAlignmentWanted, LayerPatternsWanted, PositionsWanted>;

/// The same question with blocks, tokens and positions moved to the nearest that the trace has.
Question fitted(const Question& question, const Trace& trace);

template <class Asked>
struct Found {
    Asked asked;
    typename Asked::Answer answer;
};

/// The last answer to each kind of question, shared between snapshots.
template <class Variant>
class AnswersTo;

template <class... Asked>
class AnswersTo<std::variant<Asked...>> {
public:
    /// The last answer of a kind, whatever exactly was asked, or null.
    template <class Q>
    const Found<Q>* get() const {
        return std::get<Slot<Q>>(found_).get();
    }
    template <class Q>
    void set(Q asked, typename Q::Answer answer) {
        std::get<Slot<Q>>(found_) = std::make_shared<const Found<Q>>(Found<Q>{std::move(asked), std::move(answer)});
    }
    bool holds(const std::variant<Asked...>& question) const {
        return std::visit([this](const auto& q) {
            const auto* found = get<std::decay_t<decltype(q)>>();
            return found && found->asked == q;
        }, question);
    }
    /// Forgets what was said of another run.
    void drop_pairs() {
        std::get<Slot<HeadPairWanted>>(found_) = nullptr;
        std::get<Slot<DeltaPairWanted>>(found_) = nullptr;
        std::get<Slot<PredictionPairWanted>>(found_) = nullptr;
    }
    /// What is still true of another text in the same model.
    AnswersTo about_model() const {
        AnswersTo out;
        std::get<Slot<RandomStatisticsWanted>>(out.found_) = std::get<Slot<RandomStatisticsWanted>>(found_);
        return out;
    }

private:
    template <class Q>
    using Slot = std::shared_ptr<const Found<Q>>;
    std::tuple<Slot<Asked>...> found_;
};

using Answers = AnswersTo<Question>;

}  // namespace headlight

// Where the graph's token comes from: what is asked, and how it was told.
#include "base/cast.h"
#include "views/graph.h"
#include "views/parts.h"

namespace headlight {

const char* origins_name(Origins by) {
    switch (by) {
        case Origins::flow:
            return "flow";
        case Origins::contribution:
            return "contribution";
        case Origins::relevance:
            return "relevance";
        default:
            return "rollout";
    }
}

const Rollout* shown_origins(const Scene& s) {
    const auto* found = s.found<RolloutWanted>();
    return found && found->asked.included.stack == graph_stack(s) ? &found->answer : nullptr;
}

std::vector<Question> ask_graph(const Scene& s) {
    const auto& state = s.of<GraphState>();
    IncludedHeads included = state.included;
    included.stack = graph_stack(s);
    const Metric metric = s.session.document.metric.metric;
    GraphWanted graph{included, state.share, state.by, {metric, graph_token(s)}};
    if (state.by == Origins::automatic || state.by == Origins::flow) {  // as the origins turned out
        const auto* found = s.found<RolloutWanted>();
        const bool moves = state.by == Origins::automatic && found && found->asked.by == state.by &&
                           found->answer.by == Origins::contribution;
        graph.by = moves ? Origins::contribution : Origins::rollout;
    }
    return {graph, RolloutWanted{included, graph_token(s), state.by, metric}};
}

std::string origins_note(const Scene& s, const Rollout& r) {
    const auto& state = s.of<GraphState>();
    if (r.by == Origins::flow && r.flow.empty())
        return "Flow is computed for at most " + std::to_string(kMaxFlowTokens) +
               " tokens; this is the rollout.";
    if (!r.refusal.empty()) return r.refusal;
    std::string out = "Origins of " + token_at(s.sentence()->labels[graph_stack(s)], graph_token(s)) + ": ";
    switch (r.by) {
        case Origins::contribution:
            out += std::string(state.by == Origins::automatic
                                   ? "contributions, because rollout leaves the first token more than half; "
                                   : "") +
                   "lengths of what attention moves, ‖Σ α v W_O‖, against the residual (Kobayashi et al. "
                   "2020, 2021).";
            break;
        case Origins::relevance:
            out += "patterns weighted by the metric’s gradients (Chefer et al. 2021), as shares.";
            break;
        default:
            out += "each layer counts as half attention, half residual stream (Abnar and Zuidema 2020).";
    }
    if (state.sink_apart) out += " The first token stands apart; the others sum to 1.";
    return out;
}

}  // namespace headlight

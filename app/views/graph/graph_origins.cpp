// Traces the graph's token to the input: the questions asked, and the method's name.
#include "base/cast.h"
#include "parts/controls.h"
#include "views/graph/graph.h"

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
    const auto* found = s.found<RolloutRequest>();
    return found && found->asked.included.stack == graph_stack(s) ? &found->answer : nullptr;
}

std::vector<Question> ask_graph(const Scene& s) {
    const auto& state = s.of<GraphState>();
    IncludedHeads included = state.included;
    included.stack = graph_stack(s);
    const Metric metric = s.session.document.metric.metric;
    GraphRequest graph{included, state.share, state.by, {metric, graph_token(s)}};
    if (state.by == Origins::automatic || state.by == Origins::flow) {  // match what automatic chose
        const auto* found = s.found<RolloutRequest>();
        const bool moves = state.by == Origins::automatic && found && found->asked.by == state.by &&
                           found->answer.by == Origins::contribution;
        graph.by = moves ? Origins::contribution : Origins::rollout;
    }
    return {graph, RolloutRequest{included, graph_token(s), state.by, metric}};
}

namespace {

/// Describes the method: in full, then shorter.
std::vector<std::string> method_notes(Origins by, bool chosen_for_sink, bool sink_remains) {
    switch (by) {
        case Origins::contribution: {
            const std::string why =
                !chosen_for_sink
                    ? ""
                    : std::string("contributions, because rollout assigns the first token more than half") +
                          (sink_remains ? " (contributions too: set it apart)" : "");
            const std::string what = "norms of what attention moves, ‖Σ α v W_O‖, against the residual";
            return {(why.empty() ? "" : why + "; ") + what + " (Kobayashi et al. 2020, 2021).",
                    (why.empty() ? "norms of what attention moves, ‖Σ α v W_O‖" : why) + ".",
                    "contributions."};
        }
        case Origins::relevance:
            return {"patterns weighted by the metric’s gradients (Chefer et al. 2021), as shares.",
                    "patterns weighted by the metric’s gradients.", "relevance."};
        default:
            return {"each layer counts as half attention, half residual stream (Abnar and Zuidema 2020).",
                    "each layer counts as half attention, half residual stream.", "rollout."};
    }
}

}  // namespace

bool has_sinks(const Graph& graph) {
    return std::any_of(graph.sinks.begin(), graph.sinks.end(),
                       [](const Vector& of_layer) { return of_layer.size() && of_layer.maxCoeff() > 0; });
}

std::vector<std::string> origins_notes(const Scene& s, const Rollout& r) {
    const auto& state = s.of<GraphState>();
    if (r.by == Origins::flow && r.flow.empty())
        return {
            "Flow is computed for at most " + std::to_string(kMaxFlowTokens) + " tokens; showing rollout.",
            "More than " + std::to_string(kMaxFlowTokens) + " tokens: rollout instead of flow."};
    if (!r.refusal.empty()) return {r.refusal};
    const std::string token = token_at(s.sentence()->labels[graph_stack(s)], graph_token(s));
    const auto* graph = s.found<GraphRequest>();
    const std::string stubs = graph && has_sinks(graph->answer) ? " Stubs: weight left to sinks." : "";
    std::vector<std::string> out;
    const std::vector<float> shares = r.shares();
    const bool sink_remains = !state.sink_apart && !shares.empty() && shares[0] > 0.5f;
    for (const std::string& how : method_notes(r.by, state.by == Origins::automatic, sink_remains)) {
        const std::string note = "Origins of " + token + ": " + how;
        if (!stubs.empty() && !state.sink_apart) out.push_back(note + stubs);
        out.push_back(note + (state.sink_apart ? " First token apart; the others sum to 1." : ""));
        if (state.sink_apart) out.push_back(note + " First token apart.");
    }
    return out;
}

}  // namespace headlight

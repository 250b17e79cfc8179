// Tokens as nodes, attention as edges through all layers.
#pragma once

#include "analysis/attribution/flow.h"
#include "io/numbers.h"
#include "paint/layout.h"
#include "parts/scene.h"
#include "session/viewport.h"

namespace headlight {

struct View;

struct GraphState {
    IncludedHeads included;
    float share = 0.7f;  // of each row's mass
    Origins by = Origins::automatic;
    Viewport seen;
    bool sink_apart = false;  // show the first token separately; the other shares sum to 1
    float list_scroll = 0;
    int followed = -1;
    void visit(FieldVisitor& visitor);
};

/// Leads from link.key below `layer` to `query` above it.
struct GraphEdge {
    int layer, query;
    Link link;
};

/// Caches the edges that begin or end in sight, because a long text has hundreds of thousands out of sight.
/// Edges weaker than `faintest` are not drawn.
struct EdgesInSight {
    uint64_t of_sentence = 0;
    std::optional<GraphRequest> asked;
    Rect view;
    float row = 0, hidden = 0;  // of Grid
    std::vector<GraphEdge> edges;
    float faintest = 0;
};
const EdgesInSight& edges_in_sight(const Scene& scene, const Found<GraphRequest>& graph, const Grid& tokens);

/// Returns the stack whose layers are shown, and the token at the top that is traced down.
int graph_stack(const Scene& scene);
int graph_token(const Scene& scene);

void draw_graph(Scene& scene, Rect area);
void draw_graph_list(Scene& scene, Rect area);
void draw_graph_inspector(Scene& scene, Rect area);
/// Returns whether heads of the shown links leave weight to sinks that are no tokens.
bool has_sinks(const Graph& graph);
/// Returns the traced token's rollout in the shown stack; null until it is known.
const Rollout* shown_origins(const Scene& scene);
const char* origins_name(Origins by);
/// Names the method that traced the token: in full, then shorter.
std::vector<std::string> origins_notes(const Scene& scene, const Rollout& origins);
std::vector<Question> ask_graph(const Scene& scene);
std::vector<NumberTable> graph_numbers(const Scene& scene);

std::vector<Command> graph_commands();
View graph_view();

}  // namespace headlight

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
    IncludedHeads included;  // its heads
    float share = 0.7f;      // of each row's mass
    Origins by = Origins::automatic;
    Viewport seen;
    bool sink_apart = false;  // the first token beside the others, whose shares sum to 1
    float list_scroll = 0;
    int followed = -1;
    void visit(FieldVisitor& visitor);
};

/// An edge of the graph, which begins at link.key in the level of a layer and ends at a query in the next.
struct GraphEdge {
    int layer, query;
    Link link;
};

/// The edges that begin or end in sight, and the weight under which they are left out so that the heaviest
/// alone are drawn. Of a long text hundreds of thousands are out of sight; these are looked for again where
/// they or what is seen are others.
struct EdgesInSight {
    uint64_t of_sentence = 0;
    std::optional<GraphRequest> asked;
    Rect view;
    float row = 0, hidden = 0;  // of Grid
    std::vector<GraphEdge> edges;
    float faintest = 0;
};
const EdgesInSight& edges_in_sight(const Scene& scene, const Found<GraphRequest>& graph, const Grid& tokens);

/// The stack whose layers are shown, and the token at the top that is followed down.
int graph_stack(const Scene& scene);
int graph_token(const Scene& scene);

void draw_graph(Scene& scene, Rect area);
void draw_graph_list(Scene& scene, Rect area);
void draw_graph_inspector(Scene& scene, Rect area);
/// What is known of the followed token, in the stack that is shown; null until then.
const Rollout* shown_origins(const Scene& scene);
const char* origins_name(Origins by);
/// Where the token comes from, and how that was told: in full, then in fewer words.
std::vector<std::string> origins_notes(const Scene& scene, const Rollout& origins);
std::vector<Question> ask_graph(const Scene& scene);
std::vector<NumberTable> graph_numbers(const Scene& scene);

std::vector<Command> graph_commands();
View graph_view();

}  // namespace headlight

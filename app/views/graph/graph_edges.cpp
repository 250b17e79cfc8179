// Finds the edges of the graph that are in sight.
#include "base/cast.h"
#include "parts/controls.h"
#include "views/graph/graph.h"

namespace headlight {

namespace {

bool is_of(const EdgesInSight& e, uint64_t sentence, const GraphRequest& asked, const Grid& g) {
    return e.of_sentence == sentence && e.asked == asked && e.view.x == g.view.x && e.view.y == g.view.y &&
           e.view.w == g.view.w && e.view.h == g.view.h && e.row == g.h && e.hidden == g.y0;
}

}  // namespace

const EdgesInSight& edges_in_sight(const Scene& s, const Found<GraphRequest>& graph, const Grid& tokens) {
    auto& kept = s.of<EdgesInSight>();
    const uint64_t sentence = s.sentence()->serial.value();
    if (is_of(kept, sentence, graph.asked, tokens)) return kept;
    kept = {sentence, graph.asked, tokens.view, tokens.h, tokens.y0, {}, 0};
    std::vector<float> weights;
    const auto& links = graph.answer.links;
    for (int layer = 0; layer < isize(links); ++layer)
        for (int query = 0; query < isize(links[layer]); ++query) {
            const bool ends = tokens.sees_row(query);
            for (const Link& link : links[layer][query]) {
                if (!ends && !tokens.sees_row(link.key)) continue;
                kept.edges.push_back({layer, query, link});
                weights.push_back(link.weight);
            }
        }
    kept.faintest = cutoff_weight(weights, s.ui.most_lines);
    return kept;
}

}  // namespace headlight

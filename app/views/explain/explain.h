// Shows the circuit of a prediction: tokens, heads by layer, the answer, and the paths between them.
#pragma once

#include <optional>

#include "analysis/patching/explanation.h"
#include "parts/controls.h"

namespace headlight {

struct View;

struct ExplainState {
    float edges_from = 0;                   // the weakest solid path, in logits; 0: Explanation::edges_from
    bool measures = true;                   // else cancelled
    std::optional<PathEdge> pointed, held;  // compared by same_path()
    void visit(FieldVisitor& visitor);
};

ExplanationRequest explanation_request(const Scene& scene);
ExplanationFound explanation_found(const Scene& scene);

/// "red 16 → 1.1", "0.0 → ball".
std::string edge_name(const Scene& scene, const Explanation& of, const PathEdge& edge);
/// "99.98 %": with a second decimal near 1, where one would round up.
std::string probability_text(float probability);
/// True if an edge is held, or hovered while none is held.
bool is_highlighted(const Scene& scene, const PathEdge& edge);
float edges_from(const Scene& scene, const Explanation& of);
/// The explained token, or both of a difference: "ball", "Mary − John".
std::string answer_name(const Scene& scene, const Explanation& of);

void draw_explanation(Scene& scene, Rect area, const Explanation& of);
void draw_explain_inspector(Scene& scene, Rect area);

View explain_view();

}  // namespace headlight

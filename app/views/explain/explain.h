// Shows the circuit of a prediction: tokens, heads by layer, the answer, and the paths between them.
#pragma once

#include <optional>

#include "analysis/patching/explanation_steps.h"
#include "parts/controls.h"

namespace headlight {

struct View;

struct ExplainState {
    float edges_from = 0;                   // the weakest solid path, in logits; 0: Explanation::edges_from
    bool measures = true;                   // else cancelled
    std::optional<PathEdge> pointed, held;  // compared by same_path()
    int step = kAllSteps;                   // that the others are dimmed for
    bool plays = false;                     // one step after the other
    double next_step = 0;                   // seconds, while it plays
    static constexpr int kAllSteps = -1, kMaxSteps = 4;
    /// The circuit in words, and what it was told from.
    struct Told {
        std::shared_ptr<const Explanation> of;
        std::string tags;
        std::vector<ExplanationStep> steps;
        std::string path;
    } told = {};
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

/// The held or hovered path, else the strongest between two heads; null before one is measured.
const PathEdge* shown_edge(const Scene& scene, const Explanation& of);
/// The step that is walked through, or null.
const ExplanationStep* shown_step(const Scene& scene);

void draw_explanation(Scene& scene, Rect area, const Explanation& of);
/// Draws the steps at the bottom of `rest`: side by side, or in a low or narrow window the shown one alone.
void draw_explain_steps(Scene& scene, Rect& rest);
/// Draws one path with its effect in a line, and arrows to the next ones: where no inspector is open.
void draw_path_strip(Scene& scene, Rect line, const Explanation& of);
/// Goes on to the next step when its time has come.
void play_steps(Scene& scene);
void draw_explain_inspector(Scene& scene, Rect area);

View explain_view();

}  // namespace headlight

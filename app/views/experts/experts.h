// Experts: which experts each token goes to in each layer, what the router says, what each adds to a logit.
#pragma once

#include "analysis/prediction/experts.h"
#include "io/numbers.h"
#include "parts/controls.h"
#include "parts/token_pages.h"

namespace headlight {

struct View;

struct ExpertsState : TokenPages {};

/// Return what is known of the shown run, or null: the experts of all tokens, and those of the explained one.
const ExpertRoutes* shown_routes(const Scene& scene);
const Found<ExpertsRequest>* shown_experts(const Scene& scene);
/// The layer whose router is shown: the selected head's, or the nearest that has experts.
int expert_layer(const Scene& scene);
/// Returns whether the user switched an expert off; switches it off, or on again.
bool is_off(const Scene& scene, int layer, int expert);
void switch_expert(const Scene& scene, int layer, int expert);
/// "0.3": layer and expert.
std::string expert_name(int layer, int expert);
ImU32 expert_ink(const Scene& scene, int expert);
/// Strikes out a name of this width at the left of a rectangle.
void strike(Ui& ui, Rect at, float width, ImU32 ink);

std::vector<Question> ask_experts(const Scene& scene);
void draw_experts(Scene& scene, Rect area);
/// Draws the router of a layer at the explained token, and what its experts take of the text.
void draw_router(Scene& scene, Rect area, const ExpertRoutes& routes);
void draw_experts_inspector(Scene& scene, Rect area);
std::vector<NumberTable> expert_numbers(const Scene& scene);

View experts_view();

}  // namespace headlight

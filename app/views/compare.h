// The parts of the view that compares two heads, sentences, models, or what is before and after changes.
#pragma once

#include "views/parts.h"

namespace headlight {

/// What is compared, as questions name it.
RunPair compared_runs(const ViewState& state);

/// "Head 2.0", "Head 2.0 before", "Head 2.0, the other sentence": B of the pair that is shown.
std::string name_of_b(const Scene& scene, const HeadPairWanted& asked);

/// Which tokens of two sentences stand for each other: both rows with lines between them; a click on one of A
/// and one of B ties or parts them by hand. Returns the height it took.
float draw_ties(Scene& scene, Rect area);

/// A, B and A − B under one crosshair; returns where they end. `names`: of A and B.
float draw_paired_maps(Scene& scene, Rect area, const PairedMap& map, const std::array<std::string, 2>& names,
                       float most_high);

/// Under the maps: the cells that differ most.
void draw_largest(Scene& scene, Rect area, const PairedMap& map);
/// … the rows of two heads one by one, or another value of each token.
void draw_by_token(Scene& scene, Rect area, const char* title, const char* unit,
                   const std::vector<float>& values, const std::vector<std::string>& labels, int lit);

/// The predictions of both, and how far they are apart at each position.
void draw_prediction_pair(Scene& scene, Rect area, const PredictionPair& pair);

}  // namespace headlight

// Panels around the center of the window.
#pragma once

#include <string>
#include <vector>

#include "parts/scene.h"

namespace headlight {

/// The notice to show: the last message, else how much of a long text is read.
std::string shown_notice(const Scene& scene);

/// The predictions to show: those of the focused position, else the first; or null.
const PredictedTokens* shown_predictions(const Scene& scene);

void draw_sentence_bar(Scene& scene, Rect area);
void draw_inspector(Scene& scene, Rect area);
/// Requests what the inspector of a cell measures in the background.
std::vector<JobRequest> inspector_jobs(const Scene& scene);
void draw_status_bar(Scene& scene, Rect area);
void draw_start_sentences(Scene& scene, Rect area);
/// Fills the center while the first model opens: what is being read, and what comes.
void draw_first_opening(Scene& scene, Rect area);
/// Height of the guide for new users, 0 if hidden; drawn after the widgets that it points at.
float guide_height(const Scene& scene);
void draw_guide(Scene& scene, Rect area);

}  // namespace headlight

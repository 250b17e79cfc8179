// What stands around the center of the window.
#pragma once

#include <string>

#include "parts/scene.h"

namespace headlight {

/// What a person should know just now: what was said last, else how much of a long text is read.
std::string shown_notice(const Scene& scene);

void draw_sentence_bar(Scene& scene, Rect area);
void draw_inspector(Scene& scene, Rect area);
void draw_status_bar(Scene& scene, Rect area);
void draw_start_sentences(Scene& scene, Rect area);
/// How high the guide for who is new stands, 0 where it does not; drawn after what it speaks of.
float guide_height(const Scene& scene);
void draw_guide(Scene& scene, Rect area);

}  // namespace headlight

// Follow a word: plays a thread's steps, and draws them beside their picture.
#pragma once

#include <string>
#include <vector>

#include "learn/page.h"
#include "parts/scene.h"

namespace headlight {

/// Holds what the window adds to the station's state.
struct FollowView {
    int drawn = 0;        // the step of the last frame; 0: none
    double since = 0;     // its first frame
    bool blends = false;  // into the next step: the user or Play goes there, no command
    std::string door;     // the station that a step opened; Esc returns from it
};

/// The thread of a page; null if it shows none.
const learn::Thread* thread_of(const learn::Page* page);
/// A page with another step shown, for a figure.
learn::Page page_at_step(learn::Page page, int step);
/// The step chosen in Learn, from 1 on; beyond the twelve: the stops of the story.
int chosen_step(const Session& session);

/// Draws the thread with its player; `titled`: with a title line above it.
void draw_follow(Scene& scene, Rect area, const learn::Thread& thread, bool titled);

/// Draws the card of the story, below the list of stations; returns its bottom.
float draw_story_card(Scene& scene, float x, float y, float width);

std::vector<Command> follow_commands();

}  // namespace headlight

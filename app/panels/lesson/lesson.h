// The panels of a lesson: its tasks at the left, the open task at the right, and its commands.
#pragma once

#include "parts/scene.h"
#include "session/lesson.h"

namespace headlight {

/// Opens a lesson by path, or a built-in one by name, over what is open; `open`: the current model, or null.
Status show_lesson(Session& session, const Model* open, const std::string& name);
/// The same before there is a model.
Status start_lesson(Session& session, const std::string& name);
/// Returns to what was open before the lesson.
Status close_lesson(Session& session, const Model* open);

/// Reports views that a lesson names and the program does not have.
Status check_lesson_views(const lessons::Lesson& lesson, const std::string& name);

std::vector<Command> lesson_commands();

/// The verdict on the open task; null until it is known.
const lessons::Verdict* shown_verdict(const Scene& scene);

void draw_lesson_list(Scene& scene, Rect area);
/// `alone`: no list of tasks is drawn, so the panel has the way to the others and out.
void draw_lesson_task(Scene& scene, Rect area, bool alone);
/// Hides the view until the open task's guess; returns whether it did.
bool draw_lesson_cover(Scene& scene, Rect area);

/// Draws what a task is answered with, from y down; returns its bottom.
float draw_lesson_answers(Scene& scene, float x, float y, float width);

}  // namespace headlight

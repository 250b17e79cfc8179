// Masks and changes: how views show and make them.
#pragma once

#include "views/parts.h"

namespace headlight {

/// "mask red 16 → ball 10", "1.2 mean": a change as people read it.
std::string change_text(const Scene& scene, const Change& change);

/// Takes the last thing back that the person did, to a text or to the model, or does it again.
void undo(ViewState& state, Fields& fields);
void redo(ViewState& state, Fields& fields);

/// Puts a change in force, or takes it away again.
void toggle_change(ViewState& state, const Change& change);

/// Puts a change in force in place of those of its kinds with exactly its place; without one they are taken
/// away.
void replace_changes(ViewState& state, const std::vector<ChangeKind>& kinds, int site, int head,
                     const std::optional<Change>& change);

/// What the brush does to a cell while it is dragged over the heat map; Shift turns it round.
void paint_cell(Scene& scene, std::pair<int, int> cell);
/// What it does to all cells between two corners.
void paint_block(Scene& scene, std::pair<int, int> from, std::pair<int, int> to);
bool paints_blocks(const ViewState& state);

/// Buttons and the score for the shown cell and head, above `bottom`; returns where they begin.
float draw_change_buttons(Scene& scene, Rect column, float bottom, std::pair<int, int> cell);

/// What the changes do needs more than the pass itself: questions of every view while changes are in force.
std::vector<Question> ask_about_changes(const Scene& scene);

/// Whether the inspector speaks of what the changes do rather than of a cell.
bool shows_effects(const Scene& scene);
/// The prediction before and after, and change by change.
void draw_effects_inspector(Scene& scene, Rect area);
/// The first rows of that, in a column; returns the next y.
float draw_effects(Scene& scene, Rect column, float y, float bottom);

/// How far a sweep is, with a way to begin and to end it; true when it has ended and its numbers can be
/// drawn.
bool draw_sweep_state(Scene& scene, Rect area);

}  // namespace headlight

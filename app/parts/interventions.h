// Masks and changes: how views show and make them.
#pragma once

#include <map>
#include <tuple>

#include "parts/controls.h"
#include "session/commands/commands.h"

namespace headlight {

/// What dragging over the heat map does to the cells.
enum class Brush { off, mask, unmask, mask_rectangle, unmask_rectangle };

/// What it acts on: all heads (of cross-attention: of this layer), this layer's, or the selected one.
enum class BrushScope { all_heads, this_layer, this_head };

/// A cell that is masked or unmasked: kind, attention block, head, query, key.
using PaintedCell = std::tuple<ChangeKind, int, int, int, int>;

struct Painting {
    Brush brush = Brush::off;
    BrushScope scope = BrushScope::all_heads;    // of the temperature too
    std::pair<int, int> last{-1, -1};            // where the pointer was in this stroke; −1: beyond the map
    bool begun = false;                          // whether the stroke has changed a cell
    std::vector<std::pair<int, int>> covered;    // cells under the stroke that is being drawn
    int stroke = 0;                              // its number
    std::map<PaintedCell, int> strokes;          // the stroke that painted a cell
    std::pair<int, int> scored{-1, -1};          // … whose score was changed last in this drag
    std::pair<int, int> rectangle_from{-1, -1};  // the corner of one that is being drawn
    void visit(FieldVisitor& v);
};

/// Chips of the masks and changes in force, in every view; returns how much room they take.
float draw_changes(Scene& scene, Rect area);

/// "mask red 16 → ball 10", "1.2 mean": a change as people read it.
std::string change_text(const Scene& scene, const Change& change);

/// What the brush does to all cells from where it was to this one; Shift turns it round. A stroke is one step
/// of undo.
void paint_stroke(const Scene& scene, std::pair<int, int> to);
/// The button is up: the next stroke is another one.
void end_stroke(const Scene& scene);
/// What it does to all cells between two corners.
void paint_rectangle(const Scene& scene, std::pair<int, int> from, std::pair<int, int> to);
bool paints_rectangles(const Session& session);

/// Buttons and the score for the shown cell and head, above `bottom`; returns where they begin.
float draw_change_buttons(Scene& scene, Rect column, float bottom, std::pair<int, int> cell);

/// How far a sweep is, with a way to begin and to end it; true when it has ended and its numbers can be
/// drawn.
bool draw_sweep_state(Scene& scene, Rect area);

}  // namespace headlight

// Shows and edits interventions.
#pragma once

#include <map>
#include <tuple>

#include "parts/controls.h"
#include "session/commands/commands.h"

namespace headlight {

/// The effect of dragging over the heat map.
enum class Brush { off, mask, unmask, mask_rectangle, unmask_rectangle };

/// The heads it edits; all_heads means this layer's heads in cross-attention.
enum class BrushScope { all_heads, this_layer, this_head };

/// Kind, attention block, head, query, key.
using PaintedCell = std::tuple<ChangeKind, int, int, int, int>;

struct Painting {
    Brush brush = Brush::off;
    BrushScope scope = BrushScope::all_heads;    // also of the temperature
    std::pair<int, int> last{-1, -1};            // last cell of this stroke; −1: outside the map
    bool begun = false;                          // the stroke has changed a cell
    std::vector<std::pair<int, int>> covered;    // cells under the current stroke
    int stroke = 0;                              // its index
    std::map<PaintedCell, int> strokes;          // stroke that painted a cell
    std::pair<int, int> scored{-1, -1};          // the last cell whose score this drag changed
    std::pair<int, int> rectangle_from{-1, -1};  // corner of the current rectangle
    void visit(FieldVisitor& v);
};

/// Draws the chips of active interventions; returns their height. `paints`: the intervention bar may stand
/// above, which keeps their place.
float draw_changes(Scene& scene, Rect area, bool paints);

/// "mask red 16 → ball 10", "1.2 mean".
std::string change_text(const Scene& scene, const Change& change);

/// Paints all cells from the last one to this one; Shift inverts. A stroke is one undo step.
void paint_stroke(const Scene& scene, std::pair<int, int> to);
void end_stroke(const Scene& scene);
void paint_rectangle(const Scene& scene, std::pair<int, int> from, std::pair<int, int> to);
bool paints_rectangles(const Session& session);

/// Draws the buttons and the score for the shown cell and head above `bottom`; returns their top.
float draw_change_buttons(Scene& scene, Rect column, float bottom, std::pair<int, int> cell);

/// Draws a sweep's progress with a button to start or cancel it, and takes its room; nothing once its numbers
/// are complete.
void draw_sweep_state(Scene& scene, Rect& area);

}  // namespace headlight

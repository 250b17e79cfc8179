// A matrix with all that stands around it: names and titles along both sides, cells or a texture, their
// numbers, the color bar, the marked place, what is said of it. A view says what is in it.
#pragma once

#include "paint/matrix.h"
#include "parts/map_parts.h"
#include "parts/token_axis.h"

namespace headlight {

struct MatrixView {
    std::string path = "";  // of what answers to the mouse
    MatrixCells cells;
    TokenAxis rows, columns;             // without a name: none are drawn, only their room is left
    ColorBar bar = {};                   // under the cells; no colors: none
    std::vector<std::string> note = {};  // under the bar: the first that fits on a line; one alone wraps
    float max_w = 64, max_h = 64;        // of a cell
    float ratio = 0;       // of its width to its height, at most; 0: any, else it is no higher than wide
    bool level = false;    // names of columns thin out rather than lean, as numbers do
    bool upright = false;  // the bar stands beside the cells
    float right = 0, below = 0;  // room for what the view draws itself beside the cells and under them
    float free = 0;              // beyond the area, where the last name may lean
    std::function<std::string(int row, int column)> number = nullptr;  // in cells that have room
    /// What is said of a cell; "": it does not answer. `inspected`: where no inspector says it.
    std::function<std::string(int row, int column)> tip = nullptr;
    bool inspected = false;
    std::optional<std::pair<int, int>> marked = std::nullopt;  // its names are lit, and the place on the bar
    bool hovered = false;                                      // that is the mouse's, not a locked one
};

struct MatrixLayout {
    Grid grid;
    Lean lean = Lean::level;
    float names = 0;  // how high they are over the cells
    Rect bar = {}, note = {};
};
/// As large as fits: names stand level, lean, or upright, before any is left out.
MatrixLayout arrange_matrix(Ui& ui, Rect area, const MatrixView& m);
/// Where another matrix of as many cells stands so far beside it.
MatrixLayout beside(MatrixLayout l, float away);

struct MatrixAnswer {
    std::optional<std::pair<int, int>> hovered;
    bool pressed = false;
};
/// The cell under the mouse, of which the tip is said, and which is marked from now on.
MatrixAnswer answer_matrix(Scene& s, const MatrixLayout& l, MatrixView& m);
void draw_matrix_view(Scene& s, const MatrixLayout& l, const MatrixView& m);

}  // namespace headlight

// Draws a matrix with labels, axis titles, numbers, color bar, crosshair and tooltip. Views fill it in.
#pragma once

#include "paint/matrix.h"
#include "parts/map_parts.h"
#include "parts/token_axis.h"

namespace headlight {

struct MatrixView {
    std::string path = "";  // of the widget
    MatrixCells cells;
    TokenAxis rows, columns;             // without `name`: only space is reserved
    ColorBar bar = {};                   // under the cells; no colors: none
    std::vector<std::string> note = {};  // below the bar: the first that fits on a line; a single one wraps
    float max_w = 64, max_h = 64;        // of a cell
    float ratio = 0;                     // maximum of width ÷ height, and height ≤ width; 0: free
    bool level = false;                  // column labels thin out instead of slanting
    bool upright = false;                // vertical color bar beside the cells
    float right = 0, below = 0;          // reserved for what the view itself draws beside and below
    float free = 0;                      // space beyond the area that the last slanted label may use
    std::function<std::string(int row, int column)> number = nullptr;  // drawn in cells as wide as …
    float numbered = 42;
    /// The tooltip of a cell; "": the cell ignores the mouse. `inspected`: only if the inspector is closed.
    std::function<std::string(int row, int column)> tip = nullptr;
    bool inspected = false;
    std::optional<std::pair<int, int>> marked =
        std::nullopt;      // highlights its labels and its value on the bar
    bool hovered = false;  // `marked` is hovered, not locked
};

struct MatrixLayout {
    Grid grid;
    Lean lean = Lean::level;
    float names = 0;  // height of the column labels
    Rect bar = {}, note = {};
};
/// Makes cells as large as fits; slants or turns column labels before omitting any.
MatrixLayout arrange_matrix(Ui& ui, Rect area, const MatrixView& m);
/// The layout of a second matrix of the same size, `away` to the right.
MatrixLayout beside(MatrixLayout l, float away);

struct MatrixAnswer {
    std::optional<std::pair<int, int>> hovered;
    bool pressed = false;
};
/// Finds the cell under the mouse, shows its tooltip and marks it.
MatrixAnswer answer_matrix(Scene& s, const MatrixLayout& l, MatrixView& m);
void draw_matrix_view(Scene& s, const MatrixLayout& l, const MatrixView& m);

}  // namespace headlight

// Draws a matrix as colored cells: one draw on the screen, vector shapes on a page.
#pragma once

#include "paint/ui.h"

namespace headlight {

inline constexpr float kMaskedCell = -1, kNoCell = -2;

/// Values as positions on a color map.
struct MatrixCells {
    Matrix places;  // 0 … 1; kMaskedCell: hatched where there is room; kNoCell or not a number: nothing
    const Colormap& colors;
    bool diverges =
        false;  // ½ is zero: cells finer than pixels show the value farthest from it, else the largest
};

/// Maps values 0 … largest, or −largest … largest, to positions; masks negative ones of the former.
Matrix places_of(const Matrix& values, float largest);
Matrix signed_places_of(const Matrix& values, float largest);

/// The largest size of a value that is a number; a little more than 0 where there is none.
float largest_size(const Matrix& values);

void draw_matrix(Ui& ui, Rect r, MatrixCells cells);

/// The gap between cells of this size; 0 if they touch.
float cell_gap(const Ui& ui, float width, float height);

}  // namespace headlight

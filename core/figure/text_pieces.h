// Finds where a line of text can be broken.
#pragma once

#include <vector>

#include "figure/canvas.h"

namespace headlight {

/// Is an unbreakable part of a line: bytes [begin, end), its width in pixels, and where it is drawn.
struct TextPiece {
    size_t begin = 0, end = 0;
    double width = 0, x = 0;
    bool leftward = false;  // of a script that runs from right to left
};
/// Returns the pieces of one line in the order of their bytes, from one layout of the whole.
std::vector<TextPiece> text_pieces(const std::string& text, double size, Face face);

}  // namespace headlight

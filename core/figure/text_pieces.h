// Where a line of text can be broken.
#pragma once

#include <vector>

#include "figure/canvas.h"

namespace headlight {

/// A part of a line that cannot be broken: bytes [begin, end), and how many pixels of the line it takes.
struct TextPiece {
    size_t begin = 0, end = 0;
    double width = 0;
};
/// The pieces of one line in the order of their bytes, from one layout of the whole.
std::vector<TextPiece> text_pieces(const std::string& text, double size, Face face);

}  // namespace headlight

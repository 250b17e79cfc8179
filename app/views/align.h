// The parts of the alignment of source and target.
#pragma once

#include "views/writing.h"

namespace headlight {

/// The alignment that is shown, or null: it belongs to the cross-attention block that the state names.
const Found<WordAlignmentWanted>* shown_alignment(const Scene& scene);

/// Labels of what the model has written but the shown pass has not read.
std::vector<std::string> words_to_come(const Scene& scene, const Found<WordAlignmentWanted>& found);

/// Row and column of the focused cell: tokens, or the words that they belong to. −1 on a page where nothing
/// is locked.
std::pair<int, int> focused_words(const Scene& scene, const WordAlignment& alignment);

/// Points at, or locks, a row and a column.
void point_at_words(Scene& scene, const WordAlignment& alignment, int row, int column);
void lock_words(Scene& scene, const WordAlignment& alignment, int row, int column);

void draw_alignment_lines(Scene& scene, Rect area, const Found<WordAlignmentWanted>& found);

}  // namespace headlight

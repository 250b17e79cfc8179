// Exports what a page shows as tables of numbers, for a spreadsheet or a script.
#pragma once

#include <vector>

#include "io/numbers.h"
#include "learn/page.h"

namespace headlight::learn {

/// Returns the numbers of all blocks in order, under unique names. BarRows: [rows, columns], then [queries,
/// columns] of each row that has all of them. Curves: [points, 2 or 3] of each line, x, y and error. Plane:
/// [points, 2]. Pixels: weights, [rows, columns] of patches. Steps: [lines, numbers of the longest result],
/// and what was worked as the text of each line's first cell. Table: words among the numbers as texts. Words
/// have none.
std::vector<NumberTable> page_numbers(const Page& page);

}  // namespace headlight::learn

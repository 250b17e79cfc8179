// The tokens that a figure of one head, or the table of its numbers, is made of.
#pragma once

#include <string>
#include <vector>

#include "figure/style.h"
#include "io/numbers.h"
#include "trace/trace.h"

namespace headlight {

/// The tokens along one axis: those that were asked for, as labels, and the words that they belong to.
struct ChosenTokens {
    std::vector<int> kept;            // positions
    std::vector<int> words;           // of each kept one; their own number where words are not joined
    std::vector<std::string> labels;  // of what is shown
};

struct ChosenAxes {
    ChosenTokens queries, keys;
};

/// Those of a block that the style asks for, labeled by these names.
Result<ChosenAxes> chosen_axes(const Trace& trace, int block, const FigureStyle& style,
                               const std::vector<std::string>& query_labels,
                               const std::vector<std::string>& key_labels);

/// Of weights [queries, keys] those of the chosen tokens, words joined where the style asks for that; entries
/// below 0 are masked.
Matrix chosen_weights(const Matrix& weights, const ChosenAxes& axes, const FigureStyle& style);

/// The same of a table of a head's weights, in which NaN stands for what is masked.
Status choose_tokens(NumberTable& table, const Trace& trace, int block, const FigureStyle& style);

}  // namespace headlight

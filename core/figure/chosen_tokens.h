// Selects the tokens of a figure of one head, or of the table of its numbers.
#pragma once

#include <string>
#include <vector>

#include "figure/style.h"
#include "io/numbers.h"
#include "trace/trace.h"

namespace headlight {

/// Holds the tokens along one axis: the selected ones, as labels, and the words that they belong to.
struct ChosenTokens {
    std::vector<int> kept;            // positions
    std::vector<int> words;           // of each kept token; its own number unless words are joined
    std::vector<std::string> labels;  // of what is shown
};

struct ChosenAxes {
    ChosenTokens queries, keys;
};

/// Selects a block's tokens by the style, with these labels.
Result<ChosenAxes> chosen_axes(const Trace& trace, int block, const FigureStyle& style,
                               const std::vector<std::string>& query_labels,
                               const std::vector<std::string>& key_labels);

/// Selects weights [queries, keys] of the chosen tokens, joins words if the style does; below 0: masked.
Matrix chosen_weights(const Matrix& weights, const ChosenAxes& axes, const FigureStyle& style);

/// Selects from a table of a head's weights, in which NaN means masked.
Status choose_tokens(NumberTable& table, const Trace& trace, int block, const FigureStyle& style);

}  // namespace headlight

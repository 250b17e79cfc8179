// One sentence for each control, column and number of the window.
#pragma once

#include <string>

namespace headlight {

/// The sentence of a widget's path, or null: the row of assets/explanations.json with the longest prefix of
/// the path. "number/NAME" means a number or column of that name.
const std::string* explanation_of(const std::string& path);

}  // namespace headlight

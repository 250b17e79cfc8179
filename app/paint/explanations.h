// What controls, columns and numbers of the window are, in a sentence each.
#pragma once

#include <string>

namespace headlight {

/// The sentence of a widget's path, or null: the row of assets/explanations.json with the longest path that
/// it begins with. "number/NAME" stands for a number or column that is called so.
const std::string* explanation_of(const std::string& path);

}  // namespace headlight

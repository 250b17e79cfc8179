// Makes command rows for the choices in a view's state, as its visit() names them.
#pragma once

#include <string>
#include <vector>

#include "session/state_bag.h"

namespace headlight {

std::vector<Choice> choices_of(StateVisit visit);

/// Sets the value of a word, or without one the next; `command`: a choice of the state.
void choose(StateBag& bag, StateVisit visit, const std::string& command, const std::string& word);

}  // namespace headlight

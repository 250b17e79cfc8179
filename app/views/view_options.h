// What the command line can choose of the views, as their visit() names it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "session/session.h"

namespace headlight {

/// An option that views have of their own.
struct ViewOption {
    FieldOption row;
    std::string help;                          // with the views that it acts on
    std::vector<std::string> words;            // that it chooses from; a flag the last one
    std::optional<std::pair<int, int>> range;  // of a whole number
    std::string usual;                         // what it is where it is not given
    std::vector<std::string> views;            // by their keys
};

/// In the order of the table of views.
std::span<const ViewOption> view_options();
/// The option of that name, or null.
const ViewOption* find_view_option(std::string_view name);

/// Sets what was chosen by the options' names: a word, a number or a text, whatever of a flag.
void take_view_options(Session& session, const std::map<std::string, std::string>& chosen);

}  // namespace headlight

// Derives the command line's options from the views' visit().
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "session/session.h"

namespace headlight {

struct ViewOption {
    FieldOption row;
    std::string help;                          // begins with the views that it applies to
    std::vector<std::string> words;            // to choose from; a flag chooses the last
    std::optional<std::pair<int, int>> range;  // of an integer
    std::string usual;                         // the default
    std::vector<std::string> views;            // keys
};

std::span<const ViewOption> view_options();
const ViewOption* find_view_option(std::string_view name);

/// Sets options by name from a word, a number or a text; a flag's value is ignored.
void take_view_options(Session& session, const std::map<std::string, std::string>& chosen);

}  // namespace headlight

// The card of things to try, for new users.
#pragma once

#include <string>
#include <vector>

namespace headlight {

struct ThingToTry {
    std::string title;
    std::string see;       // what to look for afterwards
    std::string commands;  // for `try`
};

/// The rows of assets/tries.json: add entries there.
const std::vector<ThingToTry>& things_to_try();

}  // namespace headlight

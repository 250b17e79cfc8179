// The card of things to try, for who is new.
#pragma once

#include <string>
#include <vector>

namespace headlight {

struct ThingToTry {
    std::string title;
    std::string see;       // what to look for once it is done
    std::string commands;  // as `try` takes them
};

/// The rows of assets/tries.json: the only place to add one.
const std::vector<ThingToTry>& things_to_try();

}  // namespace headlight

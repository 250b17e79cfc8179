#include "session/commands/experiments.h"

#include "io/json.h"

namespace headlight {

namespace {

std::vector<ThingToTry> read_tries() {
    std::vector<ThingToTry> out;
    for (const Json& row : embedded_json("assets/tries.json"))
        out.push_back({row["title"], row["see"], row["commands"]});
    return out;
}

}  // namespace

const std::vector<ThingToTry>& things_to_try() {
    static const std::vector<ThingToTry> all = read_tries();
    return all;
}

}  // namespace headlight

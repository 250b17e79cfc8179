// The words that a person reads in lists made from tables.
#include <cstdlib>

#include "helpers.h"
#include "session/command.h"
#include "window/commands.h"

using namespace headlight;

TEST_CASE("F1 lists the keys in these words") {
    const std::string now = key_help_text(commands());
    const auto golden = kTests / "golden/keys.txt";
    const char* mode = std::getenv("HEADLIGHT_GOLDEN");
    if (mode && std::string(mode) == "write") write_bytes(golden, now);
    CHECK(now == read_bytes(golden));
}

// The table of commands, joined.
#pragma once

#include <span>

#include "session/commands/command.h"

namespace headlight {

/// All that a person can do in the window. Where several rows have one key, the first that applies has it.
std::span<const Command> commands();

/// Carries out what a try had to leave until its model is open.
Status go_on_trying(CommandContext& context);

}  // namespace headlight

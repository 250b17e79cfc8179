// The table of commands, joined.
#pragma once

#include <span>

#include "session/commands/command.h"

namespace headlight {

/// All that a person can do in the window. Where several rows have one key, the first that applies has it.
std::span<const Command> commands();

/// Carries out what waited for a model: a slide, the rest of a try.
Status go_on(CommandContext& context);

}  // namespace headlight

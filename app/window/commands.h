// The table of commands, joined.
#pragma once

#include <span>

#include "session/commands/command.h"

namespace headlight {

/// All commands of the window. If several rows share a key, the first that applies takes it.
std::span<const Command> commands();

/// Resumes what waited for a model: a slide, the rest of a try.
Status go_on(CommandContext& context);

}  // namespace headlight

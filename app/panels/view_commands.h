// Rows that views add to the table of commands: opening, moving, labels, saving.
#pragma once

#include "session/commands/command_rows.h"
#include "session/commands/commands.h"

namespace headlight {

std::vector<Command> view_commands();
std::vector<Command> label_commands();
std::vector<Command> save_commands();

}  // namespace headlight

// The rows of the table of commands that enlarge and scroll what a view shows.
#pragma once

#include "session/commands/command_rows.h"

namespace headlight {

std::vector<Command> viewport_commands();

/// A row that scrolls the shown view by rooms; it applies to every view that scrolls where `when` is null.
Command pages(const CommandText& text, float right, float below, CommandWhen when = nullptr);

}  // namespace headlight

// Commands that zoom and scroll a view.
#pragma once

#include "session/commands/command_rows.h"

namespace headlight {

std::vector<Command> viewport_commands();

/// Scrolls the shown view by pages. Null `when`: applies to every view that scrolls.
Command pages(const CommandText& text, float right, float below, CommandWhen when = nullptr);

}  // namespace headlight

// What the views add to the table of commands: a row for each of them, moving in them, labels, saving.
#pragma once

#include "session/command_rows.h"
#include "session/commands.h"

namespace headlight {

std::vector<Command> view_commands();
/// What enlarges and scrolls the view that is shown.
std::vector<Command> viewport_commands();
std::vector<Command> label_commands();
std::vector<Command> save_commands();

/// A row that scrolls the shown view by rooms; it applies to every view that scrolls where `when` is null.
Command pages(const CommandText& text, float right, float below, CommandWhen when = nullptr);

}  // namespace headlight

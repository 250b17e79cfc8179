// Tries out commands on a click: together one undo step, undone by a second click or the next try.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "session/commands/command.h"
#include "session/history.h"

namespace headlight {

/// The commands of a try, and what they changed.
struct Trial {
    std::string commands;     // as --do takes them
    std::vector<Edit> edits;  // in the order of time
    Look before;              // the view before
};

/// Whether a try is active: all of its changes still hold.
bool trial_is_active(const Session& session);
/// … and it is this one.
bool trial_is_active(const Session& session, const std::string& commands);

/// Undoes the last try, and runs these commands unless they were the active try: one undo step. If one fails,
/// nothing changes. Commands after one that opens a model (or after undoing opens one) wait for it.
Status try_out(CommandContext& context, const std::string& commands, std::span<const CommandLine> lines);

/// Whether a try waits for a model that is open now.
bool trial_can_resume(const CommandContext& context);
/// Runs the commands that waited; `lines`: all commands of the try.
Status resume_trial(CommandContext& context, std::span<const CommandLine> lines);

/// Undoes the changes of a try that still hold. Later changes stay.
void undo_trial(CommandContext& context);

}  // namespace headlight

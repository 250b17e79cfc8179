// What a click tries out: commands that together are one step of undo, and that a second click or the next
// try takes back.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "session/commands/command.h"
#include "session/history.h"

namespace headlight {

/// Commands that were tried, and what they changed.
struct Trial {
    std::string commands;     // as --do takes them
    std::vector<Edit> edits;  // in the order of time
    Look before;              // what was looked at
};

/// Whether a try is in force: all that it changed is still so.
bool trial_in_force(const Session& session);
/// … and it is this one.
bool trial_in_force(const Session& session, const std::string& commands);

/// Takes back what was tried before, and carries these commands out unless they were what was in force: one
/// step of undo. Where one of them fails, nothing is changed. What comes behind a model that one of them
/// opens, or that taking back opens, waits for it.
Status try_out(CommandContext& context, const std::string& commands, std::span<const CommandLine> lines);

/// Whether a try waits for a model that is open now.
bool trial_can_go_on(const CommandContext& context);
/// Carries out what waited; `lines`: all commands of the try.
Status go_on_trying(CommandContext& context, std::span<const CommandLine> lines);

/// Takes back what was tried, as far as it is still so. What a person did since then stays.
void take_back_trial(CommandContext& context);

}  // namespace headlight

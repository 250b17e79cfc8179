// Settings: what is remembered of a session between starts.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "io/json.h"
#include "session/session.h"

namespace headlight {

/// XDG_CONFIG_HOME/headlight/settings.json (or ~/.config/…).
std::filesystem::path settings_path();

/// Where windows keep what a crash would lose, beside the settings.
std::filesystem::path recovery_folder();

/// What was remembered, and a notice where there is something to say; nothing is fatal. A file that a person
/// names is not `own`: it is never moved or written. Without `whole`, what was looked at is left out.
/// `visits`: how the states of views are read.
Session load_settings(const std::filesystem::path& path, bool own = true, bool whole = true,
                      std::span<const StateVisit> visits = {});

/// From the fields of a settings file; what is of another kind, or unknown, is passed over.
Session read_settings(const Json& root, const std::string& name, std::span<const StateVisit> visits = {});

/// The fields of a settings file; an error where a part of them could not be read back whole.
Result<Json> settings_fields(Session session);

/// Keys of the fields that describe what is looked at.
std::set<std::string> workspace_fields(std::span<const StateVisit> visits = {});

/// Paths of the models that were opened lately, newest first; none where the settings cannot be read.
std::vector<std::string> recent_models(const std::filesystem::path& path);

}  // namespace headlight

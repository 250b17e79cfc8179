// Settings: the part of a session that is saved between starts.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "io/json.h"
#include "session/session.h"

namespace headlight {

/// XDG_CONFIG_HOME/headlight/settings.json (or ~/.config/…).
std::filesystem::path settings_path();

/// Folder of recovery workspaces, beside the settings.
std::filesystem::path recovery_folder();

/// Reads settings, with a notice if needed; never fails. A file given by the user is not `own`: it is never
/// moved or written. Without `whole`, skips the current view. `visits`: how to read the states of views.
Session load_settings(const std::filesystem::path& path, bool own = true, bool whole = true,
                      std::span<const StateVisit> visits = {});

/// From the fields of a settings file; skips unknown ones and those of another type.
Session read_settings(const Json& root, const std::string& name, std::span<const StateVisit> visits = {});

/// The fields of a settings file; fails if a part could not be read back.
Result<Json> settings_fields(Session session);

/// Keys of the fields that describe the current view.
std::set<std::string> workspace_fields(std::span<const StateVisit> visits = {});

/// Paths of recently opened models, newest first; empty if the settings cannot be read.
std::vector<std::string> recent_models(const std::filesystem::path& path);

}  // namespace headlight

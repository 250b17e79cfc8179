// What the saver's thread writes: settings, and a workspace for recovery.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "session/saver.h"

namespace headlight {

/// Writes what changed since it was called last; a failure is made up for by the next call.
class SettingsWriter {
public:
    /// `found`: the fields as they were read; `looked_at`: keys of those that describe one thing
    /// (workspace_fields); `recovery`: where the workspace is kept, empty for nowhere.
    SettingsWriter(Json found, std::set<std::string> looked_at, std::filesystem::path recovery)
        : last_(std::move(found)), looked_at_(std::move(looked_at)), recovery_(std::move(recovery)) {}

    Status operator()(const Saver::Snapshot& now);

private:
    Json last_;
    std::set<std::string> looked_at_;
    std::filesystem::path recovery_;
};

}  // namespace headlight

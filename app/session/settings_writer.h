// Writes settings and the recovery workspace, on the saver's thread.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "session/saver.h"

namespace headlight {

/// Writes changes since the last call; the next call makes up for a failure.
class SettingsWriter {
public:
    /// `found`: the fields as read; `looked_at`: keys of fields that describe one thing (workspace_fields);
    /// `recovery`: path of the recovery workspace, empty for none.
    SettingsWriter(Json found, std::set<std::string> looked_at, std::filesystem::path recovery)
        : last_(std::move(found)), looked_at_(std::move(looked_at)), recovery_(std::move(recovery)) {}

    Status operator()(const Saver::Snapshot& now);

private:
    Json last_;
    std::set<std::string> looked_at_;
    std::filesystem::path recovery_;
};

}  // namespace headlight

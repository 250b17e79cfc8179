// What a window leaves that did not end as it should, and how the next start finds it.
#pragma once

#include <filesystem>
#include <optional>

#include "session/file_lock.h"

namespace headlight {

/// A window's place in a folder of recovery: a workspace file, and beside it a lock that is held for as long
/// as the process lives. A lock that nobody holds belongs to a window that ended without end().
class Recovery {
public:
    struct Left {
        std::filesystem::path workspace;
        bool shown = false;  // whether that window had shown what was in it
    };

    /// Takes a place, and takes charge of the newest workspace that was left; no other window offers it
    /// meanwhile. Where the folder cannot be written there is no place and nothing is offered.
    explicit Recovery(const std::filesystem::path& folder);

    /// Where this window's workspace is to be kept; empty where there is no place.
    const std::filesystem::path& own() const { return own_; }
    const std::optional<Left>& left() const { return left_; }

    /// This window has shown what it opened: it was not that which ended the last one.
    void mark_shown();
    /// What was left was opened, or is not wanted.
    void drop_left();
    /// The window ends as it should: nothing is left.
    void end();
    /// The window is ended from outside, as at logout: nothing is left, unless other windows are open. The
    /// settings hold one text, that of the last of them; what this one shows is offered at the next start.
    void end_for_logout();

private:
    bool others_open() const;

    std::filesystem::path own_;
    std::optional<FileLock> lock_, left_lock_;
    std::optional<Left> left_;
};

}  // namespace headlight

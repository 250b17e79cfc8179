// Keeps a window's workspace for recovery after a crash.
#pragma once

#include <filesystem>
#include <optional>

#include "session/file_lock.h"

namespace headlight {

/// A window's slot in the recovery folder: a workspace file, and a lock held while the process lives. A lock
/// without holder belongs to a window that did not call end().
class Recovery {
public:
    struct Left {
        std::filesystem::path workspace;
        bool shown = false;  // whether that window had shown its content
    };

    /// Takes a slot, and ownership of the newest orphaned workspace; no other window offers it meanwhile. If
    /// the folder is not writable there is no slot and nothing is offered.
    explicit Recovery(const std::filesystem::path& folder);

    /// Path for this window's workspace; empty without a slot.
    const std::filesystem::path& own() const { return own_; }
    const std::optional<Left>& left() const { return left_; }

    /// Records that this window has shown what it opened, so that did not crash the last one.
    void mark_shown();
    /// Drops the orphaned workspace: it was opened or discarded.
    void drop_left();
    /// Ends normally: leaves nothing.
    void end();
    /// Ends from outside, as at logout: leaves nothing, unless other windows are open. Settings hold the text
    /// of the last window only; the next start offers this one's workspace.
    void end_for_logout();

private:
    bool others_open() const;

    std::filesystem::path own_;
    std::optional<FileLock> lock_, left_lock_;
    std::optional<Left> left_;
};

}  // namespace headlight

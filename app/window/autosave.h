// What is kept of the window while it is open: settings and a workspace for recovery soon after each change,
// labels at once.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "session/recovery.h"
#include "session/saver.h"
#include "window/window_state.h"

namespace headlight {

class Autosave {
public:
    explicit Autosave(WindowState& desk) : desk_(desk) {}

    /// Reads what was remembered into the session; what ended the last window is not opened again.
    void begin();
    /// Offers what a window left, unless that is what was opened anyway.
    void offer_left();
    /// What was left was opened, or is not wanted.
    void drop_left();
    /// In each turn of the window's loop: what is due.
    void update();
    /// Something may have changed.
    void touch(double now) { clock_.touch(now); }
    /// After a frame: labels at once.
    void write_labels();
    /// How long the window may sleep until update() has something to do; none: for as long as it likes.
    std::optional<double> seconds_to_update() const;
    /// Notes where the window stands, while it can be seen.
    void note_window();
    /// Writes all that is to be remembered before the window ends.
    void finish();
    /// The window ends as it should; `by_signal`: not by the person's hand, so nothing of it may be lost.
    void end(bool by_signal) {
        if (!recovery_) return;
        if (by_signal)
            recovery_->end_for_logout();
        else
            recovery_->end();
    }

private:
    Session remembered();
    Status tell_of_saving();
    void save_now();

    WindowState& desk_;
    std::optional<Recovery> recovery_;
    std::unique_ptr<Saver> saver_;
    std::optional<Saver::Snapshot> saved_;  // the last one that was handed over
    SaveClock clock_;
    bool saving_ = false;     // until it is known how that went
    std::string said_;        // the last failure
    double shown_since_ = 0;  // when a picture was first seen
};

}  // namespace headlight

// Saves settings and a recovery workspace soon after each change, labels at once.
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
    explicit Autosave(WindowState& state) : state_(state) {}

    /// Reads saved settings into the session; does not reopen what crashed the last window.
    void begin();
    /// Offers a recovered workspace, unless it was just opened.
    void offer_left();
    /// Drops the recovered workspace: it was opened or discarded.
    void drop_left();
    /// Saves what is due, once per turn of the window's loop.
    void update();
    /// Call when something may have changed.
    void touch(double now) { clock_.touch(now); }
    /// Saves labels at once, after a frame.
    void write_labels();
    /// Time until update() has work to do; none: unlimited.
    std::optional<double> seconds_to_update() const;
    /// Records the window's position while it is visible.
    void note_window();
    /// Writes everything before the window closes.
    void finish();
    /// Ends normally; `by_signal`: not closed by the user, so nothing may be lost.
    void end(bool by_signal) {
        if (!recovery_) return;
        if (by_signal)
            recovery_->end_for_logout();
        else
            recovery_->end();
    }

private:
    Session remembered();
    Status report_saving();
    void save_now();

    WindowState& state_;
    std::optional<Recovery> recovery_;
    std::unique_ptr<Saver> saver_;
    std::optional<Saver::Snapshot> saved_;  // the last one written
    SaveClock clock_;
    bool saving_ = false;     // until the result is known
    std::string last_error_;  // the last reported failure
    double shown_since_ = 0;  // when a picture was first shown
};

}  // namespace headlight

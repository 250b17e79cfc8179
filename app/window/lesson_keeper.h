// Keeps the results of the open lesson: notes judged tries, counts time, writes the file.
#pragma once

#include "window/window_state.h"

namespace headlight {

class LessonKeeper {
public:
    explicit LessonKeeper(WindowState& state) : state_(state) {}

    /// Once in each turn of the window.
    void update();
    /// Writes the results before the window closes.
    void finish();

private:
    void count_time();
    void place_head();
    void note_reading();
    void note_verdict();

    WindowState& state_;
    double counted_until_ = 0;  // time of the last turn; 0: no lesson was open then
};

}  // namespace headlight

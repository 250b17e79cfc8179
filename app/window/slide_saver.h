// Saves all slides as a PDF: shows one after the other, and draws each when everything on it is computed.
#pragma once

#include <future>
#include <vector>

#include "window/exporter.h"
#include "window/window_state.h"

namespace headlight {

class SlideSaver {
public:
    SlideSaver(WindowState& state, Exporter& exporter, Host& host)
        : state_(state), exporter_(exporter), host_(host) {}

    /// Goes on to the next slide, once per turn of the loop.
    void update();

private:
    bool shows_whole_slide();
    Status show(int number);
    void write();
    void end(const std::string& notice);

    WindowState& state_;
    Exporter& exporter_;
    Host& host_;
    std::vector<Drawing> pages_;
    std::future<Status> writing_;
    int before_ = -1;          // the slide to show again
    int turns_ = 0;            // since nothing was computed
    double measured_for_ = 0;  // when the slide's measurements began; 0: not yet
};

}  // namespace headlight

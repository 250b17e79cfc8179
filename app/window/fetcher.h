// Begins, ends and tells of what is fetched from the Hugging Face hub.
#pragma once

#include <memory>

#include "session/fetching.h"
#include "window/window_state.h"

namespace headlight {

class Fetcher {
public:
    explicit Fetcher(WindowState& desk) : desk_(desk) {}

    /// In each turn of the loop: what was asked for begins, what has ended is offered, or says why not.
    void update();
    bool busy() const { return going_ != nullptr; }
    /// Cancels what goes on; what has come is kept.
    void close();

private:
    void begin();
    void take();

    WindowState& desk_;
    std::shared_ptr<Fetching> going_;
};

}  // namespace headlight

// Runs downloads from the Hugging Face hub and reports them.
#pragma once

#include <memory>

#include "session/fetching.h"
#include "window/window_state.h"

namespace headlight {

class Fetcher {
public:
    explicit Fetcher(WindowState& state) : state_(state) {}

    /// Starts the requested download, offers a finished one, or reports its failure; once per turn of the
    /// loop.
    void update();
    bool busy() const { return going_ != nullptr; }
    /// Cancels the download; what has arrived is kept.
    void close();

private:
    void begin();
    void take();

    WindowState& state_;
    std::shared_ptr<Fetching> going_;
};

}  // namespace headlight

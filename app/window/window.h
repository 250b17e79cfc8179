// The window: everything that needs a display.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

#include "base/result.h"

namespace headlight {

struct WindowOptions {
    std::string model, text;          // empty: what was open last, or the story model
    bool has_text = false;
    std::string screenshot;           // draw one settled frame to this PNG and exit
    std::string size;                 // "1600x1000"
    std::string theme;                // "dark", "light"
    std::string head;                 // "2.0"
    double scale = 0;                 // display scale; 0: the monitor's
    bool fresh = false;               // no settings read or written
};

void add_window_options(CLI::App& app, WindowOptions& options);

/// Opens the window and returns when it is closed.
Status run_window(const WindowOptions& options);

}  // namespace headlight

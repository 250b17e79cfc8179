// Opens the window: everything that needs a display.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace headlight {

struct WindowOptions {
    std::string file;                 // a workspace, or a model
    std::string adapter;              // FOLDER=STRENGTH
    std::string model, second;        // second: the second sentence, or the target
    std::optional<std::string> text;  // if missing: what was open last, or the story model's
    std::string screenshot;           // draw one settled frame to this PNG and exit
    int width = 0, height = 0;        // pixels; 0: the last size
    std::string theme;                // "dark", "light"
    std::string head;                 // "2.0"
    std::string lock;                 // "16,10": query and key to lock
    std::string view;                 // key of a view
    double scale = 0;                 // pixels per point; 0: the monitor's
    bool hints = false;               // show the first-run hints
    std::string open_menu;            // "models": for screenshots
    std::string settings;             // read these settings instead of the saved ones, for screenshots
    std::string report;               // write what the window shows as JSON after each change, for tests
    bool report_texts = false;        // … and the texts on screen
    std::string
        list_texts;  // write where each text is drawn after each command to this file, one line of JSON each
    bool check_frames = false;  // … and how many pixels of its frames differ from full redraws
    std::string shader_dir;     // read shaders from here and reload them when they change
    std::string commands;       // to run at the start: "view lines; head 2.0"
    int threads = 0;
    int frames = 0;  // draw this many frames when settled, print their time, and exit
};

/// Opens the window and returns when it is closed. `exit_status`: the program's exit status on failure; 2 if
/// a command of the options failed.
Status run_window(const WindowOptions& options, int& exit_status);

/// Lists all commands of the window, a line each.
std::string command_list();

}  // namespace headlight

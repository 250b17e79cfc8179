// Runs the window: one frame after each change, none in between.
#pragma once

#include <memory>

#include "session/end_signals.h"
#include "window/barrier.h"
#include "window/fetcher.h"
#include "window/harness.h"
#include "window/host.h"
#include "window/keyboard.h"
#include "window/lesson_keeper.h"
#include "window/slide_pictures.h"
#include "window/slide_saver.h"

namespace headlight {

class Application {
public:
    /// Opens the window, or returns what is missing: a display, OpenGL 3.3.
    static Result<std::unique_ptr<Application>> create(const WindowOptions& options);
    ~Application();

    /// Runs until the window is closed. An exception in a turn becomes the notice; exceptions in many turns
    /// in a row close the window with the error. Settings are saved all the same, and the workspace is left
    /// for recovery.
    Status run();
    /// Whether a command of --do failed and closed the window.
    bool refused() const { return refused_; }

private:
    explicit Application(const WindowOptions& options);

    Status open();
    Status apply_options();
    Status take_file();
    Status start_worker();
    Status draw_until_closed();
    Result<bool> turn();
    Result<bool> turn_safely();
    bool closing() const;
    void update();
    void wait_for_events();
    void wait_for_answer();
    void handle_keys();
    float dim() const;
    Status act(const CommandLine& line);
    void try_to_act(const CommandLine& line);
    void carry_out_sent();
    Status check_view();
    Status carry_out_given();

    Screen screen_;  // first: closes the window after all OpenGL objects are gone
    WindowState state_;
    WorkerLink worker_link_;
    Exporter exporter_;
    Fetcher fetcher_;
    Autosave autosave_;
    LessonKeeper lesson_keeper_;
    WindowHost host_;
    Palette palette_;
    Keyboard keyboard_;
    Frame frame_;
    SlidePictures slide_pictures_;
    SlideSaver slide_saver_;
    Harness harness_;
    std::string file_to_drop_;  // from the command line, until a model is open
    std::unique_ptr<EndSignals> end_signals_;
    bool refused_ = false, view_checked_ = false;
    Barrier barrier_;
};

}  // namespace headlight

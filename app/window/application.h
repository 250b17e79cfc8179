// The window's life: one frame after each change, nothing in between.
#pragma once

#include <memory>

#include "session/end_signals.h"
#include "window/barrier.h"
#include "window/fetcher.h"
#include "window/harness.h"
#include "window/host.h"
#include "window/keyboard.h"

namespace headlight {

class Application {
public:
    /// Opens the window, or says what is missing: a display, OpenGL 3.3.
    static Result<std::unique_ptr<Application>> create(const WindowOptions& options);
    ~Application();

    /// Returns when the window is closed. What a turn throws becomes the notice; turn after turn that throws
    /// ends the window with the sentence. What a person did is remembered all the same, and its workspace is
    /// left for the next start to offer.
    Status run();
    /// Whether it ended because one of the commands of --do could not be carried out.
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
    Status carry_out_given();

    Screen screen_;  // first: it closes the window when all that is of OpenGL is gone
    WindowState desk_;
    WorkerLink worker_link_;
    Exporter exporter_;
    Fetcher fetcher_;
    Autosave autosave_;
    WindowHost host_;
    Palette palette_;
    Keyboard keyboard_;
    Frame frame_;
    Harness harness_;
    std::string file_to_drop_;  // of the command line, until a model is open
    std::unique_ptr<EndSignals> end_signals_;
    bool refused_ = false;
    Barrier barrier_;
};

}  // namespace headlight

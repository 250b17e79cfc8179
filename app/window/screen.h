// GLFW's window with Dear ImGui in it: opens it, records its events, closes it.
#pragma once

#include <optional>

#include "base/result.h"
#include "window/key_gate.h"
#include "window/window_state.h"

namespace headlight {

class Screen {
public:
    explicit Screen(WindowState& state) : state_(state) {}
    ~Screen();

    /// Finds the display, or fails.
    Status start();
    /// Opens a window of the session's size with OpenGL 3.3.
    Status open();
    /// Sets up Dear ImGui, the renderer, and the events that wake the window.
    Status prepare();

    /// Waits for events for `seconds` (0: only polls; none: without limit).
    void wait(std::optional<double> seconds);
    /// Loads fonts when the scale changes, and applies the theme.
    void begin_frame();
    float scale() const { return loaded_scale_; }

private:
    void install_callbacks();
    void install_key_callback();
    void fit_size();
    void place();
    float wanted_scale() const;
    void load_fonts();
    void style_imgui() const;

    WindowState& state_;
    GLFWwindow* window_ = nullptr;  // closed after all OpenGL objects are gone
    KeyGate key_gate_;
    float loaded_scale_ = 0;
};

}  // namespace headlight

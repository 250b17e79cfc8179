// GLFW's window with Dear ImGui in it: opened, its events taken down, closed.
#pragma once

#include <optional>

#include "base/result.h"
#include "window/key_gate.h"
#include "window/window_state.h"

namespace headlight {

class Screen {
public:
    explicit Screen(WindowState& desk) : desk_(desk) {}
    ~Screen();

    /// Finds the display, or says that there is none.
    Status start();
    /// Opens the window of the session's size, with OpenGL 3.3.
    Status open();
    /// Dear ImGui, the renderer, and the events that wake the window.
    Status prepare();

    /// Takes events until `seconds` have passed (0: only those that are there; none: as long as it takes).
    void wait(std::optional<double> seconds);
    /// Loads fonts where the scale changed, and puts the theme in force.
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

    WindowState& desk_;
    GLFWwindow* window_ = nullptr;  // closed after what the desk holds of OpenGL is gone
    KeyGate key_gate_;
    float loaded_scale_ = 0;
};

}  // namespace headlight

// Offers each key to the input method before GLFW under X11: a key it takes (to compose a Chinese word, a
// dead accent) is never pressed.
#pragma once

struct GLFWwindow;

namespace headlight {

/// GLFW reports a key press before it knows whether the input method takes it, so Backspace and arrows would
/// edit the text while a word is composed. KeyGate holds key events back as they come from the X server,
/// offers them to the input method, and gives GLFW only those it does not take. What the input method sends
/// later reaches GLFW by itself. Does nothing without X11.
class KeyGate {
public:
    void install(GLFWwindow* window);
    /// Releases the keys of the last poll of events. Call after each.
    void let_pass();

private:
    GLFWwindow* window_ = nullptr;
};

}  // namespace headlight

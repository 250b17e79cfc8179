// Between the keyboard and GLFW under X11: a key that an input method takes (to compose a Chinese word, a
// dead accent) is never pressed.
#pragma once

struct GLFWwindow;

namespace headlight {

/// GLFW reports each key press before it knows whether the input method takes it: while a word is composed,
/// Backspace and arrows would edit the text behind it too. So key events are held back as they come from the
/// X server, offered to the input method first, and given to GLFW only where it does not take them. What it
/// gives back later reaches GLFW by itself. Without X11 this does nothing.
class KeyGate {
public:
    void install(GLFWwindow* window);
    /// Lets the keys pass that came during the last poll of events. Call after each.
    void let_pass();

private:
    GLFWwindow* window_ = nullptr;
};

}  // namespace headlight

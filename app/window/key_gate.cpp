#include "window/key_gate.h"

#ifdef HEADLIGHT_X11
#include <GLFW/glfw3.h>
#include <X11/Xlib.h>
#include <X11/Xlibint.h>
#undef min
#undef max

#include <deque>

extern "C" {  // as in glfw3native.h, which also needs the headers of extensions
Display* glfwGetX11Display(void);
Window glfwGetX11Window(GLFWwindow* window);
}

namespace headlight {

namespace {

using Convert = Bool (*)(Display*, XEvent*, xEvent*);

/// Xlib's hook takes no user data: there is one keyboard.
struct Held {
    Convert press = nullptr, release = nullptr;  // Xlib's original functions
    std::deque<XEvent> events;
    ::Window window = 0;
} held;

/// Xlib calls this while reading: keeps the event and returns one that only wakes GLFW.
Bool hold(Display* display, XEvent* event, xEvent* wire) {
    const bool press = (wire->u.u.type & 0x7F) == KeyPress;
    if (!(press ? held.press : held.release)(display, event, wire)) return False;
    if (event->xany.window != held.window) return True;
    held.events.push_back(*event);
    const XAnyEvent any = event->xany;
    *event = {};
    event->xclient = {ClientMessage, any.serial, any.send_event, any.display, any.window, None, 32, {}};
    return True;
}

}  // namespace

void KeyGate::install(GLFWwindow* window) {
    Display* display = glfwGetX11Display();
    if (!display) return;  // Wayland
    window_ = window;
    held = {nullptr, nullptr, {}, glfwGetX11Window(window)};
    held.press = XESetWireToEvent(display, KeyPress, hold);
    held.release = XESetWireToEvent(display, KeyRelease, hold);
}

void KeyGate::let_pass() {
    Display* display = window_ ? glfwGetX11Display() : nullptr;
    while (display && !held.events.empty()) {
        XEvent event = held.events.front();
        held.events.pop_front();
        if (!XFilterEvent(&event, None)) XPutBackEvent(display, &event);
        glfwPollEvents();  // one at a time, to keep their order
    }
}

}  // namespace headlight

#else

namespace headlight {
void KeyGate::install(GLFWwindow*) {}
void KeyGate::let_pass() {}
}  // namespace headlight

#endif

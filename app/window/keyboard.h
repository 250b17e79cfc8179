// Turns keys and drops into commands; types what no command takes.
#pragma once

#include <functional>

#include "window/palette.h"

namespace headlight {

class Keyboard {
public:
    /// `act` runs a command, or puts its reason into the notice.
    Keyboard(WindowState& state, Host& host, Palette& palette, std::function<void(const CommandLine&)> act)
        : state_(state), host_(host), palette_(palette), act_(std::move(act)) {}

    /// Handles keys in the order in which they were pressed; a key that runs a command types nothing.
    void handle();

private:
    void handle_press(KeyPress press);
    void press_in_list(const KeyPress& press);
    bool act_on(const KeyPress& press);
    void type(KeyPress press);
    void type_in_place(KeyPress press);
    std::string clipboard() const;
    void copy(const std::string& text);
    bool types_path() const;
    void wake_for_field(bool pressed);

    WindowState& state_;
    Host& host_;
    Palette& palette_;
    std::function<void(const CommandLine&)> act_;
    int fields_waited_ = 0;  // frames in which an open path field had not taken the keyboard yet
};

}  // namespace headlight

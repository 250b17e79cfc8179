// Keys and drops become commands; what no command takes is typed.
#pragma once

#include <functional>

#include "window/palette.h"

namespace headlight {

class Keyboard {
public:
    /// `act`: carries a command out, or leaves its reason in the notice.
    Keyboard(WindowState& desk, Host& host, Palette& palette, std::function<void(const CommandLine&)> act)
        : desk_(desk), host_(host), palette_(palette), act_(std::move(act)) {}

    /// One key after another, in the order in which they were pressed; what a key does, it does not type too.
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

    WindowState& desk_;
    Host& host_;
    Palette& palette_;
    std::function<void(const CommandLine&)> act_;
    int fields_waited_ = 0;  // frames in which an open path field had not taken the keyboard yet
};

}  // namespace headlight

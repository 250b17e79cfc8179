#include "window/keyboard.h"

#include <GLFW/glfw3.h>

#include <utility>

#include "window/commands.h"

namespace headlight {

namespace {

/// Sheets with one of Dear ImGui's fields.
bool has_path_field(const Session& s) {
    return s.shows(Sheet::models) || s.shows(Sheet::compared_models) || s.shows(Sheet::save) ||
           s.shows(Sheet::label) || s.shows(Sheet::metric);
}

/// The keys of the block of digits are those of the same names; + needs Shift on some layouts.
KeyChord chord_of(const KeyPress& press) {
    switch (press.key) {
        case GLFW_KEY_KP_ENTER:
            return {GLFW_KEY_ENTER, press.control, press.shift};
        case GLFW_KEY_KP_SUBTRACT:
            return {GLFW_KEY_MINUS, press.control, press.shift};
        case GLFW_KEY_KP_ADD:
        case GLFW_KEY_EQUAL:
            return {GLFW_KEY_EQUAL, press.control, false};
        default:
            return {press.key, press.control, press.shift};
    }
}

}  // namespace

bool Keyboard::types_path() const { return ImGui::GetIO().WantTextInput || has_path_field(desk_.session); }

/// Carries out what the key means now. While Dear ImGui's field types, that waits for the frame which takes
/// the field's last letters: 1.86 misses a key that goes down and up between two frames.
bool Keyboard::act_on(const KeyPress& press) {
    if (press.alt || press.key < 0) return false;
    const KeyChord chord = chord_of(press);
    const bool path = types_path();
    if (chord.edits_text() && (path || (host_.typing() && !chord.control))) return false;
    const CommandContext context{desk_.session, desk_.answer.get(), host_};
    const Command* command = command_of_key(commands(), chord, context);
    if (!command) return false;
    if (path)
        desk_.sent.push_back({command->name, ""});
    else
        act_({command, ""});
    return true;
}

/// Typing and editing in the field that has the keyboard, or else in the sentence.
void Keyboard::type(KeyPress press) {
    if (!desk_.ui->focus().empty() && !press.text.empty()) desk_.ui->drop_focus();
    Input one;
    one.keys.push_back(std::move(press));
    TextField& field = desk_.fields.typed() ? *desk_.fields.typed() : desk_.fields.sentence;
    field.handle(
        one, desk_.session.document.history, [this] { return clipboard(); },
        [this](const std::string& text) { copy(text); });
    if (!one.keys.empty()) act_on(one.keys[0]);
}

/// A value that is changed in place takes all keys but the commands with Ctrl.
void Keyboard::type_in_place(KeyPress press) {
    Input one;
    one.keys.push_back(std::move(press));
    desk_.ui->type(
        one, [this] { return clipboard(); }, [this](const std::string& text) { copy(text); });
    desk_.want_frames(3);
    if (!one.keys.empty() && one.keys[0].control) act_on(one.keys[0]);
}

std::string Keyboard::clipboard() const {
    const char* text = glfwGetClipboardString(desk_.window);
    return text ? text : "";
}

void Keyboard::copy(const std::string& text) { glfwSetClipboardString(desk_.window, text.c_str()); }

/// An open list takes all keys: nothing behind it moves.
void Keyboard::press_in_list(const KeyPress& press) {
    const int key = chord_of(press).key;
    desk_.ui->press_in_list(key == GLFW_KEY_UP       ? Ui::ListKey::up
                            : key == GLFW_KEY_DOWN   ? Ui::ListKey::down
                            : key == GLFW_KEY_ENTER  ? Ui::ListKey::take
                            : key == GLFW_KEY_SPACE  ? Ui::ListKey::take
                            : key == GLFW_KEY_ESCAPE ? Ui::ListKey::close
                                                     : Ui::ListKey::other);
    desk_.want_frames(2);
}

void Keyboard::handle_press(KeyPress press) {
    if (desk_.session.shows(Sheet::palette)) return palette_.press(press);
    if (desk_.ui->in_list()) return press_in_list(press);
    if (desk_.ui->typing() && !desk_.session.sheet) return type_in_place(std::move(press));
    const bool text_first = host_.typing() && !types_path();
    if (text_first) return type(std::move(press));
    if (!act_on(press) && !types_path() && !desk_.session.presenting) type(std::move(press));
}

/// Dear ImGui's field takes the keyboard after some frames.
void Keyboard::wake_for_field(bool pressed) {
    const bool open = has_path_field(desk_.session);
    if (open && pressed) desk_.want_frames(4);
    if (open && !ImGui::GetIO().WantTextInput && fields_waited_++ < 6) desk_.want_frames(1);
    if (!open) fields_waited_ = 0;
}

void Keyboard::handle() {
    const bool pressed = !desk_.input.keys.empty();
    auto& keys = desk_.input.keys;
    while (!keys.empty() && keys.front().after <= desk_.pointer.changes_seen() &&
           !desk_.ui->changes_field()) {
        KeyPress press = std::move(keys.front());
        keys.erase(keys.begin());
        handle_press(std::move(press));
    }
    if (!keys.empty()) desk_.want_frames(1);
    wake_for_field(pressed);  // after the keys: one of them may have opened it
    for (const auto& path : std::exchange(desk_.input.dropped, {}))
        act_({&command_named(commands(), "open"), path});
}

}  // namespace headlight

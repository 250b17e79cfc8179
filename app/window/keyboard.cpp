#include "window/keyboard.h"

#include <GLFW/glfw3.h>

#include <utility>

#include "window/commands.h"

namespace headlight {

namespace {

/// Sheets that use Dear ImGui's field.
bool has_path_field(const Session& s) {
    return s.shows(Sheet::models) || s.shows(Sheet::compared_models) || s.shows(Sheet::save) ||
           s.shows(Sheet::label) || s.shows(Sheet::metric);
}

/// Maps keypad keys to the keys of the same name; + needs Shift on some layouts.
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

bool Keyboard::types_path() const { return ImGui::GetIO().WantTextInput || has_path_field(state_.session); }

/// Runs the command of a key. While Dear ImGui's field types, waits for the frame that takes the field's last
/// letters: 1.86 misses a key that goes down and up between two frames.
bool Keyboard::act_on(const KeyPress& press) {
    if (press.alt || press.key < 0) return false;
    const KeyChord chord = chord_of(press);
    const bool path = types_path();
    if (chord.edits_text() && (path || (host_.typing() && !chord.control))) return false;
    const CommandContext context{state_.session, state_.answer.get(), host_};
    const Command* command = command_of_key(commands(), chord, context);
    if (!command) return false;
    if (path)
        state_.sent.push_back({command->name, ""});
    else
        act_({command, ""});
    return true;
}

/// Types and edits in the focused field, else in the sentence where it can be edited.
void Keyboard::type(KeyPress press) {
    if (!state_.fields.typed() && !state_.ui->widgets.count("sentence")) return;
    if (!state_.ui->focus().empty() && !press.text.empty()) state_.ui->drop_focus();
    Input one;
    one.keys.push_back(std::move(press));
    TextField& field = state_.fields.typed() ? *state_.fields.typed() : state_.fields.sentence;
    field.handle(
        one, state_.session.document.history, [this] { return clipboard(); },
        [this](const std::string& text) { copy(text); });
    if (!one.keys.empty()) act_on(one.keys[0]);
}

/// Sends all keys but Ctrl commands to a value that is edited in place.
void Keyboard::type_in_place(KeyPress press) {
    Input one;
    one.keys.push_back(std::move(press));
    state_.ui->type(
        one, [this] { return clipboard(); }, [this](const std::string& text) { copy(text); });
    state_.want_frames(3);
    if (!one.keys.empty() && one.keys[0].control) act_on(one.keys[0]);
}

std::string Keyboard::clipboard() const {
    const char* text = glfwGetClipboardString(state_.window);
    return text ? text : "";
}

void Keyboard::copy(const std::string& text) { glfwSetClipboardString(state_.window, text.c_str()); }

/// Sends all keys to an open list, so that nothing under it moves.
void Keyboard::press_in_list(const KeyPress& press) {
    const int key = chord_of(press).key;
    state_.ui->press_in_list(key == GLFW_KEY_UP       ? Ui::ListKey::up
                             : key == GLFW_KEY_DOWN   ? Ui::ListKey::down
                             : key == GLFW_KEY_ENTER  ? Ui::ListKey::take
                             : key == GLFW_KEY_SPACE  ? Ui::ListKey::take
                             : key == GLFW_KEY_ESCAPE ? Ui::ListKey::close
                                                      : Ui::ListKey::other);
    state_.want_frames(2);
}

void Keyboard::handle_press(KeyPress press) {
    if (state_.session.shows(Sheet::palette)) return palette_.press(press);
    if (state_.ui->in_list()) return press_in_list(press);
    if (state_.ui->typing() && !state_.session.sheet) return type_in_place(std::move(press));
    const bool text_first = host_.typing() && !types_path();
    if (text_first) return type(std::move(press));
    if (!act_on(press) && !types_path() && !state_.session.alone()) type(std::move(press));
}

/// Waits for Dear ImGui's field, which takes the keyboard after some frames.
void Keyboard::wake_for_field(bool pressed) {
    const bool open = has_path_field(state_.session);
    if (open && pressed) state_.want_frames(4);
    if (open && !ImGui::GetIO().WantTextInput && fields_waited_++ < 6) state_.want_frames(1);
    if (!open) fields_waited_ = 0;
}

void Keyboard::handle() {
    const bool pressed = !state_.input.keys.empty();
    auto& keys = state_.input.keys;
    while (!keys.empty() && keys.front().after <= state_.pointer.changes_seen() &&
           !state_.ui->changes_field()) {
        KeyPress press = std::move(keys.front());
        keys.erase(keys.begin());
        handle_press(std::move(press));
    }
    if (!keys.empty()) state_.want_frames(1);
    wake_for_field(pressed);  // after the keys: one of them may have opened it
    for (const auto& path : std::exchange(state_.input.dropped, {}))
        act_({&command_named(commands(), "open"), path});
}

}  // namespace headlight

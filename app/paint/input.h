// Keys and characters of one frame, straight from GLFW: Dear ImGui 1.86 loses emoji (16 bits per character).
#pragma once

#include <string>
#include <vector>

namespace headlight {

struct KeyPress {
    int key;  // GLFW_KEY_… by the layout (session/commands/keys.h); −1: none, for text without a key
    bool control = false, shift = false, alt = false;
    std::string text{};  // the typed text, UTF-8
    int after = 0;       // changes of mouse buttons before it
};

struct Input {
    std::vector<KeyPress>
        keys;  // presses and repeats, in order; a handler erases a key it used, with the typed text
    std::vector<std::string> dropped;  // paths

    /// Takes the first press of this key, if any.
    bool take(int key, bool control = false, bool shift = false) {
        for (size_t i = 0; i < keys.size(); ++i)
            if (keys[i].key == key && keys[i].control == control && keys[i].shift == shift && !keys[i].alt) {
                keys.erase(keys.begin() + i);
                return true;
            }
        return false;
    }

    /// A typed character: belongs to the last press if that can have typed it and has no text yet.
    void add_text(const std::string& text, int after) {
        constexpr int kFirstThatTypesNothing = 256, kKeypad = 320,
                      kBehindKeypad = 337;  // GLFW_KEY_ESCAPE, GLFW_KEY_KP_0, above GLFW_KEY_KP_EQUAL
        const auto types = [](const KeyPress& k) {
            return (k.key < kFirstThatTypesNothing || (k.key >= kKeypad && k.key < kBehindKeypad)) &&
                   !k.control && !k.alt;
        };
        if (!keys.empty() && keys.back().text.empty() && types(keys.back()))
            keys.back().text = text;
        else
            keys.push_back({-1, false, false, false, text, after});
    }
    bool types() const {
        for (const KeyPress& k : keys)
            if (!k.text.empty()) return true;
        return false;
    }
    void clear() { *this = {}; }
};

}  // namespace headlight

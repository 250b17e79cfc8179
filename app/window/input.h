// Keys and characters of one frame, straight from GLFW: Dear ImGui 1.86 keeps 16 bits a character, which loses emoji.
#pragma once

#include <string>
#include <vector>

namespace headlight {

struct KeyPress {
    int key;   // GLFW_KEY_…
    bool control, shift, alt;
};

struct Input {
    std::vector<KeyPress> keys;        // presses and repeats, in order; a taker erases what it used
    std::string typed;                 // UTF-8
    std::vector<std::string> dropped;  // paths

    /// Takes the first press of this key, if there is one.
    bool take(int key, bool control = false, bool shift = false) {
        for (size_t i = 0; i < keys.size(); ++i)
            if (keys[i].key == key && keys[i].control == control && keys[i].shift == shift && !keys[i].alt) {
                keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(i));
                return true;
            }
        return false;
    }
    void clear() { *this = {}; }
};

}  // namespace headlight

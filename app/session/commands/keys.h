// Identifies the key that is meant: letters and digits by the layout, not by their position on a US keyboard.
#pragma once

#include <string_view>
#include <vector>

namespace headlight {

/// The key that is meant, as GLFW numbers it (letters and digits by ASCII capitals). `place` is the key at
/// that position of a US keyboard, `name` what the layout types there without Shift, `all` what its keys type
/// in total. A key means the letter or digit it types. If the layout types that of its position on no key
/// (Cyrillic letters, AZERTY's digits), it means its position; otherwise (Dvorak's ' at the position of Q)
/// nothing: −1. − and = are found like letters; = is also +, a digit on no key its position.
int meant_key(int place, std::string_view name, std::string_view all);

struct KeyChord {
    int key = -1;  // as GLFW numbers them; both Enter keys are one
    bool control = false, shift = false;
    bool operator==(const KeyChord&) const = default;
    /// Whether a focused text field takes the key: it types, moves the caret or selects.
    bool edits_text() const;
};

/// Parses "Ctrl+Shift+K, F1, ←" into chords; skips unknown names.
std::vector<KeyChord> chords_of(std::string_view keys);

}  // namespace headlight

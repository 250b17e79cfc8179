// Which key a person means: letters and digits as their layout names them, not as a US keyboard places them.
#pragma once

#include <string_view>
#include <vector>

namespace headlight {

/// The key that was meant, as GLFW numbers them (letters and digits by their ASCII capitals). `place` is the
/// key at that place of a US keyboard, `name` what the layout writes there without Shift, `all` what it
/// writes on all its keys together. A key means the letter or digit that is written on it; where the layout
/// writes that of its place on no key (Cyrillic letters, AZERTY's digits), it means its place; else (Dvorak's
/// ' at the place of Q) nothing: −1. − and = are found as letters are; = is + too, and a digit that the
/// layout writes on no key is its place.
int meant_key(int place, std::string_view name, std::string_view all);

/// A key with what is held while it is pressed.
struct KeyChord {
    int key = -1;  // as GLFW numbers them; both Enter keys are one
    bool control = false, shift = false;
    bool operator==(const KeyChord&) const = default;
    /// Whether a text that has the keyboard keeps it for itself: it types, moves a caret or selects.
    bool edits_text() const;
};

/// "Ctrl+Shift+K, F1, ←" as chords; names that no key has are left out.
std::vector<KeyChord> chords_of(std::string_view keys);

}  // namespace headlight

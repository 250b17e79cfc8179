#include "session/commands/keys.h"

#include <algorithm>
#include <cctype>

#include "base/cast.h"

namespace headlight {

namespace {

/// Keys by the name in help and palette, with GLFW's number.
constexpr struct {
    std::string_view name;
    int key;
} kNames[] = {{"Space", 32}, {"Esc", 256}, {"Enter", 257}, {"Tab", 258},  {"→", 262},    {"←", 263},
              {"↓", 264},    {"↑", 265},   {"PgUp", 266},  {"PgDn", 267}, {"Home", 268}, {"End", 269},
              {"+", 61},     {"F1", 290},  {"F2", 291},    {"F3", 292},   {"F4", 293},   {"F5", 294},
              {"F6", 295},   {"F10", 299}, {"Menu", 348}};
constexpr int kArrows[] = {262, 263, 264, 265};

int key_named(std::string_view name) {
    for (const auto& row : kNames)
        if (row.name == name) return row.key;
    return name.size() == 1 ? std::toupper(as_byte(name[0])) : -1;
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (text.substr(0, prefix.size()) != prefix) return false;
    text.remove_prefix(prefix.size());
    return true;
}

}  // namespace

bool KeyChord::edits_text() const {
    const bool arrow = contains(kArrows, key);
    const bool sideways = key == key_named("←") || key == key_named("→");
    if (control)
        return key < 128 && std::string_view("ACVXYZ").find(static_cast<char>(key)) != std::string_view::npos;
    return key < 256 || key == key_named("Home") || key == key_named("End") || (arrow && (shift || sideways));
}

std::vector<KeyChord> chords_of(std::string_view keys) {
    std::vector<KeyChord> out;
    while (!keys.empty()) {
        const size_t end = std::min(keys.find(", "), keys.size());
        std::string_view one = keys.substr(0, end);
        keys.remove_prefix(std::min(keys.size(), end + 2));
        KeyChord chord;
        chord.control = take_prefix(one, "Ctrl+");
        chord.shift = take_prefix(one, "Shift+");
        chord.key = key_named(one);
        if (chord.key >= 0) out.push_back(chord);
    }
    return out;
}

int meant_key(int place, std::string_view name, std::string_view all) {
    const auto names_key = [](int c) { return c < 128 && (std::isalnum(c) || c == '-' || c == '='); };
    const bool digit = place > 0 && place < 128 && std::isdigit(place);
    if (digit && all.find(static_cast<char>(place)) == std::string_view::npos) return place;
    if (name == "+") return '=';
    if (name.size() == 1 && names_key(as_byte(name[0]))) return std::toupper(as_byte(name[0]));
    if (name.empty() || !names_key(place)) return place;
    return all.find(static_cast<char>(std::tolower(place))) == std::string_view::npos ? place : -1;
}

}  // namespace headlight

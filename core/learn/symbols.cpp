// Finds symbols in formulas.
#include "learn/symbols.h"

#include <algorithm>
#include <sstream>

#include "tokenizer/unicode_forms.h"

namespace headlight::learn {

namespace {

std::u32string letters(const std::string& text) {
    const auto points = code_points(text);
    return {points.begin(), points.end()};
}

/// Accepts Latin, Greek and what joins letters to a name; not signs like √, ·, ‖ or super- and subscripts.
bool is_letter(char32_t c) {
    if (c < 0x80) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return c >= 0xC0 && c < 0x500 && c != 0xD7 && c != 0xF7;
}
bool is_digit(char32_t c) { return c >= '0' && c <= '9'; }

}  // namespace

bool has_sign(const std::string& text, const std::string& sign) {
    const std::u32string all = letters(text), wanted = letters(sign);
    if (wanted.empty()) return false;
    for (size_t at = all.find(wanted); at != std::u32string::npos; at = all.find(wanted, at + 1)) {
        const size_t end = at + wanted.size();
        const bool begins = at == 0 || !is_letter(wanted.front()) || !is_letter(all[at - 1]),
                   ends = end == all.size() || !(is_letter(all[end]) || is_digit(all[end]));
        if (begins && ends) return true;
    }
    return false;
}

std::vector<std::string> signs_of(const Symbol& symbol) {
    std::vector<std::string> out;
    std::istringstream in(symbol.sign);
    for (std::string sign; std::getline(in, sign, ',');) {
        sign.erase(0, sign.find_first_not_of(' '));
        if (!sign.empty()) out.push_back(sign);
    }
    return out;
}

std::string explained(const std::vector<Symbol>& symbols, const std::string& text) {
    std::string out;
    for (const Symbol& symbol : symbols) {
        const auto signs = signs_of(symbol);
        if (std::any_of(signs.begin(), signs.end(), [&](const auto& sign) { return has_sign(text, sign); }))
            out += (out.empty() ? "" : "; ") + symbol.sign + ": " + symbol.meaning;
    }
    return out;
}

}  // namespace headlight::learn

#include "tokenizer/whole_pieces.h"

#include <algorithm>

#include "base/cast.h"

namespace headlight {

void order_pieces(std::vector<std::string>& pieces) {
    std::erase(pieces, "");
    std::stable_sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
        return a[0] != b[0] ? as_byte(a[0]) < as_byte(b[0]) : a.size() > b.size();
    });
}

const std::string* longest_piece_at(const std::vector<std::string>& ordered, std::string_view text) {
    if (text.empty()) return nullptr;
    const auto before = [](const std::string& piece, char first) {
        return as_byte(piece[0]) < as_byte(first);
    };
    for (auto it = std::lower_bound(ordered.begin(), ordered.end(), text[0], before);
         it != ordered.end() && (*it)[0] == text[0]; ++it)
        if (text.starts_with(*it)) return &*it;
    return nullptr;
}

}  // namespace headlight

#include "analysis/circuits/reserved_tokens.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/cast.h"

namespace headlight {

bool is_reserved(std::string_view spelling) {
    constexpr std::array<std::string_view, 5> kBracketed{"unused", "reserved", "reserved_special_token",
                                                         "dummy", "placeholder"};
    if (spelling.empty()) return true;
    const bool numbered = spelling.find_first_of("0123456789") != std::string_view::npos;
    if (!numbered) return false;
    std::string name;
    for (const char c : spelling)
        if ((c >= 'a' && c <= 'z') || c == '_') name += c;
    while (name.ends_with('_')) name.pop_back();
    if (name == "madeupword") return true;  // fairseq
    const bool bracketed = spelling.front() == '[' || spelling.front() == '<';
    return bracketed && std::find(kBracketed.begin(), kBracketed.end(), name) != kBracketed.end();
}

std::vector<bool> reserved_tokens(const Model& model, int stack) {
    std::vector<bool> out(model.config.stacks[stack].vocab, false);
    if (!model.tokenizer) return out;
    const Tokenizer& tokenizer = stack == 0 ? **model.tokenizer : *model.target_tokenizer();
    for (int id = 0; id < isize(out); ++id) out[id] = is_reserved(tokenizer.spelling(id));
    return out;
}

}  // namespace headlight

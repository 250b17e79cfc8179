// Holds vocabularies.
#include "tokenizer/token_model.h"

#include <algorithm>
#include <cstdio>

#include "base/quoted.h"
#include "base/utf8.h"

namespace headlight {

namespace {
constexpr int64_t kMaxId = 10'000'000;
}

Status check_spelling(std::string_view spelling, const std::string& name) {
    constexpr size_t kMax = 4096;
    if (spelling.size() <= kMax) return success();
    return Error{name + ": the token " + in_quotes(spelling) +
                 " is longer than 4,096 bytes, which no tokenizer's is; correct the file."};
}

Result<std::string> json_spelling(const Json& object, JsonKey key, const std::string& fallback,
                                  const std::string& name) {
    TRY(std::string spelling, json_string(object, key, fallback, name));
    TRY_STATUS(check_spelling(spelling, name));
    return spelling;
}

Result<Vocabulary> Vocabulary::from_json(const Json& vocab, const std::string& name) {
    if (!vocab.is_object() || vocab.empty()) return Error{name + " has no vocabulary; correct the file."};
    Vocabulary v;
    int size = 0;
    for (const auto& [token, id] : vocab.items()) {
        if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= kMaxId)
            return Error{name + ": token " + in_quotes(token) + " has the id " + shortened(json_text(id)) +
                         ", which no vocabulary reaches; correct the file."};
        TRY_STATUS(check_spelling(token, name));
        v.ids_[token] = id.get<int>();
        size = std::max(size, id.get<int>() + 1);
    }
    if (static_cast<size_t>(size) > 16 * vocab.size() + 65536)
        return Error{name + ": token ids reach " + std::to_string(size - 1) + " with only " +
                     std::to_string(vocab.size()) + " tokens; correct the file."};
    v.spellings_.resize(size);
    for (const auto& [token, id] :
         v.ids_)  // the alphabetically first of two tokens with one id gives its spelling
        if (std::string& s = v.spellings_[id]; s.empty() || token < s) s = token;
    v.count_ = narrow<int>(std::ssize(v.ids_));
    return v;
}

Result<Vocabulary> Vocabulary::from_list(std::vector<std::string> spellings, const std::string& name) {
    for (const std::string& s : spellings) TRY_STATUS(check_spelling(s, name));
    Vocabulary v;
    v.spellings_ = std::move(spellings);
    for (int i = 0; i < isize(v.spellings_); ++i) v.ids_[v.spellings_[i]] = i;
    v.count_ = v.size();
    return v;
}

const std::string& Vocabulary::spelling(int id) const {
    static const std::string none;
    return id >= 0 && id < size() ? spellings_[id] : none;
}

int Vocabulary::id_of(std::string_view spelling) const {
    const auto it = ids_.find(spelling);
    return it == ids_.end() ? -1 : it->second;
}

std::vector<int> Vocabulary::byte_tokens() const {
    std::vector<int> out;
    for (int b = 0; b < 256; ++b) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(b));
        out.push_back(id_of(name));
    }
    return out;
}

}  // namespace headlight

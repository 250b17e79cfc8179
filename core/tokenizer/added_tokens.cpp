// Finds added tokens and numbers them.
#include "tokenizer/added_tokens.h"

#include <algorithm>

#include "base/cast.h"
#include "base/utf8.h"
#include "tokenizer/unicode_forms.h"

namespace headlight {

namespace {

/// Returns the code point that ends at byte `at`.
CodePoint code_point_before(std::string_view text, size_t at) {
    size_t begin = at - 1;
    while (begin > 0 && at - begin < 4 && (as_byte(text[begin]) & 0xC0) == 0x80) --begin;
    return decode_utf8(text, begin);
}

bool stands_alone(std::string_view text, size_t begin, size_t end) {
    const bool free_left = begin == 0 || !is_word_character(code_point_before(text, begin).value);
    const bool free_right = end == text.size() || !is_word_character(decode_utf8(text, end).value);
    return free_left && free_right;
}

size_t skip_white_left(std::string_view text, size_t at, size_t limit) {
    while (at > limit) {
        const CodePoint c = code_point_before(text, at);
        if (!is_white_space(c.value)) break;
        at -= c.length;
    }
    return std::max(at, limit);
}

size_t skip_white_right(std::string_view text, size_t at) {
    while (at < text.size()) {
        const CodePoint c = decode_utf8(text, at);
        if (!is_white_space(c.value)) break;
        at += c.length;
    }
    return at;
}

}  // namespace

std::vector<Segment> AddedTokenMatcher::split(const AlignedText& text) const {
    if (text.bytes.empty()) return {};
    if (tokens_.empty()) return {{text, -1}};
    std::vector<Segment> out;
    size_t done = 0;
    for (size_t at = 0; at < text.bytes.size();) {
        const auto* found = tokens_.longest(std::string_view(text.bytes).substr(at));
        if (!found) {
            ++at;
            continue;
        }
        const AddedToken* token = &found->second;
        size_t begin = at, end = at + token->content.size();
        at = end;
        if (token->single_word && !stands_alone(text.bytes, begin, end)) continue;
        if (token->lstrip) begin = skip_white_left(text.bytes, begin, done);
        // `at` stays: as in Hugging Face's, the next token may begin within the spaces that this one takes.
        if (token->rstrip) end = skip_white_right(text.bytes, end);
        if (begin > end) continue;
        if (begin > done) out.push_back({text.slice(done, begin), -1});
        out.push_back({text.slice(begin, end), token->id});
        done = end;
    }
    if (done < text.bytes.size()) out.push_back({text.slice(done, text.bytes.size()), -1});
    return out;
}

void AddedVocabulary::add(const std::vector<AddedToken>& tokens) {
    const int largest = by_id_.empty() ? -1 : by_id_.rbegin()->first;
    int next = std::max(vocabulary_.count(), largest + 1);
    for (const AddedToken& token : tokens) {
        if (token.content.empty()) continue;
        int id = id_of(token.content);
        if (id < 0) id = next++;
        ids_[token.content] = id;
        by_id_[id] = token;
        by_id_[id].id = id;
    }
}

int AddedVocabulary::id_of(const std::string& content) const {
    const auto it = ids_.find(content);
    return it == ids_.end() ? vocabulary_.id_of(content) : it->second;
}

std::vector<AddedToken> AddedVocabulary::tokens() const {
    std::vector<AddedToken> out;
    for (const auto& [id, token] : by_id_) out.push_back(token);
    return out;
}

Result<AddedToken> read_added_token(const Json& d, const std::string& name) {
    if (!d.is_object()) return Error{name + ": an added token is not an object; correct the file."};
    AddedToken t;
    TRY(t.content, json_spelling(d, "content", "", name));
    TRY(t.single_word, json_boolean(d, "single_word", false, name));
    TRY(t.lstrip, json_boolean(d, "lstrip", false, name));
    TRY(t.rstrip, json_boolean(d, "rstrip", false, name));
    TRY(t.special, json_boolean(d, "special", false, name));
    TRY(t.normalized, json_boolean(d, "normalized", !t.special, name));
    return t;
}

Result<std::vector<AddedToken>> read_added_tokens(const Json& list, const std::string& name) {
    std::vector<AddedToken> out;
    if (list.is_null()) return out;
    if (!list.is_array()) return Error{name + ": added_tokens is not a list; correct the file."};
    for (const Json& d : list) {
        TRY(AddedToken t, read_added_token(d, name));
        TRY(const int64_t id, json_integer(d, "id", 0, 0, 100'000'000, name));
        t.id = narrow<int>(id);
        out.push_back(std::move(t));
    }
    return out;
}

}  // namespace headlight

// Sets the tokens of a text together as words.
#include <algorithm>

#include "base/cast.h"
#include "base/utf8.h"
#include "views/text/running_text.h"

namespace headlight {

namespace {

/// A vocabulary marks the start of words ("Ġcat", "▁cat") or their continuation ("##cat").
enum class Spaces { marked, continued };

Spaces spaces_of(const std::vector<std::string>& tokens) {
    const bool marked = std::any_of(tokens.begin(), tokens.end(), [](const std::string& t) {
        return t.starts_with("Ġ") || t.starts_with("▁");
    });
    return marked ? Spaces::marked : Spaces::continued;
}

bool has_space_before(Spaces spaces, const std::string& token) {
    if (spaces == Spaces::marked) return token.starts_with("Ġ") || token.starts_with("▁");
    const bool closes =
        token.size() == 1 && std::string_view(".,;:!?)]}'").find(token[0]) != std::string::npos;
    return !token.starts_with("##") && !closes;
}

bool breaks_line(const std::string& token) {
    return token.starts_with("Ċ") || token.starts_with("\n") || token == "<0x0A>";
}

struct Range {
    uint32_t first, last;
    bool has(uint32_t c) const { return first <= c && c <= last; }
};

/// Letters of scripts that put spaces between words, and their signs.
bool is_of_word(uint32_t c) {
    constexpr Range kRanges[] = {{'0', '9'},       {'A', 'Z'},       {'a', 'z'},       {0xC0, 0x1FFF},
                                 {0x2C00, 0x2DFF}, {0xA640, 0xABFF}, {0xFB00, 0xFDFF}, {0xFE70, 0xFEFF}};
    return std::any_of(std::begin(kRanges), std::end(kRanges), [&](Range r) { return r.has(c); });
}

/// Joiners and modifiers of emoji, which stay with what is before them.
bool is_attached(uint32_t c) {
    return c == 0x200D || c == 0x200C || Range{0xFE00, 0xFE0F}.has(c) || Range{0x1F3FB, 0x1F3FF}.has(c);
}

bool is_leftward(uint32_t c) {
    return Range{0x590, 0x8FF}.has(c) || Range{0xFB1D, 0xFDFF}.has(c) || Range{0xFE70, 0xFEFF}.has(c);
}

/// Whether a text has a letter of its own direction; spaces, digits and marks take that of their neighbors.
bool is_directed(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
        const auto c = decode_utf8(text, at);
        if (!Range{'0', '9'}.has(c.value) && (is_of_word(c.value) || Range{0x3040, 0x9FFF}.has(c.value)))
            return true;
        at += c.length;
    }
    return false;
}

uint32_t first_of(std::string_view text) { return decode_utf8(text, 0).value; }
uint32_t last_of(std::string_view text) {
    size_t at = text.size() - 1;
    while (at > 0 && (as_byte(text[at]) & 0xC0) == 0x80) --at;
    return decode_utf8(text, at).value;
}

/// Returns the text of a token, without the space before it; "": it is shown by its label.
std::string written_part(const Tokenizer* tokenizer, int id) {
    std::string bytes = tokenizer ? tokenizer->bytes(id) : "";
    if (bytes.starts_with("##")) bytes.erase(0, 2);
    if (bytes.starts_with(" ")) bytes.erase(0, 1);
    const bool plain = std::none_of(bytes.begin(), bytes.end(), [](char c) { return as_byte(c) <= ' '; });
    return plain ? bytes : "";
}

/// Returns whether a token continues a word: in the middle of a character, or of its letters.
bool continues_word(const std::string& word, const std::string& part) {
    if (word.empty() || part.empty()) return false;
    if (!is_valid_utf8(word)) return true;
    const uint32_t before = last_of(word), after = first_of(part);
    return is_attached(after) || before == 0x200D || (is_of_word(before) && is_of_word(after));
}

std::vector<std::string> written_parts(const Tokenizer* tokenizer, const std::vector<int>& ids) {
    std::vector<std::string> out;
    for (const int id : ids) out.push_back(written_part(tokenizer, id));
    return out;
}

/// Completes the character that a token has only a part of.
std::string character_from(const std::vector<std::string>& parts, int i) {
    constexpr int kMaxParts = 4;  // bytes of a character
    std::string out = parts[i];
    for (int more = i + 1; more < std::min(isize(parts), i + kMaxParts) && !is_valid_utf8(out); ++more)
        out += parts[more];
    return out;
}

const Tokenizer* tokenizer_of(const Model& model, int stack) {
    if (!model.tokenizer) return nullptr;
    return stack == 0 ? model.tokenizer->get() : model.target_tokenizer().get();
}

/// Completes the last word; shows what is no text by its labels.
void complete(std::vector<TextWord>& words, const std::vector<std::string>& labels) {
    TextWord word = words.back();
    if (!word.text.empty() && is_valid_utf8(word.text)) {
        words.back().leftward = is_leftward(first_of(word.text));
        words.back().directed = is_directed(word.text);
        return;
    }
    words.pop_back();
    for (int i = 0; i < word.count; ++i) {
        const std::string& label = labels[word.first + i];
        words.push_back({word.first + i, 1, label, {label.size()}, word.blank && i == 0});
        words.back().directed = is_directed(label);
    }
    words.back().ends_line = word.ends_line;
}

}  // namespace

std::vector<TextWord> words_of_tokens(const Scene& s, int stack) {
    constexpr size_t kLongest = 64;  // bytes of a word that grows further
    const Sequence& read = s.sentence()->trace->request.inputs[stack];
    const auto& labels = s.sentence()->labels[stack];
    const Spaces spaces = spaces_of(read.tokens);
    std::vector<std::string> parts = written_parts(tokenizer_of(*s.model(), stack), read.ids);
    const auto is_patch = [&](int i) { return read.picture && read.picture->grid.has(i); };
    for (int i = 0; i < isize(labels); ++i)
        if (is_patch(i)) parts[i] = labels[i];
    std::vector<TextWord> out;
    const auto end_word = [&] {
        if (!out.empty()) complete(out, labels);
    };
    for (int i = 0; i < isize(labels); ++i) {
        const std::string& token = read.tokens[i];
        const bool blank = i > 0 && (is_patch(i) || has_space_before(spaces, token));
        const bool more = !out.empty() && !is_patch(i - 1) && !blank && !out.back().ends_line &&
                          out.back().text.size() < kLongest &&
                          continues_word(out.back().text, character_from(parts, i));
        if (!more) {
            end_word();
            out.push_back({i, 0, "", {}, blank});
        }
        TextWord& word = out.back();
        word.text += parts[i];
        word.ends.push_back(word.text.size());
        ++word.count;
        word.ends_line = breaks_line(token);
    }
    end_word();
    return out;
}

std::pair<size_t, size_t> words_of_range(const TextFlow& f, std::pair<int, int> tokens) {
    const auto first = std::partition_point(
        f.words.begin(), f.words.end(), [&](const TextWord& w) { return w.first + w.count <= tokens.first; });
    const auto last = std::partition_point(first, f.words.end(),
                                           [&](const TextWord& w) { return w.first < tokens.second; });
    return {size_t(first - f.words.begin()), size_t(last - f.words.begin())};
}

}  // namespace headlight

// Runs the steps of a tokenizer.
#include "tokenizer/tokenizer.h"

#include <algorithm>

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/description.h"

namespace headlight {

namespace {

/// Parses "<0x0A>", one byte.
bool byte_of_name(std::string_view name, char& byte) {
    if (name.size() != 6 || !name.starts_with("<0x") || name[5] != '>') return false;
    const std::string digits(name.substr(3, 2));
    char* end = nullptr;
    byte = static_cast<char>(std::strtol(digits.c_str(), &end, 16));
    return *end == 0;
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> Tokenizer::make(TokenizerParts parts, const std::string& name) {
    constexpr size_t kMaxAdded = 64 << 20;  // bytes of all added tokens, normalized
    const std::shared_ptr<Tokenizer> t(new Tokenizer(std::move(parts), name));
    size_t bytes = 0;
    for (size_t i = 0; i < t->parts_.added.size(); ++i) {
        AddedToken token = t->parts_.added[i];
        t->added_by_id_.emplace(token.id, i);
        if (token.normalized) {
            auto normal = t->normalize(AlignedText::of(token.content));
            if (!normal)
                return Error{name + ": the added token " + in_quotes(token.content) +
                             " cannot be normalized: " + normal.error().message};
            token.content = std::move(normal->bytes);
        }
        if ((bytes += token.content.size()) > kMaxAdded)
            return Error{name + ": its added tokens take more than 64 MB; correct the file."};
        (token.normalized ? t->after_normalizer_ : t->before_normalizer_).add(token);
    }
    return std::shared_ptr<const Tokenizer>(t);
}

Result<AlignedText> Tokenizer::normalize(AlignedText text) const {
    if (!parts_.normalizer) return text;
    const size_t max = most_normalized(text.bytes.size());
    return parts_.normalizer(std::move(text), max);
}

Result<Encoding> Tokenizer::process(std::vector<Encoding> texts, bool special) const {
    size_t tokens = 0;
    for (const Encoding& e : texts) tokens += e.size();
    if (parts_.post_processor) TRY_STATUS(parts_.post_processor(texts, special, most_processed(tokens)));
    for (size_t i = 1; i < texts.size(); ++i) texts[0].append(texts[i]);
    return std::move(texts[0]);
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::parse(std::string_view text, const std::string& name) {
    TRY(const Json root, parse_json(text, name));
    TRY(TokenizerParts parts, parts_of(root, name));
    return make(std::move(parts), name);
}

/// Appends a piece with the model's id, or with the one that the other file gives it.
void Tokenizer::push_piece(std::string piece, int id, Span offset, int type, Encoding& out) const {
    if (parts_.ids) {
        const int listed = parts_.ids->id_of(piece);
        id = listed < 0 ? parts_.unknown : listed;
        piece = parts_.ids->spelling(id);
    }
    out.push(id, std::move(piece), offset, type);
}

/// Returns the bytes of a leading language code, after appending it as a token.
size_t Tokenizer::take_language_code(std::string_view text, int type, Encoding& out) const {
    const size_t end = text.rfind("<<");
    if (!parts_.language_code || !text.starts_with(">>") || end == std::string_view::npos || end < 3)
        return 0;
    const std::string_view code = text.substr(0, end + 2);
    push_piece(std::string(code), parts_.unknown, {0, narrow<int>(count_code_points(code))}, type, out);
    return code.size();
}

Status Tokenizer::encode_segment(const AlignedText& text, int type, Encoding& out) const {
    std::vector<AlignedText> words{text};
    if (parts_.pre_tokenizer) TRY_STATUS(parts_.pre_tokenizer(words));
    for (const AlignedText& word : words)
        for (const ModelToken& t : parts_.model->encode(word.bytes)) {
            if (t.id == kNoToken)
                return Error{"it has no token for " + in_quotes(word.bytes.substr(t.begin, t.end - t.begin)) +
                             ", and none for what it does not know; use another text."};
            const std::string& piece = t.text.empty() ? parts_.model->vocabulary().spelling(t.id) : t.text;
            push_piece(piece, t.id, word.covered(t.begin, t.end), type, out);
        }
    return success();
}

Result<Encoding> Tokenizer::encode_one(std::string_view text, int type) const {
    const std::string valid = valid_utf8(text);
    Encoding out;
    const auto push_added = [&](const Segment& s) {
        out.push(s.id, s.text.bytes, s.text.covered(0, s.text.bytes.size()), type);
    };
    const AlignedText whole = AlignedText::of(valid);
    const size_t begin = take_language_code(valid, type, out);
    for (const Segment& raw : before_normalizer_.split(begin ? whole.slice(begin, valid.size()) : whole)) {
        if (raw.id >= 0) {
            push_added(raw);
            continue;
        }
        TRY(const AlignedText normal, normalize(raw.text));
        for (const Segment& segment : after_normalizer_.split(normal)) {
            if (segment.id >= 0)
                push_added(segment);
            else
                TRY_STATUS(encode_segment(segment.text, type, out));
        }
    }
    return out;
}

Result<Encoding> Tokenizer::encode(std::string_view text, bool special) const {
    auto one = encode_one(text, 0);
    if (!one) return named(one.error());
    auto out = process({std::move(*one)}, special);
    if (!out) return named(out.error());
    return out;
}

Result<Encoding> Tokenizer::encode_pair(std::string_view text, std::string_view pair, bool special) const {
    const auto both = [&]() -> Result<Encoding> {
        TRY(Encoding first, encode_one(text, 0));
        TRY(Encoding second, encode_one(pair, 1));
        return process({std::move(first), std::move(second)}, special);
    };
    auto out = both();
    if (!out) return named(out.error());
    return out;
}

const AddedToken* Tokenizer::added_token(int id) const {
    const auto it = added_by_id_.find(id);
    return it == added_by_id_.end() ? nullptr : &parts_.added[it->second];
}

std::string Tokenizer::spelling(int id) const {
    if (const AddedToken* added = added_token(id)) return added->content;
    return vocabulary().spelling(id);
}

std::string Tokenizer::bytes(int id) const {
    if (const AddedToken* added = added_token(id)) return added->content;
    std::string text = spelling(id);
    if (parts_.spelling == Spelling::byte_level) {
        const auto bytes = bytes_of_printable(text);
        return bytes ? *bytes : text;
    }
    if (parts_.spelling == Spelling::word_piece) return text;
    if (char byte = 0; byte_of_name(text, byte)) return std::string(1, byte);
    for (size_t at = 0; (at = text.find(kMetaspace, at)) != std::string::npos; ++at)
        text.replace(at, kMetaspace.size(), " ");
    return text;
}

std::string Tokenizer::decode(const std::vector<int>& ids) const {
    std::string out;
    for (const int id : ids) {
        const AddedToken* added = added_token(id);
        if (added && added->special) continue;
        std::string piece = bytes(id);
        const bool inside = piece.starts_with("##");
        if (parts_.spelling == Spelling::word_piece && inside)
            piece = piece.substr(2);
        else if (parts_.spelling == Spelling::word_piece && !out.empty())
            out += ' ';
        out += piece;
    }
    if (parts_.spelling == Spelling::metaspace && out.starts_with(' ')) out.erase(0, 1);
    return valid_utf8(out);
}

int Tokenizer::id_of(std::string_view spelling) const {
    for (const AddedToken& t : parts_.added)
        if (t.content == spelling) return t.id;
    return vocabulary().id_of(spelling);
}

int Tokenizer::size() const {
    int size = vocabulary().size();
    for (const auto& t : parts_.added) size = std::max(size, t.id + 1);
    return size;
}

}  // namespace headlight

#include "tokenizer/tokenizer.h"

#include <algorithm>

#include "base/utf8.h"
#include "io/mapped_file.h"
#include "tokenizer/byte_level.h"

namespace headlight {

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from_json(const Json& root, const std::string& name) {
    if (!root.is_object()) return Error{name + " is not a tokenizer description; download it again."};
    const auto part = [&](const char* key) { return root.contains(key) ? root[key] : Json(); };
    const Json model = part("model");
    if (!model.is_object()) return Error{name + " describes no model; download it again."};
    TRY(const std::string type, json_string(model, "type", "BPE", name));
    if (type != "BPE") return Error{name + ": the tokenizer model \"" + type.substr(0, 40) + "\" is not one that Headlight reads; open a model with a byte-level BPE tokenizer."};
    auto tokenizer = std::shared_ptr<Tokenizer>(new Tokenizer());
    TRY(tokenizer->normalizer_, make_normalizer(part("normalizer"), name));
    TRY(tokenizer->pre_tokenizer_, make_pre_tokenizer(part("pre_tokenizer"), name));
    TRY(tokenizer->post_processor_, make_post_processor(part("post_processor"), name));
    TRY(tokenizer->bpe_, Bpe::from_json(model, name));
    TRY(tokenizer->added_, read_added_tokens(part("added_tokens"), name));
    for (AddedToken token : tokenizer->added_) {
        if (token.normalized && tokenizer->normalizer_) token.content = tokenizer->normalizer_(AlignedText::of(token.content)).bytes;
        (token.normalized ? tokenizer->after_normalizer_ : tokenizer->before_normalizer_).add(token);
    }
    return std::shared_ptr<const Tokenizer>(tokenizer);
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::parse(std::string_view text, const std::string& name) {
    TRY(const Json root, parse_json(text, name));
    return from_json(root, name);
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::open(const std::filesystem::path& folder) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (fs::exists(folder / "tokenizer.json", ignored)) {
        TRY(const Json root, read_json(folder / "tokenizer.json"));
        return from_json(root, display_path(folder / "tokenizer.json"));
    }
    if (!fs::exists(folder / "vocab.json", ignored) || !fs::exists(folder / "merges.txt", ignored))
        return Error{display_path(folder) + " has no tokenizer (tokenizer.json, or vocab.json with merges.txt); copy the tokenizer's files into it."};
    TRY(const Json vocab, read_json(folder / "vocab.json"));
    TRY(const auto merges, MappedFile::open(folder / "merges.txt"));
    auto tokenizer = std::shared_ptr<Tokenizer>(new Tokenizer());
    TRY(tokenizer->bpe_, Bpe::from_files(vocab, merges->text(), display_path(folder / "vocab.json")));
    TRY(tokenizer->pre_tokenizer_, make_byte_level(false, true));
    TRY(tokenizer->post_processor_, make_post_processor({}, ""));
    if (const int end = tokenizer->bpe_.id_of("<|endoftext|>"); end >= 0) {
        tokenizer->added_.push_back({.id = end, .content = "<|endoftext|>", .special = true});
        tokenizer->before_normalizer_.add(tokenizer->added_.back());
    }
    return std::shared_ptr<const Tokenizer>(tokenizer);
}

Result<Encoding> Tokenizer::encode(std::string_view text, bool special) const {
    const std::string valid = valid_utf8(text);
    Encoding out;
    for (const Segment& raw : before_normalizer_.split(AlignedText::of(valid))) {
        if (raw.id >= 0) {
            out.push(raw.id, raw.text.bytes, raw.text.covered(0, raw.text.bytes.size()));
            continue;
        }
        for (Segment& segment : after_normalizer_.split(normalizer_ ? normalizer_(raw.text) : raw.text)) {
            if (segment.id >= 0) {
                out.push(segment.id, segment.text.bytes, segment.text.covered(0, segment.text.bytes.size()));
                continue;
            }
            std::vector<AlignedText> words{std::move(segment.text)};
            TRY_STATUS(pre_tokenizer_(words));
            for (const AlignedText& word : words)
                for (const BpeToken& t : bpe_.encode(word.bytes)) out.push(t.id, bpe_.spelling(t.id), word.covered(t.begin, t.end));
        }
    }
    post_processor_(out, special);
    return out;
}

const AddedToken* Tokenizer::added_token(int id) const {
    const auto it = std::find_if(added_.begin(), added_.end(), [&](const AddedToken& t) { return t.id == id; });
    return it == added_.end() ? nullptr : &*it;
}

std::string Tokenizer::spelling(int id) const {
    const AddedToken* added = added_token(id);
    return added ? added->content : bpe_.spelling(id);
}

std::string Tokenizer::bytes(int id) const {
    if (const AddedToken* added = added_token(id)) return added->content;
    const auto bytes = bytes_of_printable(bpe_.spelling(id));
    return bytes ? *bytes : bpe_.spelling(id);
}

std::string Tokenizer::decode(const std::vector<int>& ids) const {
    std::string out;
    for (const int id : ids) {
        const AddedToken* added = added_token(id);
        if (!added || !added->special) out += bytes(id);
    }
    return valid_utf8(out);
}

int Tokenizer::size() const {
    int size = bpe_.size();
    for (const auto& t : added_) size = std::max(size, t.id + 1);
    return size;
}

}  // namespace headlight

#include "tokenizer/gguf_tokenizer.h"

#include <algorithm>

#include "base/quoted.h"
#include "tokenizer/bpe.h"
#include "tokenizer/sentence_piece.h"
#include "tokenizer/word_piece.h"

namespace headlight {

namespace {

/// The tokenizer's entries, checked.
struct Entries {
    const Gguf& file;
    std::string name;
    std::vector<std::string> tokens;
    std::vector<PieceKind> kinds;

    const Json& value(const std::string& key) const { return file.value("tokenizer.ggml." + key); }
    bool flag(const char* key, bool fallback) const { return value(key).is_boolean() ? value(key).get<bool>() : fallback; }
    /// The token whose id an entry names, as a list of one; empty where there is none.
    std::vector<SpecialToken> token(const char* key) const {
        const Json& id = value(key);
        if (!id.is_number_unsigned() || id.get<uint64_t>() >= tokens.size()) return {};
        return {{tokens[id.get<size_t>()], id.get<int>()}};
    }
    /// Control tokens and those that users added.
    std::vector<AddedToken> added() const {
        std::vector<AddedToken> out;
        for (size_t i = 0; i < kinds.size(); ++i)
            if (kinds[i] == PieceKind::control || kinds[i] == PieceKind::user_defined || kinds[i] == PieceKind::unknown)
                out.push_back({.id = static_cast<int>(i), .content = tokens[i], .special = kinds[i] != PieceKind::user_defined});
        return out;
    }
    PostProcessor begin_and_end(bool begin, bool end) const {
        const bool first = flag("add_bos_token", begin), last = flag("add_eos_token", end);
        return surround(first ? token("bos_token_id") : std::vector<SpecialToken>{}, last ? token("eos_token_id") : std::vector<SpecialToken>{});
    }
};

Result<Entries> read_entries(const Gguf& file, const std::string& name) {
    Entries e{file, name, {}, {}};
    const Json &tokens = e.value("tokens"), &kinds = e.value("token_type");
    if (!tokens.is_array() || tokens.empty()) return Error{name + " holds no tokenizer; use a GGUF file that was made with one."};
    for (const Json& t : tokens) {
        if (!t.is_string()) return Error{name + ": a token is no text; download the file again."};
        e.tokens.push_back(t.get<std::string>());
    }
    e.kinds.assign(e.tokens.size(), PieceKind::normal);
    if (kinds.is_array() && kinds.size() == e.tokens.size())
        for (size_t i = 0; i < kinds.size(); ++i)
            if (kinds[i].is_number_integer() && kinds[i].get<int64_t>() >= 1 && kinds[i].get<int64_t>() <= 6) e.kinds[i] = static_cast<PieceKind>(kinds[i].get<int>());
    return e;
}

Result<TokenizerParts> make_llama(const Entries& e) {
    SentencePieceFile file;
    file.pieces = e.tokens;
    file.kinds = e.kinds;
    file.unigram = false;
    file.byte_fallback = std::find(e.kinds.begin(), e.kinds.end(), PieceKind::byte) != e.kinds.end();
    file.add_blank = e.flag("add_space_prefix", true);
    file.join_blanks = e.flag("remove_extra_whitespaces", false);
    file.scores.assign(e.tokens.size(), 0);
    if (const Json& scores = e.value("scores"); scores.is_array() && scores.size() == e.tokens.size())
        for (size_t i = 0; i < scores.size(); ++i)
            if (scores[i].is_number()) file.scores[i] = scores[i].get<float>();
    TokenizerParts parts;
    TRY(parts.model, sentence_piece_model(file, e.name));
    parts.normalizer = sentence_piece_normalizer(file);
    parts.post_processor = e.begin_and_end(true, false);
    parts.added = e.added();
    parts.spelling = Spelling::metaspace;
    return parts;
}

/// How tokenizer.ggml.pre names the split patterns; the patterns are those of the models' own tokenizer.json files.
struct SplitRow {
    const char* name;
    const char* pattern;
    bool digits_apart;
};
constexpr const char* kLlama3Split = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kQwen2Split = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr SplitRow kSplits[] = {{"gpt-2", kGpt2Pattern, false}, {"default", kGpt2Pattern, false}, {"phi-2", kGpt2Pattern, false},    {"llama-bpe", kLlama3Split, false}, {"llama3", kLlama3Split, false},
                                {"qwen2", kQwen2Split, false}, {"smollm", kGpt2Pattern, true},  {"smaug-bpe", kLlama3Split, false}};

Result<TokenizerParts> make_gpt2(const Entries& e) {
    const Json &merges = e.value("merges"), &pre = e.value("pre");
    if (!merges.is_array()) return Error{e.name + " has no merges; use a GGUF file that was made with its tokenizer."};
    std::vector<std::string> lines;
    for (const Json& m : merges) {
        if (!m.is_string()) return Error{e.name + ": a merge is no text; download the file again."};
        lines.push_back(m.get<std::string>());
    }
    const std::string split = pre.is_string() ? pre.get<std::string>() : "default";
    const auto* row = std::find_if(std::begin(kSplits), std::end(kSplits), [&](const SplitRow& r) { return split == r.name; });
    if (row == std::end(kSplits)) return Error{e.name + ": the split pattern " + in_quotes(split) + " is not one that Headlight knows; open the model's Hugging Face folder instead."};
    BpeOptions options;
    options.byte_level = true;
    options.ignore_merges = row->pattern == kLlama3Split;
    TokenizerParts parts;
    TRY(Vocabulary vocabulary, Vocabulary::from_list(e.tokens, e.name));
    TRY(parts.model, Bpe::from_merges(std::move(vocabulary), lines, options, e.name));
    TRY(parts.pre_tokenizer, make_regex_split(row->pattern));
    if (row->digits_apart) {
        const PreTokenizer whole = parts.pre_tokenizer;
        TRY(const PreTokenizer digits, make_pre_tokenizer({{"type", "Digits"}, {"individual_digits", true}}, e.name));
        parts.pre_tokenizer = [digits, whole](std::vector<AlignedText>& pieces) -> Status {
            TRY_STATUS(digits(pieces));
            return whole(pieces);
        };
    }
    if (row->pattern == kQwen2Split) {
        TRY(parts.normalizer, make_normalizer({{"type", "NFC"}}, e.name));
    }
    parts.post_processor = e.begin_and_end(false, false);
    parts.added = e.added();
    return parts;
}

Result<TokenizerParts> make_bert(const Entries& e) {
    TokenizerParts parts;
    TRY(Vocabulary vocabulary, Vocabulary::from_list(e.tokens, e.name));
    TRY(parts.model, WordPiece::make(std::move(vocabulary), "[UNK]", "", "▁", 100, e.name));
    parts.normalizer = make_bert_normalizer(true, true, true, true);
    parts.pre_tokenizer = make_bert_pre_tokenizer();
    const auto first = e.token("cls_token_id"), last = e.token("seperator_token_id");  // the format's own spelling
    parts.post_processor = surround(first.empty() ? e.token("bos_token_id") : first, last.empty() ? e.token("eos_token_id") : last);
    parts.added = e.added();
    parts.spelling = Spelling::metaspace;
    return parts;
}

struct KindRow {
    const char* name;
    Result<TokenizerParts> (*make)(const Entries&);
};
constexpr KindRow kKinds[] = {{"llama", make_llama}, {"gpt2", make_gpt2}, {"bert", make_bert}};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> gguf_tokenizer(const Gguf& file, const std::string& name) {
    TRY(const Entries entries, read_entries(file, name));
    const std::string kind = entries.value("model").is_string() ? entries.value("model").get<std::string>() : "";
    for (const auto& row : kKinds)
        if (kind == row.name) {
            TRY(TokenizerParts parts, row.make(entries));
            return Tokenizer::make(std::move(parts), name);
        }
    return Error{name + ": the tokenizer " + in_quotes(kind) + " is not one that Headlight reads from GGUF; open the model's Hugging Face folder instead."};
}

}  // namespace headlight

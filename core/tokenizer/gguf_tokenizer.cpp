// Builds tokenizers from GGUF metadata.
#include "tokenizer/gguf_tokenizer.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/quoted.h"
#include "tokenizer/bpe.h"
#include "tokenizer/gguf_splits.h"
#include "tokenizer/sentence_piece.h"
#include "tokenizer/word_piece.h"

namespace headlight {

namespace {

struct Entries {
    const Gguf& file;
    std::string name;
    std::vector<std::string> tokens;
    std::vector<PieceKind> kinds;

    static std::string full(const std::string& key) { return "tokenizer.ggml." + key; }
    const Json& value(const std::string& key) const { return file.value(full(key)); }
    Result<bool> flag(const char* key, bool fallback) const {
        const Json& v = value(key);
        if (v.is_null()) return fallback;
        if (!v.is_boolean()) return wrong_type(name, full(key), "true or false", v);
        return v.get<bool>();
    }
    /// Returns the token whose id an entry holds, as a list of one; if the entry is missing, the one with
    /// llama.cpp's `usual` id. Empty if there is none (llama.cpp's null is −1 in 32 bits).
    Result<std::vector<SpecialToken>> token(const char* key, int usual = -1) const {
        constexpr int64_t kNone = 0xFFFFFFFF;
        const Json& v = value(key);
        if (v.is_null() && usual >= 0 && usual < isize(tokens))
            return std::vector<SpecialToken>{{tokens[usual], usual}};
        if (v.is_null() || v == kNone || v == -1) return std::vector<SpecialToken>();
        TRY(const int64_t id, whole_number(v, full(key), 0, std::ssize(tokens) - 1, name));
        return std::vector<SpecialToken>{{tokens[id], narrow<int>(id)}};
    }
    /// Lists control tokens and user-defined ones.
    std::vector<AddedToken> added() const {
        std::vector<AddedToken> out;
        for (int i = 0; i < isize(kinds); ++i)
            if (kinds[i] == PieceKind::control || kinds[i] == PieceKind::user_defined ||
                kinds[i] == PieceKind::unknown)
                out.push_back(
                    {.id = i, .content = tokens[i], .special = kinds[i] != PieceKind::user_defined});
        return out;
    }
    /// Applies add_bos_token and add_eos_token, or llama.cpp's defaults, to the tokens that they name.
    Result<PostProcessor> begin_and_end(bool begin, int begin_id, bool end, int end_id) const {
        TRY(const bool first, flag("add_bos_token", begin));
        TRY(const bool last, flag("add_eos_token", end));
        TRY(auto before, token("bos_token_id", begin_id));
        TRY(auto after, token("eos_token_id", end_id));
        return surround(first ? std::move(before) : std::vector<SpecialToken>{},
                        last ? std::move(after) : std::vector<SpecialToken>{});
    }
};

Result<Entries> read_entries(const Gguf& file, const std::string& name) {
    Entries e{file, name, {}, {}};
    const Json &tokens = e.value("tokens"), &kinds = e.value("token_type");
    if (!tokens.is_array() || tokens.empty())
        return Error{name + " holds no tokenizer; use a GGUF file that was made with one."};
    for (const Json& t : tokens) {
        if (!t.is_string()) return Error{name + ": a token is not text; correct the file."};
        e.tokens.push_back(t.get<std::string>());
    }
    e.kinds.assign(e.tokens.size(), PieceKind::normal);
    if (kinds.is_null()) return e;
    if (!kinds.is_array() || kinds.size() != tokens.size())
        return wrong_type(name, "tokenizer.ggml.token_type", "a list with the type of each token", kinds);
    for (size_t i = 0; i < kinds.size(); ++i) {
        TRY(const int64_t kind, whole_number(kinds[i], "tokenizer.ggml.token_type", 0, 6, name));
        if (kind > 0) e.kinds[i] = static_cast<PieceKind>(kind);
    }
    return e;
}

/// Reads one score per token; zeros if the file has none.
Result<std::vector<float>> read_scores(const Entries& e) {
    const Json& scores = e.value("scores");
    std::vector<float> out(e.tokens.size(), 0);
    if (scores.is_null()) return out;
    const bool usable = scores.is_array() && scores.size() == out.size() &&
                        std::all_of(scores.begin(), scores.end(), [](const Json& s) {
                            return s.is_number() && std::isfinite(s.get<double>());
                        });
    if (!usable)
        return wrong_type(e.name, "tokenizer.ggml.scores", "a list with a finite score for each token",
                          scores);
    for (size_t i = 0; i < out.size(); ++i) out[i] = scores[i].get<float>();
    return out;
}

/// Reads the bytes of a SentencePiece model's character map, one number each; empty if there is none.
Result<std::string> read_charsmap(const Entries& e) {
    const Json& list = e.value("precompiled_charsmap");
    std::string out;
    if (list.is_null()) return out;
    if (!list.is_array())
        return wrong_type(e.name, Entries::full("precompiled_charsmap"), "a list of bytes", list);
    for (const Json& byte : list) {
        TRY(const int64_t value,
            whole_number(byte, Entries::full("precompiled_charsmap"), -128, 255, e.name));
        out += static_cast<char>(value);
    }
    return out;
}

Result<TokenizerParts> sentence_piece_parts(const Entries& e, bool unigram, bool add_blank) {
    SentencePieceFile file;
    file.pieces = e.tokens;
    file.kinds = e.kinds;
    file.unigram = unigram;
    file.join_blanks = false;
    file.byte_fallback = contains(e.kinds, PieceKind::byte);
    TRY(file.add_blank, e.flag("add_space_prefix", add_blank));
    if (unigram) {  // llama.cpp joins spaces only in Unigram models
        TRY(file.join_blanks, e.flag("remove_extra_whitespaces", false));
    }
    TRY(file.scores, read_scores(e));
    TRY(const std::string charsmap, read_charsmap(e));
    if (!charsmap.empty()) {
        TRY(Charsmap map, Charsmap::parse(charsmap, e.name));
        file.charsmap = std::make_shared<const Charsmap>(std::move(map));
    }
    TokenizerParts parts;
    TRY(parts.model, sentence_piece_model(file, e.name));
    parts.normalizer = sentence_piece_normalizer(file);
    parts.added = e.added();
    parts.spelling = Spelling::metaspace;
    return parts;
}

Result<TokenizerParts> make_llama(const Entries& e) {
    TRY(TokenizerParts parts, sentence_piece_parts(e, false, true));
    TRY(parts.post_processor, e.begin_and_end(true, 1, false, 2));
    return parts;
}

Result<TokenizerParts> make_t5(const Entries& e) {
    TRY(TokenizerParts parts, sentence_piece_parts(e, true, false));
    TRY(parts.post_processor, e.begin_and_end(false, -1, true, 1));
    return parts;
}

Result<std::vector<std::string>> read_merges(const Entries& e) {
    const Json& merges = e.value("merges");
    if (!merges.is_array())
        return Error{e.name + " has no merges; use a GGUF file that was made with its tokenizer."};
    std::vector<std::string> lines;
    for (const Json& m : merges) {
        if (!m.is_string()) return Error{e.name + ": a merge is not text; correct the file."};
        lines.push_back(m.get<std::string>());
    }
    return lines;
}

/// Makes Gemma 4's: merges of characters, blanks written as ▁, and bytes for what the vocabulary lacks.
Result<TokenizerParts> make_gemma4(const Entries& e) {
    TRY(const std::vector<std::string> lines, read_merges(e));
    BpeOptions options;
    options.byte_fallback = contains(e.kinds, PieceKind::byte);
    options.fuse_unknown = true;
    const auto unknown = std::find(e.kinds.begin(), e.kinds.end(), PieceKind::unknown);
    if (unknown != e.kinds.end()) options.unknown = narrow<int>(unknown - e.kinds.begin());
    TokenizerParts parts;
    TRY(Vocabulary vocabulary, Vocabulary::from_list(e.tokens, e.name));
    TRY(parts.model, Bpe::from_merges(std::move(vocabulary), lines, options, e.name));
    TRY(parts.normalizer,
        make_normalizer({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}}, e.name));
    TRY(parts.post_processor, e.begin_and_end(true, 2, false, 1));
    parts.added = e.added();
    parts.spelling = Spelling::metaspace;
    return parts;
}

Result<TokenizerParts> make_gpt2(const Entries& e) {
    const Json& pre = e.value("pre");
    TRY(const std::vector<std::string> lines, read_merges(e));
    if (!pre.is_null() && !pre.is_string()) return wrong_type(e.name, "tokenizer.ggml.pre", "a string", pre);
    const std::string split = pre.is_string() ? pre.get<std::string>() : "default";
    const SplitRow* row = split_named(split);
    if (!row)
        return Error{e.name + ": the split pattern " + in_quotes(split) +
                     " is not one that Headlight knows; open the model's Hugging Face folder instead."};
    BpeOptions options;
    options.ignore_merges = row->whole_words;
    TokenizerParts parts;
    TRY(Vocabulary vocabulary, Vocabulary::from_list(e.tokens, e.name));
    TRY(parts.model, Bpe::from_merges(std::move(vocabulary), lines, options, e.name));
    TRY(PreTokenizer cut, make_regex_splits(row->patterns));
    TRY(PreTokenizer bytes, make_byte_level(false, false));
    parts.pre_tokenizer = in_sequence({std::move(cut), std::move(bytes)});
    if (row->composed) {
        TRY(parts.normalizer, make_normalizer({{"type", "NFC"}}, e.name));
    }
    TRY(parts.post_processor, e.begin_and_end(row->begin, 11, false, 11));
    parts.added = e.added();
    return parts;
}

Result<TokenizerParts> make_bert_tokenizer(const Entries& e) {
    TokenizerParts parts;
    TRY(Vocabulary vocabulary, Vocabulary::from_list(e.tokens, e.name));
    TRY(parts.model, WordPiece::make(std::move(vocabulary), "[UNK]", "", "▁", 100, e.name));
    TRY(const bool lower, e.flag("normalizer.lowercase", true));
    TRY(const bool accents, e.flag("normalizer.strip_accents", lower));
    parts.normalizer = make_bert_normalizer(true, true, accents, lower);
    parts.pre_tokenizer = make_bert_pre_tokenizer();
    TRY(auto first, e.token("cls_token_id"));
    TRY(auto last, e.token("seperator_token_id"));  // the format's own spelling
    if (first.empty()) {
        TRY(first, e.token("bos_token_id", 101));
    }
    if (last.empty()) {
        TRY(last, e.token("eos_token_id", 102));
    }
    parts.post_processor = surround(std::move(first), std::move(last));
    parts.added = e.added();
    parts.spelling = Spelling::metaspace;
    return parts;
}

struct KindRow {
    const char* name;
    Result<TokenizerParts> (*make)(const Entries&);
};
constexpr KindRow kKinds[] = {{"llama", make_llama},
                              {"gpt2", make_gpt2},
                              {"gemma4", make_gemma4},
                              {"bert", make_bert_tokenizer},
                              {"t5", make_t5}};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> gguf_tokenizer(const Gguf& file, const std::string& name) {
    TRY(const Entries entries, read_entries(file, name));
    const Json& model = entries.value("model");
    if (!model.is_string()) return wrong_type(name, "tokenizer.ggml.model", "a string", model);
    const std::string kind = model.get<std::string>();
    for (const auto& row : kKinds)
        if (kind == row.name) {
            TRY(TokenizerParts parts, row.make(entries));
            return Tokenizer::make(std::move(parts), name);
        }
    return Error{name + ": the tokenizer " + in_quotes(kind) +
                 " is not one that Headlight reads from GGUF; open the model's Hugging Face folder instead."};
}

}  // namespace headlight

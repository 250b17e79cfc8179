// One row per kind of file, in the order in which they are looked for.
#include "tokenizer/files.h"

#include <algorithm>
#include <map>

#include "base/cast.h"
#include "io/mapped_file.h"
#include "tokenizer/bpe.h"
#include "tokenizer/sentence_piece.h"
#include "tokenizer/word_piece.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

/// What the folder says about its tokenizer beside the vocabulary; files and entries that are not there say
/// nothing.
struct Hints {
    std::map<std::string, bool> flags;
    std::string tokenizer_class, model_type;

    bool flag(const char* key, bool fallback) const {
        const auto it = flags.find(key);
        return it == flags.end() ? fallback : it->second;
    }
    bool is_class(std::string_view part) const { return tokenizer_class.find(part) != std::string::npos; }
};

/// A JSON object from a file that may be missing.
Result<Json> read_optional(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return Json(Json::object());
    TRY(Json json, read_json(path));
    if (!json.is_object()) return Error{display_path(path) + " must be an object; correct the file."};
    return json;
}

Result<Hints> read_hints(const fs::path& folder) {
    const JsonKey kFlags[] = {or_null("add_bos_token"), or_null("add_eos_token"), or_null("add_prefix_space"),
                              or_null("strip_accents"), "do_lower_case",          "tokenize_chinese_chars"};
    const std::string name = display_path(folder / "tokenizer_config.json");
    TRY(const Json config, read_optional(folder / "tokenizer_config.json"));
    Hints out;
    for (const JsonKey& key : kFlags) {
        if (!json_find(config, key)) continue;
        TRY(out.flags[key.name], json_boolean(config, key, false, name));
    }
    TRY(out.tokenizer_class, json_string(config, or_null("tokenizer_class"), "", name));
    TRY(const Json model, read_optional(folder / "config.json"));
    TRY(out.model_type, json_string(model, "model_type", "", display_path(folder / "config.json")));
    return out;
}

/// Special tokens by their usual spellings, where the vocabulary has them.
std::vector<AddedToken> usual_specials(const TokenModel& model) {
    constexpr const char* spellings[] = {"<s>",   "</s>",  "<pad>", "<unk>",  "<mask>",       "[CLS]",
                                         "[SEP]", "[PAD]", "[UNK]", "[MASK]", "<|endoftext|>"};
    std::vector<AddedToken> out;
    for (const char* s : spellings)
        if (const int id = model.vocabulary().id_of(s); id >= 0)
            out.push_back(
                {.id = id, .content = s, .lstrip = std::string_view(s) == "<mask>", .special = true});
    return out;
}

std::vector<SpecialToken> specials(const TokenModel& model, std::initializer_list<const char*> spellings) {
    std::vector<SpecialToken> out;
    for (const char* s : spellings)
        if (const int id = model.vocabulary().id_of(s); id >= 0) out.push_back({s, id});
    return out;
}

Result<TokenizerPair> alone(TokenizerParts parts, const std::string& name) {
    TRY(auto tokenizer, Tokenizer::make(std::move(parts), name));
    return TokenizerPair{std::move(tokenizer), nullptr};
}

Result<TokenizerPair> open_json(const fs::path& folder) {
    TRY(const auto file, MappedFile::open(folder / "tokenizer.json"));
    TRY(auto tokenizer, Tokenizer::parse(file->text(), display_path(folder / "tokenizer.json")));
    return TokenizerPair{std::move(tokenizer), nullptr};
}

/// One side of a Marian tokenizer: pieces from the .spm file, ids from vocab.json.
Result<std::shared_ptr<const Tokenizer>> open_marian_side(const fs::path& spm,
                                                          const std::shared_ptr<const Vocabulary>& ids,
                                                          const std::string& vocab_name) {
    const std::string name = display_path(spm);
    TRY(const auto file, MappedFile::open(spm));
    TRY(const SentencePieceFile pieces, parse_sentence_piece(file->text(), name));
    TokenizerParts parts;
    TRY(parts.model, sentence_piece_model(pieces, name));
    parts.normalizer = sentence_piece_normalizer(pieces);
    parts.spelling = Spelling::metaspace;
    parts.ids = ids;
    parts.language_code = true;
    parts.unknown = ids->id_of("<unk>");
    const int end = ids->id_of("</s>");
    if (parts.unknown < 0 || end < 0) return Error{vocab_name + " lacks <unk> or </s>; correct the file."};
    for (int id = 0; id < ids->size(); ++id) {
        const std::string& s = ids->spelling(id);
        if (s == "</s>" || s == "<unk>" || s == "<pad>")
            parts.added.push_back({.id = id, .content = s, .special = true});
    }
    parts.post_processor = surround({}, {{"</s>", end}});
    return Tokenizer::make(std::move(parts), name);
}

Result<TokenizerPair> open_marian(const fs::path& folder) {
    const std::string vocab_name = display_path(folder / "vocab.json");
    TRY(const Json vocab, read_json(folder / "vocab.json"));
    TRY(Vocabulary listed, Vocabulary::from_json(vocab, vocab_name));
    const auto ids = std::make_shared<const Vocabulary>(std::move(listed));
    TokenizerPair pair;
    TRY(pair.source, open_marian_side(folder / "source.spm", ids, vocab_name));
    TRY(pair.target, open_marian_side(folder / "target.spm", ids, vocab_name));
    return pair;
}

Result<TokenizerPair> open_sentence_piece(const fs::path& path, const Hints& hints) {
    const std::string name = display_path(path);
    TRY(const auto file, MappedFile::open(path));
    TRY(const SentencePieceFile pieces, parse_sentence_piece(file->text(), name));
    TokenizerParts parts;
    TRY(parts.model, sentence_piece_model(pieces, name));
    parts.normalizer = sentence_piece_normalizer(pieces);
    parts.spelling = Spelling::metaspace;
    for (int i = 0; i < isize(pieces.pieces); ++i)
        if (pieces.kinds[i] == PieceKind::control || pieces.kinds[i] == PieceKind::unknown)
            parts.added.push_back({.id = i, .content = pieces.pieces[i], .special = true});
    const TokenModel& m = *parts.model;
    if (m.vocabulary().id_of("[CLS]") >= 0)
        parts.post_processor = surround(specials(m, {"[CLS]"}), specials(m, {"[SEP]"}));
    else if (hints.model_type == "t5" || hints.is_class("T5") || path.filename() == "spiece.model")
        parts.post_processor = surround({}, specials(m, {"</s>"}));
    else
        parts.post_processor = surround(
            hints.flag("add_bos_token", true) ? specials(m, {"<s>", "<bos>"}) : std::vector<SpecialToken>{},
            hints.flag("add_eos_token", false) ? specials(m, {"</s>"}) : std::vector<SpecialToken>{});
    return alone(std::move(parts), name);
}

Result<TokenizerPair> open_byte_level(const fs::path& folder, const Hints& hints) {
    TRY(const Json vocab, read_json(folder / "vocab.json"));
    TRY(const auto merges, MappedFile::open(folder / "merges.txt"));
    TokenizerParts parts;
    TRY(parts.model, Bpe::from_files(vocab, merges->text(), display_path(folder / "vocab.json")));
    TRY(parts.pre_tokenizer, make_byte_level(hints.flag("add_prefix_space", false), true));
    parts.added = usual_specials(*parts.model);
    const TokenModel& m = *parts.model;
    const bool around = hints.model_type == "roberta" || hints.model_type == "bart" ||
                        hints.is_class("Roberta") || hints.is_class("Bart");
    const int begin = m.vocabulary().id_of("<s>"), end = m.vocabulary().id_of("</s>");
    if (around && begin >= 0 && end >= 0) {
        const Json description{{"type", "RobertaProcessing"},
                               {"cls", {"<s>", static_cast<unsigned>(begin)}},
                               {"sep", {"</s>", static_cast<unsigned>(end)}}};
        TRY(parts.post_processor, make_post_processor(description, display_path(folder)));
    } else if (hints.model_type == "opt") {
        parts.post_processor = surround(specials(m, {"</s>"}), {});
    }
    return alone(std::move(parts), display_path(folder));
}

Result<TokenizerPair> open_word_piece(const fs::path& folder, const Hints& hints) {
    const std::string name = display_path(folder / "vocab.txt");
    TRY(const auto file, MappedFile::open(folder / "vocab.txt"));
    std::vector<std::string> lines;
    for (std::string_view rest = file->text(); !rest.empty();) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        std::string line(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (!line.empty() && line.back() == '\r') line.pop_back();
        lines.push_back(std::move(line));
    }
    if (lines.empty()) return Error{name + " is empty; download it again."};
    const bool lower = hints.flag("do_lower_case", true);
    TokenizerParts parts;
    TRY(Vocabulary vocabulary, Vocabulary::from_list(std::move(lines), name));
    TRY(parts.model, WordPiece::make(std::move(vocabulary), "[UNK]", "##", "", 100, name));
    parts.normalizer = make_bert_normalizer(true, hints.flag("tokenize_chinese_chars", true),
                                            hints.flag("strip_accents", lower), lower);
    parts.pre_tokenizer = make_bert_pre_tokenizer();
    parts.post_processor = surround(specials(*parts.model, {"[CLS]"}), specials(*parts.model, {"[SEP]"}));
    parts.added = usual_specials(*parts.model);
    parts.spelling = Spelling::word_piece;
    return alone(std::move(parts), name);
}

}  // namespace

Result<TokenizerPair> open_tokenizer_files(const fs::path& folder) {
    std::error_code ignored;
    const auto has = [&](const char* file) { return fs::exists(folder / file, ignored); };
    if (has("tokenizer.json")) return open_json(folder);
    if (has("source.spm") && has("target.spm") && has("vocab.json")) return open_marian(folder);
    TRY(const Hints hints, read_hints(folder));
    for (const char* file : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
        if (has(file)) return open_sentence_piece(folder / file, hints);
    if (has("vocab.json") && has("merges.txt")) return open_byte_level(folder, hints);
    if (has("vocab.txt")) return open_word_piece(folder, hints);
    return Error{display_path(folder) +
                 " has no tokenizer (tokenizer.json, a SentencePiece model, vocab.json with merges.txt, or "
                 "vocab.txt); copy the tokenizer's files into it."};
}

}  // namespace headlight

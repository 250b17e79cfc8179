// Opens the tokenizer of a folder.
#include "tokenizer/files.h"

#include "base/cast.h"
#include "io/mapped_file.h"
#include "tokenizer/class_tokenizer.h"
#include "tokenizer/description.h"
#include "tokenizer/sentence_piece.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

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

/// Opens one side of a Marian tokenizer: pieces from the .spm file, ids from vocab.json.
Result<std::shared_ptr<const Tokenizer>> open_marian_side(const fs::path& spm,
                                                          const std::shared_ptr<const Vocabulary>& ids,
                                                          const TokenizerFolder& folder) {
    const std::string vocab_name = display_path(folder.path / "vocab.json");
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
    for (const AddedToken& t : folder.added)  // ids as listed, unlike the other classes
        if (ids->id_of(t.content) < 0) parts.added.push_back(t);
    parts.post_processor = surround({}, {{"</s>", end}});
    return Tokenizer::make(std::move(parts), name);
}

Result<TokenizerPair> open_marian(const TokenizerFolder& folder) {
    const std::string vocab_name = display_path(folder.path / "vocab.json");
    TRY(const Json vocab, read_json(folder.path / "vocab.json"));
    TRY(Vocabulary listed, Vocabulary::from_json(vocab, vocab_name));
    const auto ids = std::make_shared<const Vocabulary>(std::move(listed));
    TokenizerPair pair;
    TRY(pair.source, open_marian_side(folder.path / "source.spm", ids, folder));
    TRY(pair.target, open_marian_side(folder.path / "target.spm", ids, folder));
    return pair;
}

/// Opens a SentencePiece model without any class: its own ids, special tokens by their spellings.
Result<TokenizerPair> open_sentence_piece(const TokenizerFolder& folder, const char* file_name) {
    const fs::path path = folder.path / file_name;
    const std::string name = display_path(path);
    TRY(const auto file, MappedFile::open(path));
    TRY(const SentencePieceFile pieces, parse_sentence_piece(file->text(), name));
    TokenizerParts parts;
    TRY(parts.model, sentence_piece_model(pieces, name));
    parts.normalizer = sentence_piece_normalizer(pieces);
    parts.spelling = Spelling::metaspace;
    const TokenModel& m = *parts.model;
    AddedVocabulary added(m.vocabulary());
    std::vector<AddedToken> controls;
    for (int i = 0; i < isize(pieces.pieces); ++i)
        if (pieces.kinds[i] == PieceKind::control || pieces.kinds[i] == PieceKind::unknown)
            controls.push_back({.content = pieces.pieces[i], .special = true});
    added.add(controls);
    add_folder_tokens(folder, added);
    parts.added = added.tokens();
    TRY(const bool begin, folder.flag(or_null("add_bos_token"), true));
    TRY(const bool end, folder.flag(or_null("add_eos_token"), false));
    using List = std::vector<SpecialToken>;
    if (m.vocabulary().id_of("[CLS]") >= 0)
        parts.post_processor = surround(specials(m, {"[CLS]"}), specials(m, {"[SEP]"}));
    else if (file_name == std::string_view("spiece.model"))
        parts.post_processor = surround({}, specials(m, {"</s>"}));
    else
        parts.post_processor =
            surround(begin ? specials(m, {"<s>", "<bos>"}) : List{}, end ? specials(m, {"</s>"}) : List{});
    return alone(std::move(parts), name);
}

/// Chooses by the files present, if there is no class.
Result<TokenizerPair> open_by_files(const TokenizerFolder& folder) {
    for (const char* file : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model"})
        if (folder.has(file)) return open_sentence_piece(folder, file);
    const char* name = folder.has("vocab.json") && folder.has("merges.txt") ? "GPT2Tokenizer"
                       : folder.has("vocab.txt")                            ? "BertTokenizer"
                                                                            : nullptr;
    if (!name)
        return Error{
            folder.name() +
            " has no tokenizer (tokenizer.json, a SentencePiece model, vocab.json with merges.txt, or "
            "vocab.txt); copy the tokenizer's files into it."};
    TRY(TokenizerParts parts, class_parts(folder, *tokenizer_class(name)));
    return alone(std::move(parts), folder.name());
}

/// Refuses a class not implemented here: it may split words otherwise, or need another vocabulary.
Error unknown_class(const TokenizerFolder& folder, const std::string& name) {
    const char* why = name == "BertJapaneseTokenizer" ? " (it cuts words with MeCab)" : "";
    return {folder.name() + ": its tokenizer is a " + name + ", which Headlight does not have" + why +
            "; give token ids instead of text."};
}

bool has_type(const Json& described, const TokenizerClass& row) {
    return described.contains("model") && model_type_of(described["model"]) == row.model;
}

/// Opens the folder as the class that AutoTokenizer would choose.
Result<TokenizerPair> open_as(const TokenizerFolder& folder, const std::string& name) {
    const TokenizerClass* row = tokenizer_class(name);
    const bool described = folder.described.is_object();
    if (name == "BertJapaneseTokenizer") return unknown_class(folder, name);
    if (described && (!row || !row->steps || !has_type(folder.described, *row))) {
        TRY(TokenizerParts parts, described_parts(folder));
        return alone(std::move(parts), display_path(folder.path / "tokenizer.json"));
    }
    if (!row) return unknown_class(folder, name);
    if (name == "MarianTokenizer")  // whole ones are opened by their files
        return Error{folder.name() +
                     ": a MarianTokenizer needs source.spm, target.spm and vocab.json; copy those that are "
                     "missing into it."};
    TRY(TokenizerParts parts, class_parts(folder, *row));
    return alone(std::move(parts), folder.name());
}

}  // namespace

Result<TokenizerPair> open_tokenizer_files(const TokenizerFolder& folder) {
    const bool described = folder.has("tokenizer.json");
    if (!described && folder.has("source.spm") && folder.has("target.spm") && folder.has("vocab.json"))
        return open_marian(folder);
    const std::string name = choose_class(folder);
    if (!name.empty() || described) return open_as(folder, name);
    return open_by_files(folder);
}

Result<TokenizerPair> open_tokenizer_files(const fs::path& path) {
    TRY(const TokenizerFolder folder, read_tokenizer_folder(path));
    return open_tokenizer_files(folder);
}

}  // namespace headlight

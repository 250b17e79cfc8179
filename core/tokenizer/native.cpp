// Reads a class's vocabulary from its own files.
#include "tokenizer/native.h"

#include <algorithm>

#include "base/base64.h"
#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "io/mapped_file.h"
#include "tokenizer/description.h"

namespace headlight {

namespace {

/// Splits a file into lines, without line ends.
std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        out.push_back(line);
    }
    return out;
}

Result<Json> read_merges(const std::filesystem::path& path) {
    const std::string name = display_path(path);
    TRY(const auto file, MappedFile::open(path));
    Json merges = Json::array();
    for (const std::string_view line : lines_of(file->text())) {
        if (line.empty() || line.starts_with("#version")) continue;
        const size_t blank = line.find(' ');
        if (blank == std::string_view::npos || line.find(' ', blank + 1) != std::string_view::npos)
            return Error{name + ": the merge " + in_quotes(line) +
                         " is not a pair of tokens; correct the file."};
        merges.push_back({valid_utf8(line.substr(0, blank)), valid_utf8(line.substr(blank + 1))});
    }
    return merges;
}

Result<Native> from_vocabulary_and_merges(const std::filesystem::path& folder) {
    Native out;
    TRY(Json vocab, read_json(folder / "vocab.json"));
    TRY(Json merges, read_merges(folder / "merges.txt"));
    out.model = {{"type", "BPE"}, {"vocab", std::move(vocab)}, {"merges", std::move(merges)}};
    return out;
}

/// Reads one word per line; ignores white space at its end.
Result<Native> from_lines(const std::filesystem::path& path) {
    TRY(const auto file, MappedFile::open(path));
    Json vocab = Json::object();
    int id = 0;
    for (std::string_view line : lines_of(file->text())) {
        std::string word = valid_utf8(line);
        while (!word.empty()) {
            size_t last = word.size() - 1;
            while (last > 0 && (as_byte(word[last]) & 0xC0) == 0x80) --last;
            if (!is_white_space(decode_utf8(word, last).value)) break;
            word.resize(last);
        }
        vocab[word] = id++;
    }
    if (vocab.empty()) return Error{display_path(path) + " is empty; correct the file."};
    Native out;
    out.model = {{"type", "WordPiece"}, {"vocab", std::move(vocab)}};
    return out;
}

struct Split {
    std::string left, right;
    int left_id, right_id;
};

/// Lists a merge for each way to cut a piece in two, by the piece's id, then the length of the left half.
Json merges_of(const Json& vocab) {
    struct Merge {
        int id;
        size_t left_length, right_length;
        Split split;
    };
    std::vector<Merge> all;
    for (const auto& [piece, id] : vocab.items()) {
        std::vector<Merge> mine;
        const size_t length = count_code_points(piece);
        size_t at = 0;
        for (size_t i = 1; i < length; ++i) {
            at += decode_utf8(piece, at).length;
            const auto left = vocab.find(piece.substr(0, at)), right = vocab.find(piece.substr(at));
            if (left == vocab.end() || right == vocab.end()) continue;
            mine.push_back({id.get<int>(),
                            i,
                            length - i,
                            {piece.substr(0, at), piece.substr(at), left->get<int>(), right->get<int>()}});
        }
        std::stable_sort(mine.begin(), mine.end(), [](const Merge& a, const Merge& b) {
            return std::pair(a.split.left_id, a.split.right_id) <
                   std::pair(b.split.left_id, b.split.right_id);
        });
        all.insert(all.end(), mine.begin(), mine.end());
    }
    std::stable_sort(all.begin(), all.end(), [](const Merge& a, const Merge& b) {
        return std::tuple(a.id, a.left_length, a.right_length) <
               std::tuple(b.id, b.left_length, b.right_length);
    });
    Json out = Json::array();
    for (Merge& m : all) out.push_back({std::move(m.split.left), std::move(m.split.right)});
    return out;
}

/// Refuses pieces too long to cut: cuts grow with the square of the length. No real model has such pieces.
Status check_cuts(const SentencePieceFile& file, const std::string& name) {
    constexpr double kMax = 1e9;
    double cuts = 0;
    for (const std::string& piece : file.pieces) {
        TRY_STATUS(check_spelling(piece, name));
        cuts += static_cast<double>(piece.size()) * static_cast<double>(piece.size());
    }
    if (cuts <= kMax) return success();
    return Error{name + ": its pieces are longer than any tokenizer's; use another model."};
}

/// Returns the named token's spelling, or the usual one.
std::string spelled(const TokenizerFolder& folder, const char* key, const char* usual) {
    const auto token = folder.token(key);
    return token ? token->content : usual;
}

/// Puts the special tokens before the pieces, as fairseq does in XLM-R and CamemBERT.
void put_fairseq_first(const TokenizerFolder& folder, std::string_view name, Json& vocab) {
    const std::string pad = spelled(folder, "pad_token", "<pad>"),
                      unknown = spelled(folder, "unk_token", "<unk>");
    const bool camembert = name == "CamembertTokenizer";
    Json out = Json::array();
    const auto put = [&](const std::string& piece, double score) { out.push_back({piece, score}); };
    put(camembert ? "<s>NOTUSED" : spelled(folder, "bos_token", "<s>"), 0);
    put(pad, 0);
    put(camembert ? "</s>NOTUSED" : spelled(folder, "eos_token", "</s>"), 0);
    put(unknown, 0);
    if (camembert) put("<unk>NOTUSED", -100);
    for (size_t i = camembert ? 1 : 3; i < vocab.size(); ++i) out.push_back(std::move(vocab[i]));
    put(spelled(folder, "mask_token", "<mask>"), 0);
    vocab = std::move(out);
}

Status rearrange(const TokenizerFolder& folder, std::string_view name, Json& vocab) {
    if (name == "XLMRobertaTokenizer" || name == "CamembertTokenizer") put_fairseq_first(folder, name, vocab);
    if (name == "T5Tokenizer") {
        TRY(const int64_t extra,
            json_integer(folder.config, "extra_ids", 100, 0, 100'000, folder.config_name()));
        for (int64_t i = extra - 1; i >= 0; --i)
            vocab.push_back({"<extra_id_" + std::to_string(i) + ">", 0.0});
    }
    return success();
}

Result<Native> from_pieces(const TokenizerFolder& folder, const std::filesystem::path& path,
                           const TokenizerClass& row) {
    const std::string name = display_path(path);
    TRY(const auto file, MappedFile::open(path));
    TRY(SentencePieceFile pieces, parse_sentence_piece(file->text(), name));
    TRY_STATUS(check_cuts(pieces, name));
    Native out;
    for (int i = 0; i < isize(pieces.pieces); ++i) {
        const bool control = pieces.kinds[i] == PieceKind::control;
        if (control || pieces.kinds[i] == PieceKind::user_defined)
            out.pieces.push_back({.content = pieces.pieces[i], .special = control});
    }
    if (!pieces.charsmap_bytes.empty()) out.charsmap = to_base64(pieces.charsmap_bytes);
    if (row.model == std::string_view("BPE")) {
        Json vocab = Json::object();
        for (int i = 0; i < isize(pieces.pieces); ++i) vocab[pieces.pieces[i]] = i;
        Json merges = merges_of(vocab);
        out.model = {{"type", "BPE"}, {"vocab", std::move(vocab)}, {"merges", std::move(merges)}};
    } else if (row.model == std::string_view("Unigram")) {
        Json vocab = Json::array();
        for (size_t i = 0; i < pieces.pieces.size(); ++i)
            vocab.push_back({pieces.pieces[i], static_cast<double>(pieces.scores[i])});
        TRY_STATUS(rearrange(folder, row.name, vocab));
        out.model = {{"type", "Unigram"}, {"vocab", std::move(vocab)}};
    }
    out.source = std::move(pieces);
    return out;
}

Json charsmap_of(const Json& normalizer) {
    const bool many = normalizer.is_object() && normalizer.contains("normalizers");
    const Json& steps = many ? normalizer["normalizers"] : normalizer;
    const auto is_map = [](const Json& s) {
        return s.is_object() && s.value("type", Json()) == "Precompiled" &&
               s.contains("precompiled_charsmap") && s["precompiled_charsmap"].is_string();
    };
    if (is_map(steps)) return steps["precompiled_charsmap"];
    if (steps.is_array())
        for (const Json& s : steps)
            if (is_map(s)) return s["precompiled_charsmap"];
    return {};
}

/// Reads the vocabulary of tokenizer.json and the steps that a class keeps; still checks the others.
Result<Native> from_description(const TokenizerFolder& folder, const std::string& type) {
    TRY_STATUS(steps_of(folder.described, display_path(folder.path / "tokenizer.json")));
    Native out;
    const Json& model = folder.described["model"];
    out.model = {{"type", type}};
    for (const char* key : {"vocab", "merges"})
        if (model.contains(key)) out.model[key] = model[key];
    out.charsmap = charsmap_of(folder.described.value("normalizer", Json()));
    out.around = folder.described.value("post_processor", Json());
    return out;
}

}  // namespace

Result<Native> read_native(const TokenizerFolder& folder, const TokenizerClass& row) {
    if (folder.described.is_object()) return from_description(folder, row.model);
    const bool pieces =
        row.model == std::string_view("Unigram") || std::string_view(row.file).ends_with(".model");
    const char* file = pieces && folder.has("tokenizer.model") ? "tokenizer.model" : row.file;
    const bool whole =
        folder.has(file) && (file != std::string_view("vocab.json") || folder.has("merges.txt"));
    if (!whole)
        return Error{folder.name() + " has neither tokenizer.json nor " + file +
                     (file == std::string_view("vocab.json") ? " with merges.txt" : "") +
                     ", where the class " + row.name +
                     " keeps its vocabulary; copy the tokenizer's files into it."};
    if (pieces) return from_pieces(folder, folder.path / file, row);
    return row.model == std::string_view("BPE") ? from_vocabulary_and_merges(folder.path)
                                                : from_lines(folder.path / file);
}

}  // namespace headlight

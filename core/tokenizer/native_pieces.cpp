// Converts SentencePiece models to tokenizer.json's form.
#include <algorithm>
#include <set>

#include "base/base64.h"
#include "base/cast.h"
#include "base/utf8.h"
#include "tokenizer/native.h"
#include "tokenizer/regex.h"

namespace headlight {

namespace {

/// Lists the pieces by id, renamed as in added_tokens_decoder unless another piece has that name.
std::vector<std::string> names_of(const SentencePieceFile& file, const std::vector<AddedToken>& renamed) {
    std::vector<std::string> out = file.pieces;
    std::set<int> ids;
    for (const AddedToken& t : renamed) ids.insert(t.id);
    std::set<std::string> kept;
    for (int i = 0; i < isize(out); ++i)
        if (!ids.contains(i)) kept.insert(out[i]);
    for (const AddedToken& t : renamed)
        if (t.id < isize(out) && !kept.contains(t.content)) out[t.id] = t.content;
    return out;
}

/// Lists every way to cut a normal piece into two others, the piece of highest score first.
Json scored_merges(const SentencePieceFile& file, const std::vector<std::string>& names) {
    std::map<std::string, int> normal;
    for (int i = 0; i < isize(names); ++i)
        if (file.kinds[i] == PieceKind::normal) normal[names[i]] = i;
    std::vector<std::tuple<double, int, std::string, std::string>> ranked;
    for (const auto& [piece, id] : normal)
        for (size_t at = decode_utf8(piece.empty() ? " " : piece, 0).length; at < piece.size();
             at += decode_utf8(piece, at).length) {
            const std::string left = piece.substr(0, at), right = piece.substr(at);
            if (normal.contains(left) && normal.contains(right))
                ranked.emplace_back(-static_cast<double>(file.scores[id]), id, left, right);
        }
    std::sort(ranked.begin(), ranked.end());
    Json out = Json::array();
    for (auto& [score, id, left, right] : ranked) out.push_back({std::move(left), std::move(right)});
    return out;
}

Json replace(const char* kind, const char* pattern, const char* content) {
    return {{"type", "Replace"}, {"pattern", {{kind, pattern}}}, {"content", content}};
}

Json normalizers_of(const SentencePieceFile& file, bool legacy) {
    Json out = Json::array();
    if (!file.charsmap_bytes.empty())
        out.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", to_base64(file.charsmap_bytes)}});
    if (file.join_blanks) {
        out.push_back(replace("Regex", R"(\A +| +\z)", ""));
        out.push_back(replace("Regex", " {2,}", " "));
    }
    if (file.escape_blanks) out.push_back(replace("String", " ", "▁"));
    if (file.add_blank && legacy) out.push_back(replace("Regex", R"(\A▁)", "▁▁"));
    return {{"type", "Sequence"}, {"normalizers", std::move(out)}};
}

/// Builds the pattern of pieces that are never cut or merged, the longest first; empty if there are none.
std::string whole_pattern(const SentencePieceFile& file, const std::vector<std::string>& names) {
    std::vector<std::string> whole;
    for (int i = 0; i < isize(names); ++i)
        if (file.kinds[i] == PieceKind::user_defined && !names[i].empty()) whole.push_back(names[i]);
    std::stable_sort(whole.begin(), whole.end(), [](const auto& a, const auto& b) {
        return count_code_points(a) > count_code_points(b);
    });
    std::string out;
    for (const std::string& w : whole) out += (out.empty() ? "" : "|") + Regex::escaped(w);
    return out;
}

Json model_of(const SentencePieceFile& file, const std::vector<std::string>& names, bool whole) {
    if (file.unigram) {
        Json vocab = Json::array();
        for (size_t i = 0; i < names.size(); ++i)
            vocab.push_back({file.pieces[i], static_cast<double>(file.scores[i])});
        return {{"type", "Unigram"},
                {"vocab", std::move(vocab)},
                {"unk_id", file.unknown_id},
                {"byte_fallback", file.byte_fallback}};
    }
    Json vocab = Json::object();
    for (int i = 0; i < isize(names); ++i) vocab[names[i]] = i;
    return {{"type", "BPE"},
            {"vocab", std::move(vocab)},
            {"merges", scored_merges(file, names)},
            {"unk_token", file.unknown_piece},
            {"fuse_unk", true},
            {"byte_fallback", file.byte_fallback},
            {"ignore_merges", whole}};
}

}  // namespace

Result<Json> sentence_piece_description(const SentencePieceFile& file, const std::vector<AddedToken>& renamed,
                                        bool legacy, const std::string& name) {
    const std::vector<std::string> names = names_of(file, renamed);
    const std::string whole = whole_pattern(file, names);
    if (whole.size() > (1u << 20))
        return Error{name + ": its user-defined pieces take more than 1 MB; use another model."};
    Json steps = Json::array();
    if (file.add_blank)
        steps.push_back({{"type", "Metaspace"},
                         {"replacement", "▁"},
                         {"prepend_scheme", legacy ? "always" : "first"},
                         {"split", false}});
    if (!whole.empty())
        steps.push_back({{"type", "Split"},
                         {"pattern", {{"Regex", whole}}},
                         {"behavior", "Isolated"},
                         {"invert", false}});
    return Json{{"model", model_of(file, names, !whole.empty())},
                {"normalizer", normalizers_of(file, legacy)},
                {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}}}};
}

}  // namespace headlight

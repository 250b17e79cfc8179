// Merges the pair of lowest rank first, leftmost among equal ranks; a heap makes it O(n log n).
#include "tokenizer/bpe.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>

#include "base/cast.h"
#include "base/quoted.h"
#include "base/utf8.h"

namespace headlight {

namespace {
uint64_t pair_key(int left, int right) {
    return (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right);
}
}  // namespace

Bpe::Bpe(Vocabulary vocabulary, BpeOptions options)
    : TokenModel(std::move(vocabulary)), options_(std::move(options)) {
    if (options_.byte_fallback) byte_ids_ = vocabulary_.byte_tokens();
}

/// The later of two listings of a merge counts.
Status Bpe::add_merge(std::string_view left, std::string_view right, const std::string& name) {
    const std::string tail(right.starts_with(options_.prefix) ? right.substr(options_.prefix.size()) : right);
    const int a = vocabulary_.id_of(left), b = vocabulary_.id_of(right),
              joined = vocabulary_.id_of(std::string(left) + tail);
    if (a < 0 || b < 0 || joined < 0)
        return Error{name + ": the merge " + in_quotes(left) + " + " + in_quotes(right) +
                     " names a token that is not in the vocabulary; correct the file."};
    merges_[pair_key(a, b)] = Merge{float(merge_count_++), joined};
    return success();
}

/// Reads "left right", or ["left", "right"].
Status Bpe::add_merges(const Json& merges, const std::string& name) {
    for (const Json& m : merges) {
        if (m.is_string()) {
            const auto& text = m.get_ref<const std::string&>();
            const size_t blank = text.find(' ');
            if (blank == std::string::npos)
                return Error{name + ": the merge " + in_quotes(text) + " has no blank; correct the file."};
            TRY_STATUS(add_merge(std::string_view(text).substr(0, blank),
                                 std::string_view(text).substr(blank + 1), name));
        } else if (m.is_array() && m.size() == 2 && m[0].is_string() && m[1].is_string()) {
            TRY_STATUS(
                add_merge(m[0].get_ref<const std::string&>(), m[1].get_ref<const std::string&>(), name));
        } else {
            return Error{name + ": a merge is not a pair of tokens; correct the file."};
        }
    }
    return success();
}

Result<std::shared_ptr<const TokenModel>> Bpe::from_merges(Vocabulary vocabulary,
                                                           const std::vector<std::string>& merges,
                                                           BpeOptions options, const std::string& name) {
    auto bpe = std::shared_ptr<Bpe>(new Bpe(std::move(vocabulary), std::move(options)));
    for (const std::string& line : merges) {
        const size_t blank = line.find(' ', 1);
        if (blank == std::string::npos)
            return Error{name + ": the merge " + in_quotes(line) + " has no blank; correct the file."};
        TRY_STATUS(bpe->add_merge(std::string_view(line).substr(0, blank),
                                  std::string_view(line).substr(blank + 1), name));
    }
    return std::shared_ptr<const TokenModel>(std::move(bpe));
}

Result<std::shared_ptr<const TokenModel>> Bpe::from_json(const Json& model, const std::string& name) {
    const auto vocab = model.find("vocab"), merges = model.find("merges");
    if (vocab == model.end()) return Error{name + " has no vocabulary; correct the file."};
    TRY(Vocabulary vocabulary, Vocabulary::from_json(*vocab, name));
    BpeOptions options;
    TRY(options.ignore_merges, json_boolean(model, "ignore_merges", false, name));
    TRY(options.byte_fallback, json_boolean(model, "byte_fallback", false, name));
    TRY(options.fuse_unknown, json_boolean(model, "fuse_unk", false, name));
    TRY(options.prefix, json_spelling(model, or_null("continuing_subword_prefix"), "", name));
    TRY(options.suffix, json_spelling(model, or_null("end_of_word_suffix"), "", name));
    TRY(const std::string unknown, json_string(model, or_null("unk_token"), "", name));
    if (!unknown.empty()) options.unknown = vocabulary.id_of(unknown);
    if (!unknown.empty() && options.unknown < 0) options.unknown = kNoToken;
    if (merges == model.end() || !merges->is_array())
        return Error{name + " has no merges; correct the file."};
    auto bpe = std::shared_ptr<Bpe>(new Bpe(std::move(vocabulary), std::move(options)));
    TRY_STATUS(bpe->add_merges(*merges, name));
    return std::shared_ptr<const TokenModel>(std::move(bpe));
}

std::shared_ptr<const TokenModel> Bpe::from_scores(Vocabulary vocabulary, std::vector<float> scores,
                                                   const std::vector<int>& whole, BpeOptions options) {
    auto bpe = std::shared_ptr<Bpe>(new Bpe(std::move(vocabulary), std::move(options)));
    bpe->scores_ = std::move(scores);
    for (const int id : whole) bpe->whole_.add(bpe->vocabulary_.spelling(id), id);
    return bpe;
}

int Bpe::id_in_text(std::string_view spelling) const {
    const int id = vocabulary_.id_of(spelling);
    return id >= 0 && !scores_.empty() && (id >= isize(scores_) || std::isnan(scores_[id])) ? -1 : id;
}

/// Returns the token of a character, with the vocabulary's prefix or suffix for its place.
int Bpe::id_of_character(std::string_view word, size_t at, size_t length) const {
    const std::string_view character = word.substr(at, length);
    const bool prefixed = at > 0 && !options_.prefix.empty(),
               suffixed = at + length == word.size() && !options_.suffix.empty();
    if (!prefixed && !suffixed) return vocabulary_.id_of(character);
    return vocabulary_.id_of((prefixed ? options_.prefix : "") + std::string(character) +
                             (suffixed ? options_.suffix : ""));
}

/// Replaces a character by the tokens of its bytes, if the vocabulary has them all.
bool Bpe::falls_back(std::string_view character, std::vector<Symbol>& symbols, size_t at) const {
    const auto missing = [&](char c) { return byte_ids_[as_byte(c)] < 0; };
    if (byte_ids_.empty() || std::any_of(character.begin(), character.end(), missing)) return false;
    for (size_t i = 0; i < character.size(); ++i)
        symbols.push_back({byte_ids_[as_byte(character[i])], 0, 0, at + i, at + i + 1});
    return true;
}

/// Splits into characters; those that the vocabulary lacks get no id, but may still merge.
std::vector<Bpe::Symbol> Bpe::split_by_scores(std::string_view word) const {
    std::vector<Symbol> symbols;
    for (size_t at = 0; at < word.size(); at = symbols.back().end) {
        const auto* whole = whole_.longest(word.substr(at));
        const size_t length = whole ? whole->first.size() : decode_utf8(word, at).length;
        const int id = whole ? vocabulary_.id_of(whole->first) : id_in_text(word.substr(at, length));
        symbols.push_back({id, 0, 0, at, at + length, whole != nullptr});
    }
    return symbols;
}

/// Splits into tokens of characters before merging: an unknown character becomes its bytes, else the unknown
/// token, else nothing, so that its neighbors become adjacent. Defers an unknown token until the next known
/// one, as Hugging Face does.
std::vector<Bpe::Symbol> Bpe::split_by_merges(std::string_view word) const {
    std::vector<Symbol> symbols;
    std::optional<Symbol> unknown;
    const auto put_unknown = [&] {
        if (unknown) symbols.push_back(*unknown);
        unknown.reset();
    };
    for (size_t at = 0, length; at < word.size(); at += length) {
        length = decode_utf8(word, at).length;
        if (const int id = id_of_character(word, at, length); id >= 0) {
            put_unknown();
            symbols.push_back({id, 0, 0, at, at + length});
        } else if (falls_back(word.substr(at, length), symbols, at) || options_.unknown == -1) {
            continue;
        } else if (unknown && options_.fuse_unknown) {
            unknown->end = at + length;
        } else {
            put_unknown();
            unknown = Symbol{options_.unknown, 0, 0, at, at + length};
        }
    }
    put_unknown();
    return symbols;
}

std::vector<Bpe::Symbol> Bpe::split(std::string_view word) const {
    std::vector<Symbol> symbols = scores_.empty() ? split_by_merges(word) : split_by_scores(word);
    for (int i = 0; i < isize(symbols); ++i) {
        symbols[i].previous = i - 1;
        symbols[i].next = i + 1 < isize(symbols) ? i + 1 : -1;
    }
    return symbols;
}

bool Bpe::find_merge(std::string_view word, const Symbol& left, const Symbol& right, Merge& merge) const {
    if (scores_.empty()) {
        const auto it = merges_.find(pair_key(left.id, right.id));
        if (it == merges_.end()) return false;
        merge = it->second;
        return true;
    }
    if (left.fixed || right.fixed) return false;
    const int id = id_in_text(word.substr(left.begin, right.end - left.begin));
    if (id < 0) return false;
    merge = {-scores_[id], id};
    return true;
}

/// Turns symbols into tokens; those without a token become bytes or the unknown token.
std::vector<ModelToken> Bpe::name_unknown(std::string_view word, const std::vector<Symbol>& symbols) const {
    std::vector<ModelToken> out;
    bool after_unknown = false;
    for (int i = symbols.empty() ? -1 : 0; i >= 0; i = symbols[i].next) {
        const Symbol& s = symbols[i];
        const bool unknown = s.id == -1;
        if (!unknown) {
            out.push_back({s.id, s.begin, s.end});
        } else if (std::vector<Symbol> bytes;
                   falls_back(word.substr(s.begin, s.end - s.begin), bytes, s.begin)) {
            for (const Symbol& b : bytes) out.push_back({b.id, b.begin, b.end});
        } else if (options_.unknown != -1) {
            if (after_unknown && options_.fuse_unknown)
                out.back().end = s.end;
            else
                out.push_back({options_.unknown, s.begin, s.end});
        }
        after_unknown = unknown;
    }
    return out;
}

std::vector<ModelToken> Bpe::encode(std::string_view word) const {
    if (options_.ignore_merges)
        if (const int whole = vocabulary_.id_of(word); whole >= 0) return {{whole, 0, word.size()}};
    std::vector<Symbol> symbols = split(word);

    struct Candidate {
        Merge merge;
        int at;
        size_t end;  // end of the pair; another end marks an outdated candidate
        bool operator>(const Candidate& o) const {
            return merge.rank != o.merge.rank ? merge.rank > o.merge.rank : at > o.at;
        }
    };
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
    const auto consider = [&](int at) {
        if (at < 0 || symbols[at].next < 0) return;
        const Symbol &left = symbols[at], &right = symbols[left.next];
        Merge merge{};
        if (find_merge(word, left, right, merge)) queue.push({merge, at, right.end});
    };
    for (int i = 0; i < isize(symbols); ++i) consider(i);
    while (!queue.empty()) {
        const Candidate c = queue.top();
        queue.pop();
        Symbol& left = symbols[c.at];
        // outdated candidate
        if (left.end == 0 || left.next < 0 || symbols[left.next].end != c.end) continue;
        Symbol& right = symbols[left.next];
        left.id = c.merge.id;
        left.end = right.end;
        right.end = 0;
        left.next = right.next;
        if (left.next >= 0) symbols[left.next].previous = c.at;
        consider(left.previous);
        consider(c.at);
    }
    return name_unknown(word, symbols);
}

}  // namespace headlight

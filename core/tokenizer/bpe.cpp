// The pair of lowest rank is merged first, leftmost where ranks are equal; a heap keeps that O(n log n) for any word.
#include "tokenizer/bpe.h"

#include <queue>

#include "tokenizer/byte_level.h"

namespace headlight {

namespace {

constexpr int64_t kMaxId = 10'000'000;

uint64_t pair_key(int left, int right) { return (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32) | static_cast<uint32_t>(right); }

std::string in_quotes(const std::string& text) { return "\"" + text.substr(0, 40) + "\""; }

}  // namespace

Status Bpe::read_vocab(const Json& vocab, const std::string& name) {
    if (!vocab.is_object() || vocab.empty()) return Error{name + " has no vocabulary; download it again."};
    for (const auto& [token, id] : vocab.items()) {
        if (!id.is_number_integer() || id.get<int64_t>() < 0 || id.get<int64_t>() >= kMaxId)
            return Error{name + ": token " + in_quotes(token) + " has the id " + id.dump().substr(0, 30) + ", which no vocabulary reaches; download it again."};
        const int number = id.get<int>();
        ids_[token] = number;
        size_ = std::max(size_, number + 1);
    }
    if (static_cast<size_t>(size_) > 16 * vocab.size() + 65536)
        return Error{name + ": token ids reach " + std::to_string(size_ - 1) + " with only " + std::to_string(vocab.size()) + " tokens; download it again."};
    spellings_.resize(static_cast<size_t>(size_));
    for (const auto& [token, id] : ids_) {
        spellings_[static_cast<size_t>(id)] = token;
        const auto bytes = bytes_of_printable(token);
        if (bytes && bytes->size() == 1) byte_ids_[static_cast<unsigned char>((*bytes)[0])] = id;
    }
    return success();
}

Status Bpe::add_merge(const std::string& left, const std::string& right, const std::string& name) {
    const int a = id_of(left), b = id_of(right), joined = id_of(left + right);
    if (a < 0 || b < 0 || joined < 0)
        return Error{name + ": the merge " + in_quotes(left) + " + " + in_quotes(right) + " names a token that is not in the vocabulary; download it again."};
    merges_.try_emplace(pair_key(a, b), Merge{static_cast<int>(merges_.size()), joined});
    return success();
}

Result<Bpe> Bpe::from_json(const Json& model, const std::string& name) {
    Bpe bpe;
    const auto vocab = model.find("vocab"), merges = model.find("merges");
    if (vocab == model.end()) return Error{name + " has no vocabulary; download it again."};
    TRY_STATUS(bpe.read_vocab(*vocab, name));
    if (merges == model.end() || !merges->is_array()) return Error{name + " has no merges; download it again."};
    for (const Json& m : *merges) {
        if (m.is_string()) {
            const auto text = m.get<std::string>();
            const size_t blank = text.find(' ');
            if (blank == std::string::npos) return Error{name + ": the merge " + in_quotes(text) + " has no blank; download it again."};
            TRY_STATUS(bpe.add_merge(text.substr(0, blank), text.substr(blank + 1), name));
        } else if (m.is_array() && m.size() == 2 && m[0].is_string() && m[1].is_string()) {
            TRY_STATUS(bpe.add_merge(m[0].get<std::string>(), m[1].get<std::string>(), name));
        } else {
            return Error{name + ": a merge is no pair of tokens; download it again."};
        }
    }
    TRY(bpe.ignore_merges_, json_boolean(model, "ignore_merges", false, name));
    if (bpe.ignore_merges_)
        for (const auto& [token, id] : bpe.ids_)
            if (const auto bytes = bytes_of_printable(token)) bpe.words_[*bytes] = id;
    return bpe;
}

Result<Bpe> Bpe::from_files(const Json& vocab, std::string_view merges, const std::string& name) {
    Bpe bpe;
    TRY_STATUS(bpe.read_vocab(vocab, name));
    for (size_t at = 0; at < merges.size();) {
        size_t end = merges.find('\n', at);
        if (end == std::string_view::npos) end = merges.size();
        std::string line(merges.substr(at, end - at));
        at = end + 1;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.empty() || line.starts_with("#version")) continue;
        const size_t blank = line.find(' ');
        if (blank == std::string::npos) return Error{name + ": the merge " + in_quotes(line) + " has no blank; download merges.txt again."};
        TRY_STATUS(bpe.add_merge(line.substr(0, blank), line.substr(blank + 1), name));
    }
    return bpe;
}

const std::string& Bpe::spelling(int id) const {
    static const std::string none;
    return id >= 0 && id < size_ ? spellings_[static_cast<size_t>(id)] : none;
}

int Bpe::id_of(const std::string& spelling) const {
    const auto it = ids_.find(spelling);
    return it == ids_.end() ? -1 : it->second;
}

std::vector<BpeToken> Bpe::encode(std::string_view word) const {
    if (ignore_merges_)
        if (const auto whole = words_.find(std::string(word)); whole != words_.end()) return {{whole->second, 0, word.size()}};

    struct Symbol {
        int id, previous, next;
        size_t begin, end;
    };
    std::vector<Symbol> symbols;
    for (size_t i = 0; i < word.size(); ++i) {
        const int id = byte_ids_[static_cast<unsigned char>(word[i])];
        if (id < 0) continue;
        const int here = static_cast<int>(symbols.size());
        symbols.push_back({id, here - 1, here + 1, i, i + 1});
    }
    if (symbols.empty()) return {};
    symbols.back().next = -1;

    struct Candidate {
        int rank, at, id, left, right;
        bool operator>(const Candidate& o) const { return rank != o.rank ? rank > o.rank : at > o.at; }
    };
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
    const auto consider = [&](int at) {
        if (at < 0 || symbols[static_cast<size_t>(at)].next < 0) return;
        const int left = symbols[static_cast<size_t>(at)].id, right = symbols[static_cast<size_t>(symbols[static_cast<size_t>(at)].next)].id;
        if (const auto m = merges_.find(pair_key(left, right)); m != merges_.end()) queue.push({m->second.rank, at, m->second.id, left, right});
    };
    for (int i = 0; i < static_cast<int>(symbols.size()); ++i) consider(i);
    while (!queue.empty()) {
        const Candidate c = queue.top();
        queue.pop();
        Symbol& left = symbols[static_cast<size_t>(c.at)];
        if (left.id != c.left || left.next < 0 || symbols[static_cast<size_t>(left.next)].id != c.right) continue;  // an older offer
        Symbol& right = symbols[static_cast<size_t>(left.next)];
        left.id = c.id;
        left.end = right.end;
        right.id = -1;
        left.next = right.next;
        if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = c.at;
        consider(left.previous);
        consider(c.at);
    }
    std::vector<BpeToken> out;
    for (int i = 0; i >= 0; i = symbols[static_cast<size_t>(i)].next) out.push_back({symbols[static_cast<size_t>(i)].id, symbols[static_cast<size_t>(i)].begin, symbols[static_cast<size_t>(i)].end});
    return out;
}

}  // namespace headlight

// Parses SentencePiece models. Wire format: https://protobuf.dev/programming-guides/encoding; field numbers:
// sentencepiece_model.proto.
#include "tokenizer/sentence_piece.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <variant>

#include "base/cast.h"
#include "base/utf8.h"
#include "tokenizer/bpe.h"
#include "tokenizer/prefix_table.h"
#include "tokenizer/unigram.h"

namespace headlight {

namespace {

constexpr size_t kMaxPieces = 4'000'000;

/// Holds one field of a message: a number, or bytes.
struct Field {
    uint32_t number = 0;
    uint64_t value = 0;  // varint, or the bits of a fixed-size number
    std::string_view bytes;
};

class ProtobufReader {
public:
    explicit ProtobufReader(std::string_view data) : rest_(data) {}
    bool done() const { return rest_.empty(); }

    /// Reads the next field; returns false if the bytes are malformed.
    bool next(Field& f) {
        uint64_t tag = 0;
        if (!varint(tag)) return false;
        f = {static_cast<uint32_t>(tag >> 3), 0, {}};
        switch (tag & 7) {
            case 0:
                return varint(f.value);
            case 1:
                return fixed(f.value, 8);
            case 5:
                return fixed(f.value, 4);
            case 2: {
                uint64_t size = 0;
                if (!varint(size) || size > rest_.size()) return false;
                f.bytes = rest_.substr(0, size);
                rest_.remove_prefix(size);
                return true;
            }
            default:
                return false;
        }
    }

private:
    bool varint(uint64_t& out) {
        out = 0;
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = as_byte(rest_[0]);
            rest_.remove_prefix(1);
            out |= static_cast<uint64_t>(byte & 0x7F) << shift;
            if (!(byte & 0x80)) return true;
        }
        return false;
    }
    bool fixed(uint64_t& out, size_t size) {
        if (rest_.size() < size) return false;
        std::memcpy(&out, rest_.data(), size);
        rest_.remove_prefix(size);
        return true;
    }
    std::string_view rest_;
};

float as_float(uint64_t bits) {
    const auto low = static_cast<uint32_t>(bits);
    float out;
    std::memcpy(&out, &low, 4);
    return out;
}

/// Calls use(field) for each field of a message.
bool read_message(std::string_view bytes, const std::function<bool(const Field&)>& use) {
    ProtobufReader reader(bytes);
    for (Field f; !reader.done();)
        if (!reader.next(f) || !use(f)) return false;
    return true;
}

bool read_piece(std::string_view bytes, SentencePieceFile& out) {
    std::string piece;
    float score = 0;
    uint64_t kind = 1;
    const bool good = read_message(bytes, [&](const Field& f) {
        if (f.number == 1) piece = valid_utf8(f.bytes);
        if (f.number == 2) score = as_float(f.value);
        if (f.number == 3) kind = f.value;
        return true;
    });
    if (!good || kind < 1 || kind > 6 || out.pieces.size() >= kMaxPieces) return false;
    out.pieces.push_back(std::move(piece));
    out.scores.push_back(score);
    out.kinds.push_back(static_cast<PieceKind>(kind));
    return true;
}

}  // namespace

int SentencePieceFile::id_of(PieceKind kind) const {
    const auto it = std::find(kinds.begin(), kinds.end(), kind);
    return it == kinds.end() ? -1 : narrow<int>(it - kinds.begin());
}

Result<SentencePieceFile> parse_sentence_piece(std::string_view bytes, const std::string& name) {
    SentencePieceFile out;
    uint64_t kind = 1;
    const auto trainer = [&](const Field& f) {
        if (f.number == 3) kind = f.value;
        if (f.number == 35) out.byte_fallback = f.value != 0;
        if (f.number == 40) out.unknown_id = static_cast<int>(f.value);
        if (f.number == 41) out.begin_id = static_cast<int>(f.value);
        if (f.number == 42) out.end_id = static_cast<int>(f.value);
        if (f.number == 45) out.unknown_piece = valid_utf8(f.bytes);
        if (f.number == 46) out.begin_piece = valid_utf8(f.bytes);
        if (f.number == 47) out.end_piece = valid_utf8(f.bytes);
        return true;
    };
    const auto normalizer = [&](const Field& f) {
        if (f.number == 2) out.charsmap_bytes = f.bytes;
        if (f.number == 3) out.add_blank = f.value != 0;
        if (f.number == 4) out.join_blanks = f.value != 0;
        if (f.number == 5) out.escape_blanks = f.value != 0;
        return true;
    };
    const bool good = read_message(bytes, [&](const Field& f) {
        if (f.number == 1) return read_piece(f.bytes, out);
        if (f.number == 2) return read_message(f.bytes, trainer);
        if (f.number == 3) return read_message(f.bytes, normalizer);
        return true;
    });
    if (!good || out.pieces.empty())
        return Error{name + " is not a SentencePiece model, or is damaged; download it again."};
    if (kind != 1 && kind != 2)
        return Error{name +
                     " holds a SentencePiece model of words or characters; Headlight reads Unigram and BPE, "
                     "so use another model."};
    out.unigram = kind == 1;
    if (out.charsmap_bytes.empty()) return out;
    TRY(Charsmap map, Charsmap::parse(out.charsmap_bytes, name));
    out.charsmap = std::make_shared<const Charsmap>(std::move(map));
    return out;
}

namespace {

/// Spelled as the file's table says, but for pieces that are taken whole.
struct Mapping {
    std::shared_ptr<const Charsmap> charsmap;
    std::shared_ptr<const PrefixTable<std::monostate>> whole;

    /// Appends what stands at a place; returns how many bytes that were.
    size_t append(const AlignedText& text, size_t at, AlignedText& out) const {
        const std::string_view rest = std::string_view(text.bytes).substr(at);
        if (const auto* found = whole->longest(rest)) {
            out.append(text.slice(at, at + found->first.size()));
            return found->first.size();
        }
        const auto m = charsmap ? charsmap->longest(rest) : std::nullopt;
        const size_t length = m ? m->length : decode_utf8(text.bytes, at).length;
        if (!m) {
            out.append(text.slice(at, at + length));
        } else {
            out.bytes += m->replacement;
            out.origin.resize(out.bytes.size(), text.covered(at, at + length));
        }
        return length;
    }
};

/// Without blanks at both ends, and with one between words.
AlignedText without_extra_blanks(const AlignedText& text) {
    const size_t end = text.bytes.find_last_not_of(' ') + 1;
    AlignedText out;
    for (size_t i = 0; i < end; ++i) {
        if (text.bytes[i] == ' ' && (out.bytes.empty() || out.bytes.back() == ' ')) continue;
        out.bytes += text.bytes[i];
        out.origin.push_back(text.origin[i]);
    }
    return out;
}

AlignedText with_escaped_blanks(const AlignedText& text) {
    AlignedText out;
    for (size_t i = 0; i < text.bytes.size(); ++i) {
        if (text.bytes[i] == ' ')
            out.bytes += kMetaspace;
        else
            out.bytes += text.bytes[i];
        out.origin.resize(out.bytes.size(), text.origin[i]);
    }
    return out;
}

}  // namespace

Normalizer sentence_piece_normalizer(const SentencePieceFile& file) {
    auto whole = std::make_shared<PrefixTable<std::monostate>>();
    for (size_t i = 0; i < file.pieces.size(); ++i)
        if (file.kinds[i] == PieceKind::user_defined) whole->add(file.pieces[i], {});
    return [mapping = Mapping{file.charsmap, std::move(whole)}, join = file.join_blanks, add = file.add_blank,
            escape = file.escape_blanks](const AlignedText& text, size_t max) -> Result<AlignedText> {
        AlignedText out;
        for (size_t at = 0; at < text.bytes.size() && out.bytes.size() <= max;)
            at += mapping.append(text, at, out);
        if (out.bytes.size() > max) return normalized_too_long();
        if (join) out = without_extra_blanks(out);
        if (out.bytes.empty()) return out;
        if (add) out.prepend(" ");
        if (escape) out = with_escaped_blanks(out);
        if (out.bytes.size() > max) return normalized_too_long();
        return out;
    };
}

Result<std::shared_ptr<const TokenModel>> sentence_piece_model(const SentencePieceFile& file,
                                                               const std::string& name) {
    const int unknown = file.id_of(PieceKind::unknown);
    TRY(Vocabulary vocabulary, Vocabulary::from_list(file.pieces, name));
    if (!file.unigram) {
        std::vector<float> scores = file.scores;
        std::vector<int> whole;
        for (int i = 0; i < isize(file.kinds); ++i)
            if (file.kinds[i] == PieceKind::user_defined) whole.push_back(i);
        BpeOptions options;
        options.byte_fallback = file.byte_fallback;
        options.unknown = unknown;
        options.fuse_unknown = true;
        for (size_t i = 0; i < scores.size(); ++i)
            if (file.kinds[i] != PieceKind::normal && file.kinds[i] != PieceKind::user_defined &&
                file.kinds[i] != PieceKind::unused)
                scores[i] = std::numeric_limits<float>::quiet_NaN();
        return Bpe::from_scores(std::move(vocabulary), std::move(scores), whole, options);
    }
    std::vector<double> scores(file.scores.begin(), file.scores.end());
    std::vector<bool> left_out(scores.size());
    float highest = 0;
    for (size_t i = 0; i < scores.size(); ++i)
        if (file.kinds[i] == PieceKind::normal) highest = std::max(highest, file.scores[i]);
    for (size_t i = 0; i < scores.size(); ++i) {
        left_out[i] = file.kinds[i] != PieceKind::normal && file.kinds[i] != PieceKind::user_defined;
        if (file.kinds[i] == PieceKind::user_defined)
            scores[i] = double(file.pieces[i].size()) * highest - 0.1;
    }
    return Unigram::make(std::move(vocabulary), std::move(scores), left_out, unknown, file.byte_fallback,
                         name);
}

}  // namespace headlight

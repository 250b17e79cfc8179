// Maps printable Latin-1 bytes to themselves and the other 68 to the characters from U+0100 on, in order.
#include "tokenizer/byte_level.h"

#include <array>

#include "base/cast.h"
#include "base/utf8.h"

namespace headlight {

namespace {

struct Table {
    std::array<char32_t, 256> character{};
    std::array<int, 0x144> byte{};

    Table() {
        byte.fill(-1);
        char32_t spare = 0x100;
        for (int b = 0; b < 256; ++b) {
            const bool printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE);
            const char32_t c = printable ? static_cast<char32_t>(b) : spare++;
            character[b] = c;
            byte[c] = b;
        }
    }
};

const Table& table() {
    static const Table instance;
    return instance;
}

}  // namespace

Result<std::string> bytes_of_printable(std::string_view printable) {
    std::string out;
    for (size_t at = 0; at < printable.size();) {
        const CodePoint c = decode_utf8(printable, at);
        at += c.length;
        if (c.value >= table().byte.size() || table().byte[c.value] < 0)
            return Error{"a token holds a character that stands for no byte"};
        out += static_cast<char>(table().byte[c.value]);
    }
    return out;
}

std::string printable_of_bytes(std::string_view bytes) {
    std::string out;
    for (const char b : bytes) append_utf8(out, table().character[as_byte(b)]);
    return out;
}

AlignedText in_printable(const AlignedText& text) {
    AlignedText out;
    out.bytes.reserve(2 * text.bytes.size());
    out.origin.reserve(2 * text.bytes.size());
    for (size_t i = 0; i < text.bytes.size(); ++i) {
        append_utf8(out.bytes, table().character[as_byte(text.bytes[i])]);
        out.origin.resize(out.bytes.size(), text.origin[i]);
    }
    return out;
}

}  // namespace headlight

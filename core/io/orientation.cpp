// Reads orientation as Pillow (Image.getexif, JpegImagePlugin.APP, ImageOps.exif_transpose), if well formed.
#include "io/orientation.h"

#include <algorithm>
#include <cstdint>

namespace headlight {

namespace {

constexpr int kOrientationTag = 0x0112;
constexpr std::string_view kExif("Exif\0\0", 6), kXmp("http://ns.adobe.com/xap/1.0/\0", 29);

/// Reads integers of a TIFF file; 0 beyond its end.
struct TiffBytes {
    std::string_view bytes;
    bool big_endian = false;

    uint32_t number(size_t at, size_t size) const {
        uint32_t out = 0;
        if (at > bytes.size() || size > bytes.size() - at) return 0;
        for (size_t i = 0; i < size; ++i)
            out = out << 8 | static_cast<uint8_t>(bytes[at + (big_endian ? i : size - 1 - i)]);
        return out;
    }
};

uint8_t byte_at(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

}  // namespace

std::optional<int> exif_orientation(std::string_view bytes) {
    for (int i = 0; i < 2 && bytes.starts_with(kExif); ++i) bytes.remove_prefix(kExif.size());
    const bool big_endian = bytes.starts_with("MM");
    if (!big_endian && !bytes.starts_with("II")) return {};
    const TiffBytes tiff{bytes, big_endian};
    if (tiff.number(2, 2) != 42) return {};
    const size_t directory = tiff.number(4, 4), entries = tiff.number(directory, 2);
    for (size_t i = 0; i < entries; ++i) {
        const size_t at = directory + 2 + 12 * i;
        if (at + 12 > bytes.size()) return {};
        if (tiff.number(at, 2) != kOrientationTag) continue;
        const uint32_t type = tiff.number(at + 2, 2);
        const bool is_short = type == 3 || type == 8, is_long = type == 4 || type == 9;
        if (tiff.number(at + 4, 4) != 1 || (!is_short && !is_long)) return {};
        return static_cast<int>(tiff.number(at + 8, is_short ? 2 : 4) & 0xFFFF);
    }
    return {};
}

std::optional<int> xmp_orientation(std::string_view packet) {
    constexpr std::string_view name = "tiff:Orientation";
    for (size_t at = packet.find(name); at != packet.npos; at = packet.find(name, at + 1)) {
        std::string_view rest = packet.substr(at + name.size());
        const size_t quote = rest.starts_with("=\"") ? 2 : rest.starts_with(">") ? 1 : 0;
        if (quote && rest.size() > quote && rest[quote] >= '0' && rest[quote] <= '9')
            return rest[quote] - '0';
    }
    return {};
}

int jpeg_orientation(std::string_view file) {
    std::string exif, xmp;
    for (size_t at = 2; at + 4 <= file.size() && byte_at(file, at) == 0xFF;) {
        const int marker = byte_at(file, at + 1);
        if (marker == 0xFF) {  // fill byte
            ++at;
            continue;
        }
        const size_t size = byte_at(file, at + 2) * 256u + byte_at(file, at + 3);
        if (marker == 0xDA || size < 2 || size - 2 > file.size() - at - 4) break;  // start of the image data
        const std::string_view segment = file.substr(at + 4, size - 2);
        if (marker == 0xE1 && segment.starts_with(kExif)) exif += segment.substr(kExif.size());
        if (marker == 0xE1 && segment.starts_with(kXmp)) xmp = segment.substr(kXmp.size());
        at += 2 + size;
    }
    if (const auto said = exif_orientation(exif)) return *said;
    return xmp_orientation(xmp).value_or(1);
}

std::string bytes_of_raw_profile(std::string_view text) {
    for (int line = 0; line < 3; ++line) {  // skips a blank line, the name, the length
        const size_t end = text.find('\n');
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    std::string out;
    int high = -1;
    for (const char c : text) {
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) continue;
        if (high >= 0) out += static_cast<char>(high * 16 + digit);
        high = high >= 0 ? -1 : digit;
    }
    return out;
}

RgbImage upright(RgbImage image, int orientation) {
    if (orientation < 2 || orientation > 8) return image;
    const int o = orientation, w = image.width, h = image.height;
    const bool sideways = o >= 5;
    RgbImage out{sideways ? h : w, sideways ? w : h, std::vector<uint8_t>(image.rgb.size())};
    const uint8_t* from = image.rgb.data();
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x, from += 3) {
            const int across = o == 2 || o == 3 ? w - 1 - x : o == 6 || o == 7 ? h - 1 - y : sideways ? y : x;
            const int down = o == 3 || o == 4 ? h - 1 - y : o == 7 || o == 8 ? w - 1 - x : sideways ? x : y;
            std::copy_n(from, 3, out.rgb.data() + (int64_t{down} * out.width + across) * 3);
        }
    return out;
}

}  // namespace headlight

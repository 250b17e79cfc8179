// Writes animated PNG files from single frames.
#include "io/apng.h"

#include <zlib.h>

#include <cmath>
#include <string>
#include <string_view>

#include "base/cast.h"
#include "io/output_file.h"

namespace headlight {

namespace {

void append_number(std::string& out, uint32_t value) {
    for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(value >> shift & 255);
}

uint32_t read_number(std::string_view bytes, size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | as_byte(bytes[at + i]);
    return value;
}

/// Writes length, type, data, and the checksum of the last two.
void write_chunk(OutputFile& out, const std::string& type, std::string_view data) {
    std::string bytes;
    append_number(bytes, static_cast<uint32_t>(data.size()));
    const std::string body = type + std::string(data);
    bytes += body;
    append_number(bytes, static_cast<uint32_t>(crc32(0, reinterpret_cast<const unsigned char*>(body.data()),
                                                     static_cast<unsigned>(body.size()))));
    out.write(bytes);
}

/// Concatenates the data of all chunks of one type.
std::string chunk_data(std::string_view png, std::string_view type) {
    std::string out;
    for (size_t at = 8; at + 12 <= png.size(); at += 12 + read_number(png, at))
        if (png.substr(at + 4, 4) == type) out += png.substr(at + 8, read_number(png, at));
    return out;
}

/// Describes one full frame: position, delay, and that it replaces the previous one.
std::string frame_control(uint32_t sequence, const PngPixels& pixels, double delay) {
    std::string out;
    for (const uint32_t value : {sequence, pixels.width, pixels.height, 0u, 0u}) append_number(out, value);
    const auto milliseconds = static_cast<uint32_t>(std::lround(delay));
    for (const uint32_t value : {milliseconds, 1000u})
        out += {static_cast<char>(value >> 8 & 255), static_cast<char>(value & 255)};
    return out + std::string(2, '\0');
}

}  // namespace

Status write_apng(const std::filesystem::path& path, int count, double delay,
                  const std::function<Result<PngPixels>(int)>& frame) {
    TRY(const auto out, OutputFile::create(path));
    uint32_t sequence = 0;
    for (int i = 0; i < count; ++i) {
        TRY(const PngPixels pixels, frame(i));
        std::string png;
        TRY_STATUS(encode_png(pixels, [&png](const void* data, size_t size) {
            png.append(static_cast<const char*>(data), size);
        }));
        if (i == 0) {
            out->write(std::string_view(png).substr(0, 8));
            write_chunk(*out, "IHDR", chunk_data(png, "IHDR"));
            std::string animation;
            append_number(animation, static_cast<uint32_t>(count));
            append_number(animation, 0);  // loops forever
            write_chunk(*out, "acTL", animation);
            write_chunk(*out, "pHYs", chunk_data(png, "pHYs"));
        }
        write_chunk(*out, "fcTL", frame_control(sequence++, pixels, delay));
        const std::string data = chunk_data(png, "IDAT");
        if (i == 0) {
            write_chunk(*out, "IDAT", data);
            continue;
        }
        std::string numbered;
        append_number(numbered, sequence++);
        write_chunk(*out, "fdAT", numbered + data);
    }
    write_chunk(*out, "IEND", "");
    return out->commit();
}

}  // namespace headlight

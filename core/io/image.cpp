// Decodes with libspng and libjpeg-turbo; reads and bounds sizes before they may allocate.
#include "io/image.h"

#include <spng.h>
#include <turbojpeg.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "base/cast.h"
#include "base/check.h"
#include "io/mapped_file.h"
#include "io/orientation.h"

namespace headlight {

namespace {

constexpr int64_t kMaxPixels = 32 << 20, kMaxSide = 65'535;
constexpr size_t kMaxBytes = 256 << 20;

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

double cubic(double x) {  // Keys 1981 with a = −1/2
    x = std::abs(x);
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/// Holds the inputs that make up one output, with fixed-point weights.
struct Taps {
    int first = 0;
    std::vector<int> weights;
};

constexpr int kBits = 22;

std::vector<Taps> make_taps(int in, int out, Resampling filter) {
    const double scale = double(in) / out, wide = std::max(scale, 1.0),
                 support = (filter == Resampling::bilinear ? 1 : 2) * wide;
    std::vector<Taps> all(out);
    for (int i = 0; i < out; ++i) {
        const double center = (i + 0.5) * scale;
        Taps& t = all[i];
        t.first = std::max(0, int(center - support + 0.5));
        std::vector<double> weights;
        double sum = 0;
        for (int x = t.first; x < std::min(in, int(center + support + 0.5)); ++x) {
            const double at = (x - center + 0.5) / wide;
            weights.push_back(filter == Resampling::bilinear ? triangle(at) : cubic(at));
            sum += weights.back();
        }
        for (const double w : weights)
            t.weights.push_back(round_int(w / (sum != 0 ? sum : 1) * (1 << kBits)));
    }
    return all;
}

uint8_t to_byte(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kBits, 0, 255)); }
constexpr int32_t kHalf = 1 << (kBits - 1);

/// Resamples one row to `taps.size()` pixels.
void resample_row(const uint8_t* in, const std::vector<Taps>& taps, uint8_t* out) {
    for (const Taps& t : taps)
        for (int c = 0; c < 3; ++c) {
            int32_t sum = kHalf;
            const uint8_t* pixel = in + int64_t{t.first} * 3 + c;
            for (const int weight : t.weights) {
                sum += weight * *pixel;
                pixel += 3;
            }
            *out++ = to_byte(sum);
        }
}

}  // namespace

Result<RgbImage> open_image(const std::filesystem::path& path) {
    TRY(const auto file, MappedFile::open(path));
    auto image = decode_image(file->bytes(), display_path(path));
    TRY_STATUS(file->check_unchanged());
    return image;
}

namespace {

Status check_size(const std::string& name, int64_t width, int64_t height) {
    if (width <= kMaxSide && height <= kMaxSide && width * height <= kMaxPixels) return success();
    return Error{name + " has " + std::to_string(width) + " × " + std::to_string(height) +
                 " pixels; make it smaller than 32 megapixels and 65,535 pixels a side first."};
}

Error damaged(const std::string& name, const char* why) {
    return Error{name + " is damaged (" + why + "); save the image again as PNG or JPEG."};
}

/// Returns a PNG's orientation from its EXIF chunk or text, else from XMP.
int png_orientation(spng_ctx* png) {
    spng_decode_chunks(png);  // also those after the pixels
    std::optional<int> exif, xmp;
    if (spng_exif chunk{}; spng_get_exif(png, &chunk) == 0)
        exif = exif_orientation({chunk.data, chunk.length});
    uint32_t count = 0;
    if (spng_get_text(png, nullptr, &count) != 0) count = 0;
    std::vector<spng_text> texts(count);
    if (count && spng_get_text(png, texts.data(), &count) != 0) texts.clear();
    for (const spng_text& text : texts) {
        const std::string_view keyword(text.keyword), content(text.text, text.length);
        if (keyword == "Raw profile type exif" && !exif)
            exif = exif_orientation(bytes_of_raw_profile(content));
        if (keyword == "XML:com.adobe.xmp") xmp = xmp_orientation(content);
    }
    return exif.value_or(xmp.value_or(1));
}

Result<RgbImage> decode_png(std::span<const std::byte> bytes, const std::string& name) {
    const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> png(spng_ctx_new(0), spng_ctx_free);
    if (!png) return damaged(name, "there is no memory for it");
    spng_set_chunk_limits(png.get(), 1 << 20, 4 << 20);
    spng_set_png_buffer(png.get(), bytes.data(), bytes.size());
    spng_ihdr header{};
    if (const int problem = spng_get_ihdr(png.get(), &header)) return damaged(name, spng_strerror(problem));
    TRY_STATUS(check_size(name, header.width, header.height));
    RgbImage out{narrow<int>(header.width), narrow<int>(header.height),
                 std::vector<uint8_t>(size_t{header.width} * header.height * 3)};
    if (const int problem = spng_decode_image(png.get(), out.rgb.data(), out.rgb.size(), SPNG_FMT_RGB8, 0))
        return damaged(name, spng_strerror(problem));
    return upright(std::move(out), png_orientation(png.get()));
}

/// a · b / 255, rounded as Pillow does.
int share_of_255(int a, int b) {
    const int product = a * b + 128;
    return ((product >> 8) + product) >> 8;
}

/// Converts CMYK to RGB; the inks are stored inverted (Adobe's convention, which Pillow assumes).
std::vector<uint8_t> rgb_of_inks(const std::vector<uint8_t>& inks) {
    std::vector<uint8_t> out;
    out.reserve(inks.size() / 4 * 3);
    for (size_t i = 0; i + 3 < inks.size(); i += 4)
        for (size_t c = 0; c < 3; ++c) {
            const int light = inks[i + 3];
            out.push_back(static_cast<uint8_t>(std::max(0, light - share_of_255(255 - inks[i + c], light))));
        }
    return out;
}

Result<RgbImage> decode_jpeg(std::span<const std::byte> bytes, const std::string& name) {
    const std::unique_ptr<void, int (*)(void*)> jpeg(tjInitDecompress(), tjDestroy);
    if (!jpeg) return damaged(name, "there is no memory for it");
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    int width = 0, height = 0, sampling = 0, colors = 0;
    if (tjDecompressHeader3(jpeg.get(), data, bytes.size(), &width, &height, &sampling, &colors) != 0 ||
        width <= 0 || height <= 0)
        return damaged(name, tjGetErrorStr2(jpeg.get()));
    TRY_STATUS(check_size(name, width, height));
    const bool inks = colors == TJCS_CMYK || colors == TJCS_YCCK;
    RgbImage out{width, height, std::vector<uint8_t>(size_t{inks ? 4u : 3u} * width * height)};
    if (tjDecompress2(jpeg.get(), data, bytes.size(), out.rgb.data(), width, 0, height,
                      inks ? TJPF_CMYK : TJPF_RGB, TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) != 0)
        return damaged(name, tjGetErrorStr2(jpeg.get()));
    if (inks) out.rgb = rgb_of_inks(out.rgb);
    return upright(std::move(out),
                   jpeg_orientation({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

/// Identifies a file format by its first bytes, with its decoder.
struct ImageKind {
    std::string_view signature;
    Result<RgbImage> (*decode)(std::span<const std::byte> bytes, const std::string& name);
};
constexpr ImageKind kKinds[] = {{"\x89PNG", decode_png}, {"\xFF\xD8", decode_jpeg}};

}  // namespace

Result<RgbImage> decode_image(std::span<const std::byte> bytes, const std::string& name) {
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (all.size() > kMaxBytes) return Error{name + " is larger than 256 MB; make the image smaller first."};
    for (const ImageKind& kind : kKinds)
        if (all.starts_with(kind.signature)) return kind.decode(bytes, name);
    return Error{name + " is neither a PNG nor a JPEG image; save it as one of these."};
}

RgbImage resize(const RgbImage& image, int width, int height, Resampling filter) {
    HEADLIGHT_CHECK(width > 0 && height > 0 && image.rgb.size() == size_t{3} * image.width * image.height);
    if (image.width == width && image.height == height) return image;
    const auto across = make_taps(image.width, width, filter), down = make_taps(image.height, height, filter);
    const size_t row_size = size_t{3} * width, rows = height;
    std::vector<uint8_t> row(row_size);
    std::vector<int32_t> sums(rows * row_size, kHalf);
    size_t first = 0;  // first output row that is not finished
    for (int y = 0; y < image.height; ++y) {
        resample_row(image.rgb.data() + int64_t{y} * image.width * 3, across, row.data());
        const auto ends = [&](const Taps& t) { return t.first + isize(t.weights); };
        while (first < rows && ends(down[first]) <= y) ++first;
        for (size_t i = first; i < rows && down[i].first <= y; ++i) {
            if (ends(down[i]) <= y) continue;
            const int weight = down[i].weights[y - down[i].first];
            for (size_t x = 0; x < row_size; ++x) sums[i * row_size + x] += weight * row[x];
        }
    }
    RgbImage out{width, height, std::vector<uint8_t>(sums.size())};
    std::transform(sums.begin(), sums.end(), out.rgb.begin(), to_byte);
    return out;
}

}  // namespace headlight

// libspng and libjpeg-turbo decode; sizes are read and bounded before they may allocate.
#include "io/image.h"

#include <spng.h>
#include <turbojpeg.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "io/mapped_file.h"

namespace headlight {

namespace {

constexpr int64_t kMostPixels = 32 << 20;
constexpr size_t kMostBytes = 256 << 20;

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

double cubic(double x) {  // Keys 1981 with a = −1/2
    x = std::abs(x);
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

/// Which inputs make up one output, with fixed-point weights.
struct Taps {
    int first = 0;
    std::vector<int> weights;
};

constexpr int kBits = 22;

std::vector<Taps> make_taps(int in, int out, Resampling filter) {
    const double scale = static_cast<double>(in) / out, wide = std::max(scale, 1.0), support = (filter == Resampling::bilinear ? 1 : 2) * wide;
    std::vector<Taps> all(static_cast<size_t>(out));
    for (int i = 0; i < out; ++i) {
        const double centre = (i + 0.5) * scale;
        Taps& t = all[static_cast<size_t>(i)];
        t.first = std::max(0, static_cast<int>(centre - support + 0.5));
        std::vector<double> weights;
        double sum = 0;
        for (int x = t.first; x < std::min(in, static_cast<int>(centre + support + 0.5)); ++x) {
            const double at = (x - centre + 0.5) / wide;
            weights.push_back(filter == Resampling::bilinear ? triangle(at) : cubic(at));
            sum += weights.back();
        }
        for (const double w : weights) t.weights.push_back(static_cast<int>(std::lround(w / (sum != 0 ? sum : 1) * (1 << kBits))));
    }
    return all;
}

/// Resamples rows of pixels `apart` bytes from each other; `count` such rows, `next` bytes from one to the next.
void resample(const uint8_t* in, uint8_t* out, const std::vector<Taps>& taps, int64_t apart, int64_t count, int64_t next_in, int64_t next_out) {
    for (int64_t r = 0; r < count; ++r)
        for (size_t i = 0; i < taps.size(); ++i)
            for (int c = 0; c < 3; ++c) {
                int64_t sum = int64_t{1} << (kBits - 1);
                for (size_t k = 0; k < taps[i].weights.size(); ++k) sum += int64_t{taps[i].weights[k]} * in[r * next_in + (taps[i].first + static_cast<int64_t>(k)) * apart + c];
                out[r * next_out + static_cast<int64_t>(i) * apart + c] = static_cast<uint8_t>(std::clamp<int64_t>(sum >> kBits, 0, 255));
            }
}

}  // namespace

Result<RgbImage> open_image(const std::filesystem::path& path) {
    TRY(const auto file, MappedFile::open(path));
    return decode_image(file->bytes(), display_path(path));
}

namespace {

Error too_large(const std::string& name, int64_t width, int64_t height) {
    return Error{name + " has " + std::to_string(width) + " × " + std::to_string(height) + " pixels; make it smaller than 32 megapixels first."};
}

Error damaged(const std::string& name, const char* why) { return Error{name + " is damaged (" + why + "); save the picture again as PNG or JPEG."}; }

Result<RgbImage> decode_png(std::span<const std::byte> bytes, const std::string& name) {
    const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> png(spng_ctx_new(0), spng_ctx_free);
    if (!png) return damaged(name, "there is no memory for it");
    spng_set_chunk_limits(png.get(), 1 << 20, 4 << 20);
    spng_set_png_buffer(png.get(), bytes.data(), bytes.size());
    spng_ihdr header{};
    if (const int problem = spng_get_ihdr(png.get(), &header)) return damaged(name, spng_strerror(problem));
    if (int64_t{header.width} * header.height > kMostPixels) return too_large(name, header.width, header.height);
    const auto pixels = static_cast<size_t>(header.width) * header.height;
    std::vector<uint8_t> rgba(pixels * 4);
    if (const int problem = spng_decode_image(png.get(), rgba.data(), rgba.size(), SPNG_FMT_RGBA8, 0)) return damaged(name, spng_strerror(problem));
    RgbImage out{static_cast<int>(header.width), static_cast<int>(header.height), std::vector<uint8_t>(pixels * 3)};
    for (size_t i = 0; i < pixels; ++i) std::copy_n(rgba.begin() + static_cast<std::ptrdiff_t>(4 * i), 3, out.rgb.begin() + static_cast<std::ptrdiff_t>(3 * i));
    return out;
}

Result<RgbImage> decode_jpeg(std::span<const std::byte> bytes, const std::string& name) {
    const std::unique_ptr<void, int (*)(void*)> jpeg(tjInitDecompress(), tjDestroy);
    if (!jpeg) return damaged(name, "there is no memory for it");
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    int width = 0, height = 0, sampling = 0, colors = 0;
    if (tjDecompressHeader3(jpeg.get(), data, bytes.size(), &width, &height, &sampling, &colors) != 0 || width <= 0 || height <= 0) return damaged(name, tjGetErrorStr2(jpeg.get()));
    if (int64_t{width} * height > kMostPixels) return too_large(name, width, height);
    RgbImage out{width, height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(height) * 3)};
    if (tjDecompress2(jpeg.get(), data, bytes.size(), out.rgb.data(), width, 0, height, TJPF_RGB, TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS) != 0) return damaged(name, tjGetErrorStr2(jpeg.get()));
    return out;
}

/// How a kind of file begins, and what decodes it.
struct ImageKind {
    std::string_view signature;
    Result<RgbImage> (*decode)(std::span<const std::byte> bytes, const std::string& name);
};
constexpr ImageKind kKinds[] = {{"\x89PNG", decode_png}, {"\xFF\xD8", decode_jpeg}};

}  // namespace

Result<RgbImage> decode_image(std::span<const std::byte> bytes, const std::string& name) {
    const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (all.size() > kMostBytes) return Error{name + " is larger than 256 MB; make the picture smaller first."};
    for (const ImageKind& kind : kKinds)
        if (all.starts_with(kind.signature)) return kind.decode(bytes, name);
    return Error{name + " is neither a PNG nor a JPEG picture; save it as one of these."};
}

RgbImage resize(const RgbImage& image, int width, int height, Resampling filter) {
    HEADLIGHT_CHECK(width > 0 && height > 0 && image.rgb.size() == size_t{3} * static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
    if (image.width == width && image.height == height) return image;
    RgbImage wide{width, image.height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(image.height) * 3)};
    resample(image.rgb.data(), wide.rgb.data(), make_taps(image.width, width, filter), 3, image.height, int64_t{image.width} * 3, int64_t{width} * 3);
    if (image.height == height) return wide;
    RgbImage out{width, height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(height) * 3)};
    resample(wide.rgb.data(), out.rgb.data(), make_taps(image.height, height, filter), int64_t{width} * 3, width, 3, 3);
    return out;
}

}  // namespace headlight

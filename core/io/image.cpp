// stb_image decodes; sizes are read and bounded before it may allocate.
#include "io/image.h"

#include <algorithm>
#include <cmath>

#include "io/mapped_file.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 32768
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace headlight {

namespace {

constexpr int64_t kMostPixels = 64 << 20, kMostBytes = 256 << 20;

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

Result<RgbImage> decode_image(std::span<const std::byte> bytes, const std::string& name) {
    if (bytes.empty()) return Error{name + " is empty; save the picture again as PNG or JPEG."};
    if (static_cast<int64_t>(bytes.size()) > kMostBytes) return Error{name + " is larger than 256 MB; make the picture smaller first."};
    const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
    const auto length = static_cast<int>(bytes.size());
    int width = 0, height = 0, channels = 0;
    if (!stbi_info_from_memory(data, length, &width, &height, &channels) || width <= 0 || height <= 0)
        return Error{name + " is no picture that Headlight reads, or has impossible sizes; save it as PNG or JPEG."};
    if (int64_t{width} * height > kMostPixels)
        return Error{name + " has " + std::to_string(width) + " × " + std::to_string(height) + " pixels; make it smaller than 64 megapixels first."};
    stbi_uc* pixels = stbi_load_from_memory(data, length, &width, &height, &channels, 3);
    if (!pixels) return Error{name + " is damaged (" + stbi_failure_reason() + "); save the picture again as PNG or JPEG."};
    RgbImage image{width, height, {pixels, pixels + int64_t{width} * height * 3}};
    stbi_image_free(pixels);
    return image;
}

RgbImage resize(const RgbImage& image, int width, int height, Resampling filter) {
    if (image.width == width && image.height == height) return image;
    RgbImage wide{width, image.height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(image.height) * 3)};
    resample(image.rgb.data(), wide.rgb.data(), make_taps(image.width, width, filter), 3, image.height, int64_t{image.width} * 3, int64_t{width} * 3);
    if (image.height == height) return wide;
    RgbImage out{width, height, std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(height) * 3)};
    resample(wide.rgb.data(), out.rgb.data(), make_taps(image.height, height, filter), int64_t{width} * 3, width, 3, 3);
    return out;
}

}  // namespace headlight

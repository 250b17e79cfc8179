#include "gpu/texture.h"

#include <algorithm>
#include <vector>

#include "base/cast.h"
#include "base/check.h"

namespace headlight {

namespace {

/// Keyed by the texture's name.
std::vector<uint64_t>& texture_serials() {
    static std::vector<uint64_t> serials;
    return serials;
}

}  // namespace

uint64_t Texture::serial(GLuint id) { return id < texture_serials().size() ? texture_serials()[id] : 0; }

void Texture::reset() {
    if (!id_) return;
    texture_serials()[id_] = 0;
    glDeleteTextures(1, &id_);
    id_ = 0;
}

int Texture::most_side() {
    GLint side = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &side);
    return std::max(side, 1024);  // OpenGL 3.3 guarantees this
}

uint64_t Texture::next_serial() {
    static uint64_t last = 0;
    return ++last;
}

Texture Texture::make() {
    Texture t;
    glGenTextures(1, &t.id_);
    auto& serials = texture_serials();
    serials.resize(std::max(serials.size(), size_t{t.id_} + 1));
    serials[t.id_] = next_serial();
    glBindTexture(GL_TEXTURE_2D, t.id_);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    return t;
}

Texture Texture::of_values(std::span<const Matrix> levels) {
    Texture t = make();
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, isize(levels) - 1);
    HEADLIGHT_CHECK(!levels.empty() && std::max(levels[0].rows(), levels[0].cols()) <= most_side());
    const int size = isize(levels) - 1;  // levels halve exactly only from a power of two
    for (int i = 0; i <= size; ++i) {
        const Matrix& m = levels[i];
        const int width = narrow<int>(m.cols()), height = narrow<int>(m.rows());
        glTexImage2D(GL_TEXTURE_2D, i, GL_R32F, size ? 1 << (size - i) : width,
                     size ? 1 << (size - i) : height, 0, GL_RED, GL_FLOAT, nullptr);
        glTexSubImage2D(GL_TEXTURE_2D, i, 0, 0, width, height, GL_RED, GL_FLOAT, m.data());
    }
    return t;
}

Texture Texture::of_colormap(const Colormap& map) {
    Texture t = make();
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 256, 1, 0, GL_RGB, GL_UNSIGNED_BYTE, map.data());
    return t;
}

Texture Texture::of_rgb(int width, int height, const unsigned char* pixels) {
    Texture t = make();
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, width);
    width = std::min(width, most_side());
    height = std::min(height, most_side());
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, width, height, 0, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    return t;
}

Texture Texture::of_argb(int width, int height, int stride, const unsigned char* pixels) {
    width = std::min(width, most_side());
    height = std::min(height, most_side());
    std::vector<unsigned char> straight(size_t{4} * width * height);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            const unsigned char* in = pixels + y * stride + x * 4;
            unsigned char* out = straight.data() + (size_t{1} * y * width + x) * 4;
            const uint8_t alpha = in[3];
            for (int c = 0; c < 3; ++c)
                out[c] = static_cast<uint8_t>(alpha ? std::min(255, in[2 - c] * 255 / alpha) : 255);
            out[3] = alpha;
        }
    Texture t = make();
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, straight.data());
    return t;
}

void Texture::set_pixels(int width, int height, const uint32_t* pixels) {
    const bool fits = id_ != 0 && width == width_ && height == height_;
    if (!fits) {
        *this = make();
        width_ = width;
        height_ = height;
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        return;
    }
    texture_serials()[id_] = next_serial();
    glBindTexture(GL_TEXTURE_2D, id_);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
}

}  // namespace headlight

// OpenGL objects with an owner.
#pragma once

#include <epoxy/gl.h>

#include <cstdint>
#include <span>
#include <utility>

#include "base/matrix.h"
#include "figure/colormap.h"

namespace headlight {

/// A texture, deleted with its owner; everything needs a current context.
class Texture {
public:
    Texture() = default;
    ~Texture() { reset(); }
    Texture(Texture&& o) noexcept : id_(std::exchange(o.id_, 0)), width_(o.width_), height_(o.height_) {}
    Texture& operator=(Texture&& o) noexcept {
        if (this != &o) {
            reset();
            id_ = std::exchange(o.id_, 0);
            width_ = o.width_;
            height_ = o.height_;
        }
        return *this;
    }

    GLuint id() const { return id_; }
    /// A unique number for the content of a texture: OpenGL reuses names of deleted textures. 0: not ours.
    static uint64_t serial(GLuint id);
    explicit operator bool() const { return id_ != 0; }
    void reset();

    /// Longest side of a texture that the driver accepts.
    static int most_side();
    /// float32 values, for texelFetch. Several levels are those of halve(), down to 1 × 1; they are in the
    /// corner of power-of-two levels, so fetch only existing entries.
    static Texture of_values(std::span<const Matrix> levels);
    static Texture of_colormap(const Colormap& map);
    /// 8-bit red, green, blue. Cut off at the driver's longest side, here and below.
    static Texture of_rgb(int width, int height, const unsigned char* pixels);
    /// Premultiplied 0xAARRGGBB pixels in rows of `stride` bytes, as Cairo draws them.
    static Texture of_argb(int width, int height, int stride, const unsigned char* pixels);

    /// Holds opaque 0xAABBGGRR pixels, one per window pixel; reuses its memory while the size stays.
    void set_pixels(int width, int height, const uint32_t* pixels);

private:
    static Texture make();
    static uint64_t next_serial();
    GLuint id_ = 0;
    int width_ = 0, height_ = 0;  // in pixels
};

}  // namespace headlight

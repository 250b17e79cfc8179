// Draws into a picture instead of the window.
#pragma once

#include <epoxy/gl.h>

#include <vector>

namespace headlight {

/// A framebuffer with its own color texture, deleted with its owner.
class Framebuffer {
public:
    Framebuffer() = default;
    /// Leaves it bound.
    Framebuffer(int width, int height);
    ~Framebuffer();
    Framebuffer(Framebuffer&& o) noexcept;
    Framebuffer& operator=(Framebuffer&& o) noexcept;

    int width() const { return width_; }
    int height() const { return height_; }
    bool complete() const;
    void bind() const { glBindFramebuffer(GL_FRAMEBUFFER, id_); }
    /// Its pixels, as bound_pixels returns them. Leaves it bound.
    std::vector<unsigned char> pixels() const;
    /// Copies all of it to a framebuffer of the same size, by name, and leaves that bound; 0: the window's.
    void copy_to(GLuint target) const;

private:
    void reset();
    GLuint id_ = 0, color_ = 0;
    int width_ = 0, height_ = 0;
};

/// The pixels of the bound framebuffer: blue, green, red, alpha, lowest row first.
std::vector<unsigned char> bound_pixels(int width, int height);

}  // namespace headlight

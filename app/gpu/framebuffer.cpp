#include "gpu/framebuffer.h"

#include <utility>

namespace headlight {

/// BGRA, like windows: with equal formats, copying to the window copies bytes.
Framebuffer::Framebuffer(int width, int height) : width_(width), height_(height) {
    glGenTextures(1, &color_);
    glBindTexture(GL_TEXTURE_2D, color_);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_BGRA, GL_UNSIGNED_BYTE, nullptr);
    glGenFramebuffers(1, &id_);
    bind();
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, color_, 0);
}

Framebuffer::~Framebuffer() { reset(); }

Framebuffer::Framebuffer(Framebuffer&& o) noexcept
    : id_(std::exchange(o.id_, 0)),
      color_(std::exchange(o.color_, 0)),
      width_(std::exchange(o.width_, 0)),
      height_(std::exchange(o.height_, 0)) {}

Framebuffer& Framebuffer::operator=(Framebuffer&& o) noexcept {
    if (this == &o) return *this;
    reset();
    id_ = std::exchange(o.id_, 0);
    color_ = std::exchange(o.color_, 0);
    width_ = std::exchange(o.width_, 0);
    height_ = std::exchange(o.height_, 0);
    return *this;
}

void Framebuffer::reset() {
    if (id_) glDeleteFramebuffers(1, &id_);
    if (color_) glDeleteTextures(1, &color_);
    id_ = color_ = 0;
}

bool Framebuffer::complete() const {
    bind();
    return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
}

std::vector<unsigned char> Framebuffer::pixels() const {
    bind();
    return bound_pixels(width_, height_);
}

std::vector<unsigned char> bound_pixels(int width, int height) {
    std::vector<unsigned char> out(size_t{4} * width * height);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, width, height, GL_BGRA, GL_UNSIGNED_BYTE, out.data());
    return out;
}

void Framebuffer::copy_to(GLuint target) const {
    glBindFramebuffer(GL_READ_FRAMEBUFFER, id_);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target);
    glBlitFramebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_FRAMEBUFFER, target);
}

}  // namespace headlight

#include "window/icon.h"

#include <GLFW/glfw3.h>
#include <cairo.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/embedded.h"

namespace headlight {

namespace {

constexpr int kSizes[] = {16, 32, 48, 64, 128};

/// Red, green, blue and alpha of a pixel whose colors Cairo premultiplied by alpha.
void add_pixel(std::vector<unsigned char>& out, uint32_t argb) {
    const uint32_t alpha = argb >> 24;
    for (const int shift : {16, 8, 0}) {
        const uint32_t color = (argb >> shift) & 255;
        out.push_back(static_cast<unsigned char>(alpha ? std::min(255u, color * 255 / alpha) : 0));
    }
    out.push_back(static_cast<unsigned char>(alpha));
}

cairo_status_t read_piece(void* rest, unsigned char* into, unsigned int length) {
    auto& bytes = *static_cast<std::string_view*>(rest);
    if (bytes.size() < length) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(into, bytes.data(), length);
    bytes.remove_prefix(length);
    return CAIRO_STATUS_SUCCESS;
}

/// [size, size, 4]; empty if the picture has another size.
std::vector<unsigned char> icon_pixels(int size) {
    std::vector<unsigned char> out;
    std::string_view png = embedded_file("assets/desktop/headlight-" + std::to_string(size) + ".png");
    cairo_surface_t* surface = cairo_image_surface_create_from_png_stream(read_piece, &png);
    if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS &&
        cairo_image_surface_get_width(surface) == size && cairo_image_surface_get_height(surface) == size &&
        cairo_image_surface_get_format(surface) == CAIRO_FORMAT_ARGB32) {
        const unsigned char* data = cairo_image_surface_get_data(surface);
        const int stride = cairo_image_surface_get_stride(surface);
        for (int y = 0; y < size; ++y)
            for (int x = 0; x < size; ++x) {
                uint32_t argb = 0;
                std::memcpy(&argb, data + y * stride + x * 4, sizeof argb);
                add_pixel(out, argb);
            }
    }
    cairo_surface_destroy(surface);
    return out;
}

}  // namespace

void set_window_icon(GLFWwindow* window) {
    std::vector<std::vector<unsigned char>> held;
    std::vector<GLFWimage> images;
    held.reserve(std::size(kSizes));
    for (const int size : kSizes) {
        held.push_back(icon_pixels(size));
        if (!held.back().empty()) images.push_back({size, size, held.back().data()});
    }
    if (!images.empty()) glfwSetWindowIcon(window, int(images.size()), images.data());
}

}  // namespace headlight

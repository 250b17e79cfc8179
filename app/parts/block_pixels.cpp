// Draws an image with its patches, overlaid with their weights.
#include <algorithm>

#include "paint/layout.h"
#include "parts/blocks.h"

namespace headlight::learn {

namespace {

void draw_patch_lines(Ui& ui, Rect r, const Pixels& pixels) {
    const float high = r.h / float(pixels.rows), wide = r.w / float(pixels.columns);
    const ImU32 line = IM_COL32(255, 255, 255, std::min(high, wide) >= 10 ? 110 : 60);
    for (int i = 1; i < pixels.rows; ++i)
        ui.fill({r.x, r.y + ui.snapped(high * float(i)), r.w, ui.line()}, line);
    for (int i = 1; i < pixels.columns; ++i)
        ui.fill({r.x + ui.snapped(wide * float(i)), r.y, ui.line(), r.h}, line);
}

Rect patch_place(Rect r, const Pixels& pixels, int i) {
    const float high = r.h / float(pixels.rows), wide = r.w / float(pixels.columns);
    const int row = i / pixels.columns, column = i % pixels.columns;
    return {r.x + wide * float(column), r.y + high * float(row), wide, high};
}

/// Larger weights are more opaque.
void draw_patch_weights(BlockPen& pen, Rect r, const Pixels& pixels) {
    const float largest = std::max(1e-12f, *std::max_element(pixels.weights.begin(), pixels.weights.end()));
    for (int i = 0; i < isize(pixels.weights); ++i) {
        const float place = pixels.weights[i] / largest;
        const Rgb c = color_of(pen.weights, place);
        pen.ui.fill(patch_place(r, pixels, i), IM_COL32(c.r, c.g, c.b, 110 + int(100 * place)));
    }
}

void answer_mouse(Ui& ui, const std::string& path, Rect r, const Pixels& pixels) {
    const Hit hit = ui.hit(path, r);
    if (!hit.hovered || pixels.rows == 0) return;
    const auto [row, column] =
        headlight::Grid{r, pixels.rows, pixels.columns, r.w / float(pixels.columns), r.h / float(pixels.rows)}
            .at(hit.mouse);
    const int i = row * pixels.columns + column;
    ui.frame(patch_place(r, pixels, i), ui.colors->hover, 2);
    std::string text = "patch " + std::to_string(row) + "," + std::to_string(column);
    if (i < isize(pixels.weights)) text += ": " + number(double(pixels.weights[i]), 4);
    ui.tooltip(path, hit, text);
}

}  // namespace

float draw_pixels(BlockPen& pen, ImVec2 at, float width, const Pixels& pixels) {
    Ui& ui = pen.ui;
    const float top = at.y + draw_block_title(pen, at, width, pixels.title);
    const RgbImage& image = pixels.image;
    if (image.width <= 0 || image.height <= 0) return top - at.y;
    const float wide = ui.whole(std::min({width, 440.0f, 440.0f * float(image.width) / float(image.height)}));
    const Rect r{at.x, top, wide, ui.whole(wide * float(image.height) / float(image.width))};
    const GLuint texture = ui.on_page() ? 0 : ui.heat->texture_of(image);
    ui.picture(r, texture, image.width, image.height, image.rgb.data());
    if (!pixels.weights.empty()) draw_patch_weights(pen, r, pixels);
    if (pixels.rows > 0) draw_patch_lines(ui, r, pixels);
    ui.frame(r, ui.colors->l2);
    answer_mouse(ui, pen.path, r, pixels);
    return r.bottom() - at.y;
}

}  // namespace headlight::learn

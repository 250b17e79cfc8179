#include "figure/figure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace headlight {

std::span<const FigureKind> figure_kinds() {
    static const FigureKind table[] = {
        {"heads", "every head as a thumbnail, layers down and heads across", write_heads_figure},
        {"head", "one head, with token labels and exact colour bar", write_head_figure},
    };
    return table;
}

const FigureKind* find_figure(std::string_view name) {
    for (const auto& kind : figure_kinds())
        if (name == kind.name) return &kind;
    return nullptr;
}

int label_step(double cell, double apart) {
    for (int decade = 1;; decade *= 10)
        for (const int k : {1, 2, 5})
            if (cell * k * decade >= apart) return k * decade;
}

std::string decimals(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    std::string out(text);
    if (out[0] == '-') out.replace(0, 1, "−");
    return out;
}

namespace {

constexpr Index kMostRectangles = 256;  // cells per side drawn as vectors

Rgb cell_color(const FigureOptions& o, const Colormap& map, float weight, float largest, float row_largest) {
    return map[static_cast<size_t>(std::lround(255 * scale_position(o.scale, weight, largest, row_largest)))];
}

void draw_as_picture(Canvas& canvas, const Matrix& w, double x, double y, double cell, const FigureOptions& o, float largest) {
    const Colormap& map = colormap(o.colormap, false);
    const bool in_rows = o.queries == Axis::rows;
    const auto down = static_cast<int>(in_rows ? w.rows() : w.cols()), across = static_cast<int>(in_rows ? w.cols() : w.rows());
    const int zoom = std::max(1, 512 / std::max(down, across));  // viewers smooth pictures: enough pixels keep the cells' edges sharp
    const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, across * zoom, down * zoom), cairo_surface_destroy);
    unsigned char* data = cairo_image_surface_get_data(image.get());
    const int stride = cairo_image_surface_get_stride(image.get());
    const Vector row_largest = w.rowwise().maxCoeff();
    for (int r = 0; r < down * zoom; ++r) {
        auto* row = reinterpret_cast<uint32_t*>(data + r * stride);
        for (int c = 0; c < across * zoom; ++c) {
            const int i = in_rows ? r / zoom : c / zoom, j = in_rows ? c / zoom : r / zoom;
            const Rgb color = w(i, j) < 0 ? Rgb{0xEE, 0xF0, 0xF2} : cell_color(o, map, w(i, j), largest, row_largest[i]);
            row[c] = static_cast<uint32_t>(color.r << 16 | color.g << 8 | color.b);
        }
    }
    cairo_surface_mark_dirty(image.get());
    cairo_t* cairo = canvas.cairo();
    cairo_save(cairo);
    cairo_translate(cairo, x, y);
    cairo_scale(cairo, cell / zoom, cell / zoom);
    cairo_set_source_surface(cairo, image.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
    cairo_rectangle(cairo, 0, 0, across * zoom, down * zoom);
    cairo_fill(cairo);
    cairo_restore(cairo);
}

}  // namespace

void draw_weights(Canvas& canvas, const Matrix& w, double x, double y, double cell, const FigureOptions& o, float largest) {
    if (std::max(w.rows(), w.cols()) > kMostRectangles || cell < 4) return draw_as_picture(canvas, w, x, y, cell, o, largest);
    const Colormap& map = colormap(o.colormap, false);
    const double gap = cell >= 12 ? 0.75 : 0;
    for (Index i = 0; i < w.rows(); ++i) {
        const float row_largest = w.row(i).maxCoeff();
        for (Index j = 0; j < w.cols(); ++j) {
            const double cx = x + cell * static_cast<double>(o.queries == Axis::rows ? j : i), cy = y + cell * static_cast<double>(o.queries == Axis::rows ? i : j);
            if (w(i, j) >= 0 && o.dots) {
                const float place = scale_position(o.scale, w(i, j), largest, row_largest);
                canvas.set_color(cell_color(o, map, w(i, j), largest, row_largest));
                cairo_new_sub_path(canvas.cairo());
                cairo_arc(canvas.cairo(), cx + cell / 2, cy + cell / 2, cell * 0.47 * std::sqrt(place), 0, 2 * M_PI);
                cairo_fill(canvas.cairo());
            } else if (w(i, j) >= 0) canvas.fill_rect(cx, cy, cell - gap, cell - gap, cell_color(o, map, w(i, j), largest, row_largest));
            else if (cell >= 8) canvas.hatch(cx, cy, cell - gap, cell - gap, PageColors{}.hatch);
            else canvas.fill_rect(cx, cy, cell, cell, {0xEE, 0xF0, 0xF2});
        }
    }
}

void draw_color_bar(Canvas& canvas, double x, double y, double height, const FigureOptions& o, float largest) {
    constexpr double width = 12;
    const Colormap& map = colormap(o.colormap, false);
    for (int i = 0; i < 256; ++i) canvas.fill_rect(x, y + height * (255 - i) / 256, width, height / 256 + 0.5, map[static_cast<size_t>(i)]);
    canvas.stroke_rect(x, y, width, height, PageColors{}.line, 0.75);
    for (int i = 0; i <= 4; ++i) {
        const double at = y + height * (1 - i / 4.0);
        const double value = o.scale == Scale::row ? i / 4.0 : o.scale == Scale::log ? kLogFloor * std::pow(largest / kLogFloor, i / 4.0) : largest * i / 4.0;
        canvas.line(x + width, at, x + width + 4, at, PageColors{}.line, 0.75);
        canvas.text(x + width + 7, at, decimals(value, value < 0.01 && value > 0 ? 4 : largest < 0.2f ? 3 : 2), 10, Face::mono, PageColors{}.secondary);
    }
    const char* label = o.scale == Scale::row ? "of row's largest" : o.scale == Scale::log ? "weight (log)" : "weight";
    canvas.text(x, y - 11, label, 10, Face::sans, PageColors{}.caption);
}

}  // namespace headlight

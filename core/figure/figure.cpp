// Draws the parts that figures share.
#include "figure/figure.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "base/cast.h"
#include "figure/file_formats.h"
#include "trace/large_pattern.h"

namespace headlight {

std::span<const FigureKind> figure_kinds() {
    static const FigureKind table[] = {
        {"heads", "every head as a thumbnail, layers down and heads across", heads_figure},
        {"head", "one head, with token labels and exact color bar", head_figure},
    };
    return table;
}

const FigureKind* find_figure(std::string_view name) {
    for (const auto& kind : figure_kinds())
        if (name == kind.name) return &kind;
    return nullptr;
}

int label_step(double cell, double apart) {
    for (int decade = 1; decade < kOneLabel; decade *= 10)
        for (const int k : {1, 2, 5})
            if (cell * k * decade >= apart) return k * decade;
    return kOneLabel;
}

const Colormap& page_colormap(const FigureOptions& o, const Shades& shades) {
    return shades.is_signed ? signed_colormap(false) : colormap(o.colormap, false);
}

namespace {

Vector largest_of_rows(const Matrix& w) {
    Vector out(w.rows());
    for (Index r = 0; r < w.rows(); ++r) out[r] = largest_entry(w.row(r));
    return out;
}

constexpr Index kMaxRectangles = 256;  // cells per side drawn as vectors

/// Draws the weights as a picture of `wide` × `high` pixels; a pixel of several cells shows the largest.
std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> paint_cells(const Matrix& w, int wide, int high,
                                                                         const FigureOptions& o,
                                                                         const Shades& shades) {
    const Colormap& map = page_colormap(o, shades);
    const bool in_rows = o.queries == Axis::rows;
    const Index down = in_rows ? w.rows() : w.cols(), across = in_rows ? w.cols() : w.rows();
    std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> image(
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, wide, high), cairo_surface_destroy);
    unsigned char* data = cairo_image_surface_get_data(image.get());
    const int stride = cairo_image_surface_get_stride(image.get());
    const Vector row_largest = largest_of_rows(w);
    const auto covered = [](int pixel, int pixels, Index cells) {
        const Index first = pixel * cells / pixels;
        return std::pair{first, std::max(first + 1, (pixel + 1) * cells / pixels)};
    };
    for (int y = 0; y < high; ++y) {
        auto* row = reinterpret_cast<uint32_t*>(data + y * stride);
        const auto [top, bottom] = covered(y, high, down);
        for (int x = 0; x < wide; ++x) {
            const auto [left, right] = covered(x, wide, across);
            float max = kMasked, of_row = 1;
            for (Index r = top; r < bottom; ++r)
                for (Index c = left; c < right; ++c) {
                    const float v = in_rows ? w(r, c) : w(c, r);
                    if (stronger(max, v) == max) continue;
                    max = v;
                    of_row = row_largest[in_rows ? r : c];
                }
            const Rgb color =
                is_masked(max) ? Rgb{0xEE, 0xF0, 0xF2} : color_of(map, shades.place(max, of_row));
            row[x] = static_cast<uint32_t>(color.r << 16 | color.g << 8 | color.b);
        }
    }
    cairo_surface_mark_dirty(image.get());
    return image;
}

/// Draws a picture pixel by pixel; several per cell in SVG and PDF, because viewers smooth pictures.
void draw_as_picture(Canvas& canvas, const Matrix& w, double x, double y, double cell, const FigureOptions& o,
                     const Shades& shades) {
    const bool in_rows = o.queries == Axis::rows;
    const auto down = double(in_rows ? w.rows() : w.cols()), across = double(in_rows ? w.cols() : w.rows());
    cairo_t* cairo = canvas.cairo();
    cairo_save(cairo);
    double left = x, top = y, right = x + cell * across, bottom = y + cell * down;
    const bool pixels = cairo_surface_get_type(cairo_get_target(cairo)) == CAIRO_SURFACE_TYPE_IMAGE;
    double zoom = std::max(1.0, std::ceil(cell * 3)) / cell;  // pixels per unit
    if (pixels) {
        cairo_user_to_device(cairo, &left, &top);
        cairo_user_to_device(cairo, &right, &bottom);
        cairo_identity_matrix(cairo);
        std::tie(left, top, right, bottom) =
            std::tuple(std::round(left), std::round(top), std::round(right), std::round(bottom));
        zoom = 1;
    }
    const int wide = std::max(1, round_int((right - left) * zoom)),
              high = std::max(1, round_int((bottom - top) * zoom));
    const auto image = paint_cells(w, wide, high, o, shades);
    cairo_translate(cairo, left, top);
    cairo_scale(cairo, (right - left) / wide, (bottom - top) / high);
    cairo_set_source_surface(cairo, image.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
    cairo_paint(cairo);
    cairo_restore(cairo);
}

struct PageCells {
    const Matrix& w;
    Axis queries;
    double x, y, cell, gap;

    Index down() const { return queries == Axis::rows ? w.rows() : w.cols(); }
    Index across() const { return queries == Axis::rows ? w.cols() : w.rows(); }
    float at(Index r, Index c) const { return queries == Axis::rows ? w(r, c) : w(c, r); }
    Index query(Index r, Index c) const { return queries == Axis::rows ? r : c; }
    /// Adds `count` cells from (r, c) on to Cairo's path.
    void outline(cairo_t* cairo, Index r, Index c, Index count) const {
        cairo_rectangle(cairo, x + cell * double(c), y + cell * double(r), cell * double(count) - gap,
                        cell - gap);
    }
};

/// Returns the colors of all cells, 0 … 255; −1: masked.
std::vector<int> color_indices(const PageCells& cells, const Shades& shades) {
    const Vector row_largest = largest_of_rows(cells.w);
    std::vector<int> out;
    for (Index r = 0; r < cells.down(); ++r)
        for (Index c = 0; c < cells.across(); ++c) {
            const float v = cells.at(r, c);
            out.push_back(is_masked(v) ? -1 : color_index(shades.place(v, row_largest[cells.query(r, c)])));
        }
    return out;
}

/// Fills one path per color, with adjacent cells of a color in one piece: files stay small and show no seams.
void fill_by_color(Canvas& canvas, const PageCells& cells, const std::vector<int>& indices,
                   const Colormap& map) {
    for (int index = -1; index <= kNoNumber; ++index) {
        bool any = false;
        for (Index r = 0; r < cells.down(); ++r)
            for (Index c = 0, count = 0; c < cells.across(); c += count) {
                const auto color = [&](Index column) { return indices[r * cells.across() + column]; };
                count = 1;
                while (cells.gap == 0 && c + count < cells.across() && color(c + count) == color(c)) ++count;
                if (color(c) != index) continue;
                cells.outline(canvas.cairo(), r, c, count);
                any = true;
            }
        if (!any) continue;
        if (index < 0 && cells.cell >= 8) {
            cairo_save(canvas.cairo());
            cairo_clip(canvas.cairo());
            canvas.hatch(cells.x, cells.y, cells.cell * double(cells.across()),
                         cells.cell * double(cells.down()), PageColors{}.hatch);
            cairo_restore(canvas.cairo());
            continue;
        }
        canvas.set_color(index < 0 ? Rgb{0xEE, 0xF0, 0xF2} : color_of(map, index));
        cairo_fill(canvas.cairo());
    }
}

void draw_dots(Canvas& canvas, const PageCells& cells, const Shades& shades, const Colormap& map) {
    const Vector row_largest = largest_of_rows(cells.w);
    for (Index r = 0; r < cells.down(); ++r)
        for (Index c = 0; c < cells.across(); ++c) {
            const float v = cells.at(r, c), place = shades.place(v, row_largest[cells.query(r, c)]);
            if (is_masked(v) || std::isnan(place)) continue;
            const float size = shades.is_signed ? std::abs(2 * place - 1) : place;
            canvas.set_color(color_of(map, place));
            cairo_new_sub_path(canvas.cairo());
            cairo_arc(canvas.cairo(), cells.x + cells.cell * (double(c) + 0.5),
                      cells.y + cells.cell * (double(r) + 0.5), cells.cell * 0.47 * std::sqrt(size), 0,
                      2 * M_PI);
            cairo_fill(canvas.cairo());
        }
}

}  // namespace

void draw_weights(Canvas& canvas, const Matrix& w, double x, double y, double cell, const FigureOptions& o,
                  const Shades& shades) {
    if (std::max(w.rows(), w.cols()) > kMaxRectangles || cell < 4)
        return draw_as_picture(canvas, w, x, y, cell, o, shades);
    const PageCells cells{w, o.queries, x, y, cell, cell >= 12 ? 0.75 : 0};
    std::vector<int> indices = color_indices(cells, shades);
    const Colormap& map = page_colormap(o, shades);
    if (o.marks == Marks::dots) {
        draw_dots(canvas, cells, shades, map);
        std::replace_if(
            indices.begin(), indices.end(), [](int index) { return index >= 0 && index < kNoNumber; },
            kNoNumber + 1);  // leaves out masked cells and NaN
    }
    fill_by_color(canvas, cells, indices, map);
}

void begin_figure(Canvas& canvas, const Page& page, const FigureOptions& o, const std::string& automatic) {
    if (!o.transparent) canvas.fill_rect(0, 0, page.width, page.height, PageColors{}.page);
    const std::string& title = o.title == "auto" ? automatic : o.title;
    if (!title.empty())
        canvas.text(14, 14 + 9 * style_zoom(o), title, 15 * style_zoom(o), Face::sans, PageColors{}.text);
}

}  // namespace headlight

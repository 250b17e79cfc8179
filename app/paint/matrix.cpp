#include "paint/matrix.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/masked.h"

namespace headlight {

namespace {

constexpr float kRoomy = 8;  // points: minimum size of a cell with a gap and hatching

/// The visible one of `down` × `across` entries each.
Matrix reduced(const Matrix& m, Index down, Index across, bool diverges) {
    Matrix out((m.rows() + down - 1) / down, (m.cols() + across - 1) / across);
    const auto weight = [diverges](float v) { return v < 0 ? v : diverges ? std::abs(v - 0.5f) : v; };
    for (Index r = 0; r < out.rows(); ++r)
        for (Index c = 0; c < out.cols(); ++c) {
            float seen = kNoCell;
            for (Index i = r * down; i < std::min((r + 1) * down, m.rows()); ++i)
                for (Index j = c * across; j < std::min((c + 1) * across, m.cols()); ++j)
                    if (weight(m(i, j)) > weight(seen)) seen = m(i, j);
            out(r, c) = seen;
        }
    return out;
}

void draw_on_page(Ui& ui, Rect r, const MatrixCells& cells) {
    const float w = r.w / float(cells.places.cols()), h = r.h / float(cells.places.rows()),
                gap = cell_gap(ui, w, h);
    for (Index i = 0; i < cells.places.rows(); ++i)
        for (Index j = 0; j < cells.places.cols(); ++j) {
            const float place = cells.places(i, j), overlap = gap > 0 ? 0 : 0.5f;
            const Rect cell{r.x + w * float(j), r.y + h * float(i), w - gap + overlap, h - gap + overlap};
            if (place >= 0) {
                const Rgb c = color_of(cells.colors, place);
                ui.fill(cell, IM_COL32(c.r, c.g, c.b, 255));
            } else if (place == kMaskedCell && gap > 0) {
                ui.hatch(cell, ui.colors->hatch);
            }
        }
}

void draw_on_screen(Ui& ui, Rect r, const MatrixCells& cells) {
    const auto rows = float(cells.places.rows()), columns = float(cells.places.cols());
    const Rect place = ui.pixels(r);
    const auto covered = [](float entries, float pixels) {
        return std::max(1, int(std::ceil(entries / std::max(pixels, 1.0f) - 1e-3f)));
    };
    const int down = covered(rows, place.h), across = covered(columns, place.w);
    HeatmapDraw d;
    d.style = {ui.heat->texture_of(cells.colors),
               1,
               Axis::rows,
               as_vec4(ui.colors->bg1),
               as_vec4(ui.colors->hatch),
               size::hatch * ui.scale};
    Matrix finer;
    if (down > 1 || across > 1) finer = reduced(cells.places, down, across, cells.diverges);
    const Matrix& shown = finer.size() ? finer : cells.places;
    d.values = ui.heat->texture_of(shown);
    d.across = narrow<int>(shown.cols());
    d.down = narrow<int>(shown.rows());
    d.gap = cell_gap(ui, r.w / columns, r.h / rows) * ui.scale;
    d.rect = {place.x, place.y, place.w, place.h};
    ui.heat->draw(*ui.list, d);
}

}  // namespace

Matrix places_of(const Matrix& values, float largest) {
    const Matrix places = values / std::max(largest, 1e-12f);
    return (values.array() < 0).select(Matrix::Constant(values.rows(), values.cols(), kMaskedCell), places);
}

Matrix signed_places_of(const Matrix& values, float largest) {
    const float per = 1 / std::max(largest, 1e-12f);
    return values.unaryExpr([per](float v) {
        return std::isnan(v)  ? v
               : is_masked(v) ? kMaskedCell
                              : 0.5f + 0.5f * std::clamp(v * per, -1.0f, 1.0f);
    });
}

float largest_size(const Matrix& values) {
    float out = 1e-6f;
    for (Index i = 0; i < values.size(); ++i)
        if (const float size = std::abs(values.data()[i]); size > out) out = size;  // not so of NaN
    return out;
}

float cell_gap(const Ui& ui, float width, float height) {
    return std::min(width, height) >= kRoomy ? ui.line() : 0;
}

void draw_matrix(Ui& ui, Rect r, MatrixCells cells) {
    if (cells.places.size() == 0 || r.w <= 0 || r.h <= 0 || ui.probe || !ui.in_sight(r)) return;
    cells.places = cells.places.unaryExpr([](float v) { return std::isnan(v) ? kNoCell : v; });
    if (ui.on_page())
        draw_on_page(ui, r, cells);
    else
        draw_on_screen(ui, r, cells);
}

}  // namespace headlight

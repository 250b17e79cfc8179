// The map of influence and the attention beside it, cell for cell.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "figure/colormap.h"
#include "paint/matrix.h"
#include "parts/map_parts.h"
#include "parts/token_axis.h"
#include "views/influence/influence.h"

namespace headlight {

namespace {

constexpr float kInfluenceNames = 76, kInfluenceTitle = 22, kBetweenMaps = 28, kInfluenceFoot = 44;

/// Each row as shares of its sum, as attention's rows are; not measured yet: no cell; out of reach: masked.
Matrix row_shares_of(const Matrix& norms) {
    Matrix out = norms;
    for (Index i = 0; i < out.rows(); ++i) {
        const float sum = out.row(i).sum();
        for (Index j = 0; j < out.cols(); ++j) {
            if (std::isnan(sum))
                out(i, j) = kNoCell;
            else
                out(i, j) = norms(i, j) > 0 ? norms(i, j) / sum : kMaskedCell;
        }
    }
    return out;
}

constexpr float kLeastMap = 40;  // high

/// Weights on the color map, up to the largest; masked and missing cells as they are.
Matrix places_of_weights(const Matrix& weights, float largest) {
    Matrix out = weights;
    for (Index i = 0; i < out.size(); ++i)
        if (float& w = out.data()[i]; w >= 0) w = std::min(1.0f, w / largest);
    return out;
}

struct SideBySide {
    Grid left, right;
    float names;  // above the columns
};

SideBySide arrange_maps(Scene& s, Rect area, const std::vector<std::string>& keys, int rows) {
    constexpr float kLargest = 40;
    const int columns = isize(keys);
    const float slant = names_height(Lean::slanted, widest_of(s.ui, kCaptionMono, keys, 96));
    SideBySide out{{}, {}, slant};
    take_top(area, kInfluenceTitle + out.names);
    take_bottom(area, kInfluenceFoot);
    take_left(area, kInfluenceNames);
    const float wide = (area.w - kBetweenMaps - (columns > 1 ? out.names * 0.6f : 0)) / 2;
    const float side = std::min({wide / float(columns), std::max(area.h, kLeastMap) / float(rows), kLargest});
    out.left = grid_at(area.min(), rows, columns, side, side);
    out.right = grid_at({area.x + wide + kBetweenMaps, area.y}, rows, columns, side, side);
    return out;
}

/// The same cell in both maps, and in every other view.
void answer_maps(Scene& s, const Grid& g, const char* path) {
    auto& pointed = s.of<InfluenceState>().pointed;
    const Hit hit = s.ui.hit(path, g.view);
    if (!hit.hovered) return;
    pointed = g.at(hit.mouse);
    s.point_at(pointed);
    if (hit.clicked) s.lock(pointed);
    const auto [row, column] = *pointed;
    const auto& state = s.of<InfluenceState>();
    std::string text = token_at(s.query_labels(), row) + " → " + token_at(s.key_labels(), column);
    if (const InfluenceMapFound found = influence_map_found(s); found.map) {
        const Matrix norms = of_keys(found.map->norms, *s.sentence()->trace, s.block());
        text += std::isnan(norms(row, column))
                    ? "  not measured yet"
                    : std::string("  ") + influence_word(s) + " " + fine_number(norms(row, column), 4);
    }
    if (const AttentionBeside* attention = attention_beside(s))
        text += state.beside == InfluenceBeside::head || state.beside == InfluenceBeside::layer
                    ? "  weight " + fine_number(std::max(0.0f, attention->weights(row, column)), 3)
                    : "  share " + fine_number(std::max(0.0f, attention->weights(row, column)), 3);
    tell_at_pointer(s, path, hit, text);
}

struct ShownMap {
    const Grid& grid;
    std::string title;
    const Matrix& weights;
    float names;
    bool row_names;
    float title_end;  // the right end of the room for its title
};

void name_map(Scene& s, const ShownMap& m, const std::optional<std::pair<int, int>>& cell) {
    Ui& ui = s.ui;
    const float x = m.row_names ? m.grid.view.x - kInfluenceNames : m.grid.view.x;
    write(ui, {x, m.grid.view.y - m.names - kInfluenceTitle, m.title_end - x, kInfluenceTitle}, kCaption,
          ui.colors->t2, m.title);
    if (m.row_names) {
        TokenAxis rows{names_of(s.query_labels())};
        rows.room = kInfluenceNames;
        rows.lit = cell ? cell->first : -1;
        rows.draw_rows(ui, m.grid);
    }
    TokenAxis columns{names_of(s.key_labels())};
    columns.lean = Lean::slanted;
    columns.lit = cell ? cell->second : -1;
    columns.lit_ink = ui.colors->t1;
    columns.lit_back = ui.colors->bg4;
    columns.draw_columns(ui, m.grid);
}

void draw_shown_map(Scene& s, const ShownMap& m, const char* path,
                    const std::optional<std::pair<int, int>>& cell) {
    Ui& ui = s.ui;
    const Colormap& map = colormap(s.session.preferences.colormap, ui.colors->dark);
    const float largest = std::max(m.weights.maxCoeff(), 1e-6f);
    draw_matrix(ui, m.grid.whole(), {places_of_weights(m.weights, largest), map});
    answer_maps(s, m.grid, path);
    if (cell && cell->first < m.grid.rows && cell->second < m.grid.columns)
        draw_crosshair(ui, {m.grid.view, m.grid.cell(cell->first, cell->second), 0, 0,
                            s.session.selection.hovered.cell ? ui.colors->hover : ui.colors->accent, 2});
    name_map(s, m, cell);
    std::optional<float> marked;
    if (cell && cell->first < m.grid.rows && cell->second < m.grid.columns)
        marked = std::clamp(m.weights(cell->first, cell->second) / largest, 0.0f, 1.0f);
    ColorBar bar = range_bar(map, double(largest));
    bar.marked = marked;
    draw_color_bar(ui, bar, level_bar(m.grid, m.title_end));
}

/// "Frobenius norms, estimated from 8 random ±1 directions an output, standard error 4 %".
std::string precision_of(const InfluenceMap& map) {
    if (map.asked.of == InfluenceOf::metric) return "Gradient norms, exact";
    if (map.asked.of == InfluenceOf::relevance)
        return "Patterns weighted by their gradients, through all layers";
    if (map.asked.probes == 0) return "Frobenius norms, exact";
    std::vector<float> errors;
    for (Index i = 0; i < map.norms.size(); ++i)
        if (map.norms.data()[i] > 0) errors.push_back(map.standard_error.data()[i] / map.norms.data()[i]);
    std::string out = "Frobenius norms, estimated from " + std::to_string(map.asked.probes) +
                      " random ±1 directions an output";
    if (errors.empty()) return out;
    const auto middle = errors.begin() + std::ptrdiff_t(errors.size() / 2);
    std::nth_element(errors.begin(), middle, errors.end());
    return out + ", standard error " + percent(*middle);
}

void draw_agreement(Scene& s, Rect line, const InfluenceMapFound& found, const AttentionBeside* attention) {
    std::string text = found.map ? precision_of(*found.map) : "";
    if (attention && !std::isnan(attention->correlation) && attention->rows > 0) {
        const std::string r = number(attention->correlation, 2);
        text =
            "Rank correlation ρ = " + r + " (mean of " + std::to_string(attention->rows) + " rows). " + text;
        s.ui.name("influence/correlation", line);
    }
    if (!text.empty()) write(s.ui, line, kCaption, s.ui.colors->t2, text + ".");
}

}  // namespace

void draw_influence_maps(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const InfluenceMapFound found = influence_map_found(s);
    auto& state = s.of<InfluenceState>();
    if (!ui.on_page()) state.pointed.reset();
    const Rect foot = take_bottom(area, size::row, gap::tight);
    if (!found.refusal.empty()) {
        ui.text.draw_wrapped(area.x, area.y + gap::medium, area.w, kBody, ui.colors->t2, found.refusal);
        return;
    }
    const SideBySide at = arrange_maps(s, area, s.key_labels(), s.queries());
    if (!ui.on_page() && at.left.view.y + kLeastMap + kInfluenceFoot > area.bottom())
        return caption(ui, area, "Too little room for the maps: enlarge the window.");
    const auto cell = s.shown_cell();
    if (found.map) {
        const Matrix norms = of_keys(found.map->norms, *s.sentence()->trace, s.block());
        if (norms.rows() == at.left.rows)
            draw_shown_map(s,
                           {at.left, influence_map_name(s), row_shares_of(norms), at.names, true,
                            at.right.view.x - gap::medium},
                           "influence/map", cell);
    }
    const AttentionBeside* attention = attention_beside(s);
    if (attention && attention->weights.rows() == at.right.rows)
        draw_shown_map(
            s, {at.right, attention_beside_name(s), attention->weights, at.names, false, area.right()},
            "influence/attention", cell);
    draw_agreement(s, foot, found, attention);
}

}  // namespace headlight

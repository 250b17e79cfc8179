// Draws the map of influence and the attention next to it, cell for cell.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "figure/colormap.h"
#include "parts/matrix_view.h"
#include "views/influence/influence.h"

namespace headlight {

namespace {

constexpr float kInfluenceNames = 76, kInfluenceTitle = 22, kBetweenMaps = 28;

/// Divides each row by its sum, as rows of attention sum to 1. NaN: not measured yet; 0: masked.
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

constexpr float kLeastMap = 40;  // height

/// Scales weights by the largest; keeps masked and missing cells.
Matrix places_of_weights(const Matrix& weights, float largest) {
    Matrix out = weights;
    for (Index i = 0; i < out.size(); ++i)
        if (float& w = out.data()[i]; w >= 0) w = std::min(1.0f, w / largest);
    return out;
}

/// "ball 4 → Lily 0  influence 0.12  weight 0.3".
std::string influence_tip(const Scene& s, int row, int column) {
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
    return text;
}

MatrixView weights_matrix(const Scene& s, const char* path, const Matrix& weights) {
    constexpr float kLargest = 40, kLongestName = 96;
    const Colormap& colors = colormap(s.session.preferences.colormap, s.ui.colors->dark);
    const float largest = largest_size(weights.cwiseMax(0));
    MatrixView out{.path = path,
                   .cells = {places_of_weights(weights, largest), colors},
                   .rows = {names_of(s.query_labels()), "query"},
                   .columns = {names_of(s.key_labels()), "key"},
                   .bar = range_bar(colors, double(largest)),
                   .max_w = kLargest,
                   .max_h = kLargest,
                   .ratio = 1,
                   .free = kBetweenMaps,
                   .tip = [&s](int row, int column) { return influence_tip(s, row, column); },
                   .inspected = true,
                   .hovered = s.session.selection.hovered.cell.has_value()};
    out.rows.room = kInfluenceNames;
    out.columns.room = kLongestName;
    if (const auto cell = s.shown_cell();
        cell && cell->first < weights.rows() && cell->second < weights.cols())
        out.marked = cell;
    return out;
}

/// Removes the row names of the second map, because it shares those of the first.
void unname_rows(MatrixView& view) {
    view.rows.name = nullptr;
    view.rows.room = 0;
    view.rows.title = view.columns.title = "";
}

struct TwoMaps {
    Rect first;  // with row names
    float away;  // from the first to the second
};

TwoMaps rooms_of_maps(Rect area) {
    const float names = kInfluenceNames + gap::tight;
    take_right(area, kBetweenMaps);  // for the last slanted name
    const float wide = (area.w - names - kBetweenMaps) / 2;
    return {{area.x, area.y, names + wide, area.h}, wide + kBetweenMaps};
}

/// Draws a map; its focused cell is that of the other map and of every view.
void draw_one_map(Scene& s, const MatrixLayout& l, MatrixView& view, Rect title, const std::string& name) {
    const MatrixAnswer answer = answer_matrix(s, l, view);
    if (answer.hovered) {
        s.of<InfluenceState>().pointed = answer.hovered;
        s.point_at(answer.hovered);
    }
    if (answer.pressed) s.lock(answer.hovered);
    write(s.ui, title, kCaption, s.ui.colors->t2, name);
    draw_matrix_view(s, l, view);
}

/// "Frobenius norms, estimated (8 random probes, ±4 %)": ± is the median standard error.
std::string precision_of(const InfluenceMap& map) {
    if (map.asked.of == InfluenceOf::metric) return "Gradient norms, exact";
    if (map.asked.of == InfluenceOf::relevance)
        return "Patterns weighted by their gradients, through all layers";
    if (map.asked.probes == 0) return "Frobenius norms, exact";
    std::vector<float> errors;
    for (Index i = 0; i < map.norms.size(); ++i)
        if (map.norms.data()[i] > 0) errors.push_back(map.standard_error.data()[i] / map.norms.data()[i]);
    std::string out = "Frobenius norms, estimated (" + std::to_string(map.asked.probes) + " random probes";
    if (errors.empty()) return out + ")";
    const auto middle = errors.begin() + std::ptrdiff_t(errors.size() / 2);
    std::nth_element(errors.begin(), middle, errors.end());
    return out + ", ±" + percent(*middle) + ")";
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
    const Rect titles = take_top(area, kInfluenceTitle);
    const auto [first, away] = rooms_of_maps(area);
    const Matrix none = Matrix::Constant(s.queries(), s.keys(), kNoCell);
    const MatrixLayout at = arrange_matrix(ui, first, weights_matrix(s, "influence/map", none));
    if (!ui.on_page() && at.grid.view.y + kLeastMap + kLevelBarRoom > area.bottom())
        return caption(ui, area, "Too little room for the maps: enlarge the window.");
    if (found.map) {
        const Matrix norms = of_keys(found.map->norms, *s.sentence()->trace, s.block());
        MatrixView view = weights_matrix(s, "influence/map", row_shares_of(norms));
        if (norms.rows() == s.queries())
            draw_one_map(s, at, view, {titles.x, titles.y, first.w, titles.h}, influence_map_name(s));
    }
    const AttentionBeside* attention = attention_beside(s);
    if (attention && attention->weights.rows() == s.queries()) {
        MatrixView view = weights_matrix(s, "influence/attention", attention->weights);
        unname_rows(view);
        const float left = at.grid.view.x + away;
        draw_one_map(s, beside(at, away), view, {left, titles.y, area.right() - left, titles.h},
                     attention_beside_name(s));
    }
    draw_agreement(s, foot, found, attention);
}

}  // namespace headlight

// The three kinds of attention of one layer, side by side, beside the diagram that they are numbered in.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/utf8.h"
#include "paint/matrix.h"
#include "parts/token_axis.h"
#include "views/architecture/architecture.h"
#include "views/views.h"

namespace headlight {

namespace {

const char* explained_kind(AttentionKind kind) {
    switch (kind) {
        case AttentionKind::encoder:
            return "Queries, keys and values all come from the source: every word reads the whole sentence, "
                   "in both directions.";
        case AttentionKind::decoder:
            return "All three come from the target: a word reads itself and what was written before it. What "
                   "comes later is masked.";
        case AttentionKind::cross:
            return "Queries come from the target, keys and values from the source: what is being written "
                   "reads what is translated.";
        case AttentionKind::blocks:
            break;
    }
    return "Queries, keys and values come from the same tokens.";
}

const char* kind_name(AttentionKind kind) {
    return kind == AttentionKind::encoder   ? "Encoder self-attention"
           : kind == AttentionKind::decoder ? "Masked self-attention"
           : kind == AttentionKind::cross   ? "Cross-attention"
                                            : "Self-attention";
}

constexpr float kShapeNames = 68, kMapHead = 96, kTextFoot = 110, kWidestCell = 30, kNumberSide = 20,
                kWidestName = 70;

void draw_labels(Scene& s, const Grid& g, const BlockPattern& p) {
    Ui& ui = s.ui;
    const auto& queries = s.sentence()->query_labels(p.block);
    const auto& keys = s.sentence()->key_labels(p.block);
    TokenAxis rows{[&](int r) { return queries[r * p.step]; }};
    rows.room = kShapeNames;
    rows.ink = [&](int) { return ui.colors->t2; };
    rows.draw_rows(ui, g);
    TokenAxis columns{[&](int c) { return ui.text.fitted(kCaptionMono, keys[c * p.step], kWidestName); }};
    columns.lean = lean_of(columns.widest(ui, g.columns), g.w);
    columns.ink = rows.ink;
    columns.draw_columns(ui, g);
}

void draw_cells(Scene& s, Rect map, const BlockPattern& p) {
    draw_matrix(s.ui, map,
                {places_of(p.weights, std::max(p.weights.maxCoeff(), 1e-6f)),
                 colormap(s.session.preferences.colormap, s.ui.colors->dark)});
}

Grid arrange(const Ui& ui, Rect area, const BlockPattern& p) {
    take_top(area, kMapHead);
    take_bottom(area, kTextFoot);
    take_left(area, kShapeNames, gap::tight);
    take_right(area, gap::small);
    const auto rows = narrow<int>(p.weights.rows()), columns = narrow<int>(p.weights.cols());
    float w = std::min(area.w / float(columns), kWidestCell), h = std::min(w, area.h / float(rows));
    w = std::min(w, std::max(h, 3.0f));
    if (w >= 4) w = ui.whole(w);
    if (h >= 4) h = ui.whole(h);
    return grid_at(area.min(), rows, columns, w, h);
}

/// The weight under the mouse; a click opens the heat map.
void answer_kind(Scene& s, const Grid& g, const BlockPattern& p, const std::string& path) {
    const Hit hit = s.ui.control(path, g.view);
    if (hit.hovered) {
        const auto& queries = s.sentence()->query_labels(p.block);
        const auto& keys = s.sentence()->key_labels(p.block);
        s.ui.frame(inset(g.view, -2, -2), s.ui.colors->hover, 2);
        const auto [row, column] = g.at(hit.mouse);
        const int q = std::min(row * p.step, isize(queries) - 1),
                  k = std::min(column * p.step, isize(keys) - 1);
        const float weight = p.weights(row, column);
        s.ui.tooltip(path, hit,
                     token_at(queries, q) + " → " + token_at(keys, k) + ": " +
                         (weight < 0 ? "masked" : number(weight, 3)) + ". Click opens the heat map.");
    }
    if (!hit.clicked) return;
    s.select_block(p.block);
    s.send("view head");
}

/// One kind: number, name, map with tokens, what it reads.
void draw_kind(Scene& s, Rect area, const BlockPattern& p, int which) {
    Ui& ui = s.ui;
    const AttentionKind kind = s.model()->config.block(p.block).kind;
    Rect head = area;
    head = take_top(head, gap::wide);
    draw_kind_number(ui, take_left(head, kNumberSide, gap::small).middle(), which);
    write(ui, head, kBody, ui.colors->t1, kind_name(kind));
    const Grid g = arrange(ui, area, p);
    draw_labels(s, g, p);
    draw_cells(s, g.view, p);
    answer_kind(s, g, p, "model/map/" + std::to_string(which));
    Rect text{area.x, g.view.bottom() + gap::medium, area.w - gap::large, kTextFoot};
    take_top(text,
             ui.text.draw_wrapped(text.x, text.y, text.w, kCaption, ui.colors->t2, explained_kind(kind)), 2);
    const std::string step = std::to_string(p.step),
                      pooled = p.step > 1 ? "Each cell is the largest of " + step + " × " + step + ". " : "";
    caption(ui, take_top(text, size::line), pooled + "Largest weight " + number(p.weights.maxCoeff(), 3));
}

}  // namespace

void draw_kind_number(Ui& ui, ImVec2 at, int number) {
    ui.disc(at, kNumberSide / 2, ui.colors->accent);
    ui.text.draw_centered(at.x, at.y, kCaptionMono, ui.colors->bg1, std::to_string(number));
}

void draw_layer_maps(Scene& s, Rect area) {
    const auto* found = s.found<LayerPatternsRequest>();
    if (!found || !s.sentence()) return;
    const auto count = isize(found->answer);
    for (int i = 0; i < count; ++i)
        draw_kind(s, nth_column(area, i, count, gap::large + gap::tight), found->answer[i], i + 1);
}

}  // namespace headlight

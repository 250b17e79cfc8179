// Draws the three kinds of attention of one layer side by side, numbered as in the diagram.
#include <algorithm>

#include "base/cast.h"
#include "base/utf8.h"
#include "model/engine.h"
#include "parts/matrix_view.h"
#include "views/architecture/architecture.h"
#include "views/views.h"

namespace headlight {

namespace {

const char* explained_kind(AttentionKind kind) {
    switch (kind) {
        case AttentionKind::encoder:
            return "Queries, keys and values come from the source: each token attends to the whole sentence.";
        case AttentionKind::decoder:
            return "Queries, keys and values come from the target: each token attends to itself and earlier "
                   "ones. Later ones are masked.";
        case AttentionKind::cross:
            return "Queries come from the target, keys and values from the source: target tokens attend to "
                   "source tokens.";
        case AttentionKind::beside:
            return "Reads what attention beside it reads; both are added to the stream.";
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

constexpr float kShapeNames = 68, kTextFoot = 110, kNumberSide = 20;

MatrixView kind_matrix(const Scene& s, const BlockPattern& p) {
    constexpr float kWidestCell = 30, kWidestName = 70;
    const auto& queries = s.sentence()->query_labels(p.block);
    const auto& keys = s.sentence()->key_labels(p.block);
    const bool dark = s.ui.colors->dark;
    const float largest = std::max(1e-6f, largest_entry(p.weights));
    MatrixView out{
        .cells = p.is_mixing ? MatrixCells{signed_places_of(p.weights, largest), signed_colormap(dark), true}
                             : MatrixCells{places_of(p.weights, largest),
                                           colormap(s.session.preferences.colormap, dark)},
        .rows = {.name = [&](int r) { return queries[r * p.step]; }, .room = kShapeNames},
        .columns = {.name = [&](int c) { return keys[c * p.step]; }, .room = kWidestName},
        .max_w = kWidestCell,
        .max_h = kWidestCell,
        .ratio = 1};
    out.rows.ink = out.columns.ink = [&s](int) { return s.ui.colors->t2; };
    return out;
}

/// Shows the weight under the mouse; click opens the heat map.
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
                         (is_masked(weight) ? "masked"
                          : p.is_mixing     ? signed_number(weight, 3)
                                            : number(weight, 3)) +
                         ". Click to open the heat map.");
    }
    if (!hit.clicked) return;
    s.select_block(p.block);
    s.send("view head");
}

void draw_kind(Scene& s, Rect area, const BlockPattern& p, int which) {
    Ui& ui = s.ui;
    const AttentionKind kind = full_config(*s.model()).block(p.block).kind;
    Rect head = area;
    head = take_top(head, gap::wide);
    draw_kind_number(ui, take_left(head, kNumberSide, gap::small).middle(), which);
    write(ui, head, kBody, ui.colors->t1, p.is_mixing ? "Recurrence" : kind_name(kind));
    const MatrixView view = kind_matrix(s, p);
    const MatrixLayout l =
        arrange_matrix(ui, {area.x, area.y + gap::section, area.w, area.h - gap::section - kTextFoot}, view);
    const Grid& g = l.grid;
    draw_matrix_view(s, l, view);
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

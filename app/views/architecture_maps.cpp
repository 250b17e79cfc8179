// The three kinds of attention of one layer, side by side, beside the diagram that they are numbered in.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/utf8.h"
#include "paint/matrix.h"
#include "views/architecture.h"
#include "views/map_parts.h"
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

void draw_labels(Scene& s, Rect map, float cell_w, float cell_h, const BlockPattern& p) {
    Ui& ui = s.ui;
    const auto& queries = s.sentence()->query_labels(p.block);
    const auto& keys = s.sentence()->key_labels(p.block);
    const int down = label_step(cell_h, 15), across = label_step(cell_w, 16);
    for (int r = 0; r < p.weights.rows(); r += down)
        ui.text.draw_right(map.x - 6, map.y + cell_h * (float(r) + 0.5f), kCaptionMono, ui.colors->t2,
                           ui.text.fitted(kCaptionMono, queries[r * p.step], 62));
    for (int c = 0; c < p.weights.cols(); c += across)
        draw_slanted(ui, {map.x + cell_w * (float(c) + 0.5f), map.y - 8}, ui.colors->t2,
                     ui.text.fitted(kCaptionMono, keys[c * p.step], 70));
}

void draw_cells(Scene& s, Rect map, const BlockPattern& p) {
    draw_matrix(s.ui, map,
                {places_of(p.weights, std::max(p.weights.maxCoeff(), 1e-6f)),
                 colormap(s.session.preferences.colormap, s.ui.colors->dark)});
}

/// One kind: number, name, map with tokens, what it reads. A click opens its heat map.
void draw_kind(Scene& s, Rect area, const BlockPattern& p, int number) {
    Ui& ui = s.ui;
    const AttentionKind kind = s.model()->config.block(p.block).kind;
    draw_kind_number(ui, {area.x + 10, area.y + 12}, number);
    ui.text.draw(area.x + 28, area.y + 12, kBody, ui.colors->t1,
                 ui.text.fitted(kBody, kind_name(kind), area.w - 34));
    const float left = area.x + 72, top = area.y + 96, room = area.right() - left - 8;
    const auto columns = float(p.weights.cols()), rows = float(p.weights.rows());
    float w = std::min(room / columns, 30.0f), h = std::min(w, (area.h - (96 + 110)) / rows);
    w = std::min(w, std::max(h, 3.0f));
    if (w >= 4) w = ui.whole(w);
    if (h >= 4) h = ui.whole(h);
    const Rect map{left, top, w * columns, h * rows};
    const std::string path = "model/map/" + std::to_string(number);
    const Hit hit = ui.control(path, map);
    draw_labels(s, map, w, h, p);
    draw_cells(s, map, p);
    if (hit.hovered) {
        ui.frame({map.x - 2, map.y - 2, map.w + 4, map.h + 4}, ui.colors->hover, 2);
        const int q = std::clamp(int((hit.mouse.y - map.y) / h) * p.step, 0,
                                 isize(s.sentence()->query_labels(p.block)) - 1),
                  k = std::clamp(int((hit.mouse.x - map.x) / w) * p.step, 0,
                                 isize(s.sentence()->key_labels(p.block)) - 1);
        const float weight = p.weights(q / p.step, k / p.step);
        ui.tooltip(path, hit,
                   token_at(s.sentence()->query_labels(p.block), q) + " → " +
                       token_at(s.sentence()->key_labels(p.block), k) + ": " +
                       (weight < 0 ? "masked" : headlight::number(weight, 3)) +
                       ". Click opens the heat map.");
    }
    if (hit.clicked) {
        s.select_block(p.block);
        s.send("view head");
    }
    const float below = ui.text.draw_wrapped(area.x, map.bottom() + 12, area.w - 16, kCaption, ui.colors->t2,
                                             explained_kind(kind));
    const std::string pooled = p.step > 1 ? "Each cell is the largest of " + std::to_string(p.step) + " × " +
                                                std::to_string(p.step) + ". "
                                          : "";
    ui.text.draw(area.x, map.bottom() + 24 + below, kCaption, ui.colors->t3,
                 pooled + "Largest weight " + headlight::number(p.weights.maxCoeff(), 3));
}

}  // namespace

void draw_kind_number(Ui& ui, ImVec2 at, int number) {
    ui.disc(at, 10, ui.colors->accent);
    ui.text.draw_centered(at.x, at.y, kCaptionMono, ui.colors->bg1, std::to_string(number));
}

void draw_layer_maps(Scene& s, Rect area) {
    const auto* found = s.found<LayerPatternsWanted>();
    if (!found || !s.sentence()) return;
    const auto count = isize(found->answer);
    const float gap = 20, wide = (area.w - gap * float(count - 1)) / float(count);
    for (int i = 0; i < count; ++i)
        draw_kind(s, {area.x + (wide + gap) * float(i), area.y, wide, area.h}, found->answer[i], i + 1);
}

std::vector<Question> ask_architecture(const Scene& s) {
    if (s.model()->config.stacks.size() < 2 || !s.of<ArchitectureState>().maps) return {};
    return {LayerPatternsWanted{s.model()->config.block(s.session.selection.block).layer,
                                s.of<ArchitectureState>().mean ? -1 : s.session.selection.head}};
}

}  // namespace headlight

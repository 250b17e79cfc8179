// ΔE: how far attention moves each token, layer by layer, and what one such step is made of.
#include "views/delta.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "paint/matrix.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr const char* kMoles = "American shrew mole. One mole of carbon dioxide. Take a biopsy of the mole.";

void draw_delta_toolbar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    float x = area.x + 24;
    const float y = area.y + 24;
    const bool roomy = area.w > 860;  // else the choices speak for themselves
    if (const int c =
            ui.choice(x, y, roomy ? "Show" : "", "delta/show", {"‖ΔE‖ ÷ ‖E‖", "‖ΔE‖", "cosine E, E + ΔE"},
                      static_cast<int>(s.of<DeltaState>().show));
        c >= 0)
        s.of<DeltaState>().show = static_cast<DeltaShow>(c);
    if (const int c = ui.choice(x, y, roomy ? "Scale" : "", "delta/scale",
                                {"scale per layer", "shared scale"}, s.of<DeltaState>().per_layer ? 0 : 1);
        c >= 0)
        s.of<DeltaState>().per_layer = c == 0;
    const std::string of_head =
        "by key, head " + head_name(s.model()->config, s.session.selection.block, s.session.selection.head);
    if (const int c = ui.choice(x, y, roomy ? "Split" : "", "delta/split", {"by head", "by key", of_head},
                                static_cast<int>(s.of<DeltaState>().split));
        c >= 0)
        s.of<DeltaState>().split = static_cast<DeltaSplitBy>(c);
    if (const int c = ui.choice(x, y, roomy ? "Arrows" : "", "delta/arrows", {"this layer", "all layers"},
                                s.of<DeltaState>().paths ? 1 : 0);
        c >= 0)
        s.of<DeltaState>().paths = c == 1;
    if (s.model()->config.can.read_image || x + 90 > area.right()) return;
    const Hit try_it = ui.control("delta/moles", {x, y - 14, 86, 28});
    ui.text.draw(x, y, kCaption, try_it.hovered ? ui.colors->t1 : ui.colors->t2, "Three moles");
    ui.tooltip("delta/moles", try_it,
               std::string("Try: ") + kMoles + " Attention moves the three words apart.");
    if (try_it.clicked) s.send("text", kMoles);
}

const Matrix& shown_map(const Scene& s, const DeltaMaps& maps, Matrix& ratio) {
    if (s.of<DeltaState>().show == DeltaShow::norm) return maps.delta;
    if (s.of<DeltaState>().show == DeltaShow::cosine) return maps.cosine;
    ratio = maps.delta.cwiseQuotient(maps.before.cwiseMax(1e-12f));
    return ratio;
}

struct MapLayout {
    Rect map;
    float w, h;
};

MapLayout arrange(Scene& s, Rect area, Index rows, Index columns) {
    Ui& ui = s.ui;
    const float room = std::min(area.w * 0.46f, 420.0f) - (128 + 8);
    const float w = std::clamp(ui.whole(room / float(columns)), 4.0f, 44.0f);
    const float top = area.y + 88, high = area.bottom() - top - 44,
                h = std::clamp(ui.whole(high / float(rows)), 22.0f, 40.0f);
    return {{area.x + 128, top, w * float(columns), std::min(high, h * float(rows))}, w, h};
}

void draw_cells(Scene& s, const MapLayout& l, const Matrix& values) {
    Ui& ui = s.ui;
    const Colormap& map = colormap(s.session.preferences.colormap, ui.colors->dark);
    const bool cosine = s.of<DeltaState>().show == DeltaShow::cosine;
    Matrix places(values.rows(), values.cols());
    for (Index c = 0; c < values.cols(); ++c) {
        const auto shared =
            s.of<DeltaState>().per_layer ? values.middleCols(c, 1) : values.leftCols(values.cols());
        const float high = shared.maxCoeff(), low = cosine ? shared.minCoeff() : 0;
        for (Index r = 0; r < values.rows(); ++r)
            places(r, c) = high > low ? std::max(0.0f, (values(r, c) - low) / (high - low)) : 1;
    }
    const Rect whole{l.map.x, l.map.y - s.of<DeltaState>().scroll, l.map.w, l.h * float(values.rows())};
    draw_matrix(ui, whole, {places, map});
    for (Index r = 0; r < values.rows() && l.w >= 38; ++r) {
        const float y = whole.y + l.h * (float(r) + 0.5f);
        if (y + l.h < l.map.y || y - l.h > l.map.bottom()) continue;
        for (Index c = 0; c < values.cols(); ++c)
            ui.text.draw_centered(l.map.x + l.w * (float(c) + 0.5f), y, kCaptionMono,
                                  ink_on(color_at(map, places(r, c))),
                                  number(values(r, c), values(r, c) < 10 ? 2 : 1));
    }
}

void draw_labels(Scene& s, const MapLayout& l, const DeltaMaps& maps, const std::vector<std::string>& labels,
                 int token) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    ui.text.draw_right(l.map.x - 12, l.map.y - 22, kCaption, ui.colors->t3, "layer");
    const size_t step = label_step(l.w, 18);
    for (int i = 0; i < isize(maps.blocks); ++i) {
        const AttentionBlock block = c.block(maps.blocks[i]);
        const std::string name =
            (block.kind == AttentionKind::cross ? "×" : "") + std::to_string(block.layer);
        if (i % step && maps.blocks[i] != delta_block(s)) continue;
        ui.text.draw_centered(l.map.x + l.w * (float(i) + 0.5f), l.map.y - 22, kCaptionMono,
                              maps.blocks[i] == delta_block(s) ? ui.colors->accent_text : ui.colors->t2,
                              name);
    }
    ui.clip({l.map.x - 128, l.map.y, 128, l.map.h});
    for (int i = 0; i < isize(labels); ++i) {
        const float y = l.map.y + l.h * (float(i) + 0.5f) - s.of<DeltaState>().scroll;
        if (y + l.h < l.map.y || y - l.h > l.map.bottom()) continue;
        const bool on = i == token;
        if (on) ui.fill({l.map.x - 108, y - l.h / 2, 104, l.h - ui.line()}, ui.colors->accent_fill);
        const std::string label = ui.text.fitted(kCaptionMono, labels[i], 64);
        ui.text.draw_right(l.map.x - 12, y, kCaptionMono, on ? ui.colors->accent_text : ui.colors->t1, label);
        ui.text.draw_right(l.map.x - 80, y, kCaptionMono, on ? ui.colors->accent_text : ui.colors->t3,
                           std::to_string(i));
    }
    ui.unclip();
}

void answer_map(Scene& s, const MapLayout& l, const DeltaMaps& maps) {
    const Hit h = s.ui.hit("delta/map", {l.map.x - 108, l.map.y, l.map.w + 108, l.map.h});
    if (!h.hovered) return;
    const int row = int((h.mouse.y - l.map.y + s.of<DeltaState>().scroll) / l.h),
              column = int(std::floor((h.mouse.x - l.map.x) / l.w));
    if (row < 0 || row >= maps.delta.rows()) return;
    const bool on_map = column >= 0 && column < maps.delta.cols();
    if (on_map) s.pointed.block = maps.blocks[column];
    if (row < s.queries()) s.point_at(std::pair{row, s.heaviest_key(row)});
    if (!h.clicked) return;
    if (on_map) s.select_block(*s.pointed.block);
    if (row < s.queries()) lock_token(s, row);
}

std::string scale_note(const Scene& s) {
    return std::string(s.of<DeltaState>().per_layer ? "Scale per layer." : "Shared scale.") +
           (s.of<DeltaState>().show == DeltaShow::cosine ? " 1 = direction unchanged." : "");
}

}  // namespace

int delta_query(const Scene& s) {
    const auto cell = s.shown_cell();
    return cell ? cell->first : 0;
}

int delta_block(const Scene& s) {
    return s.session.selection.hovered.block.value_or(s.session.selection.block);
}

std::vector<Question> ask_delta(const Scene& s) {
    const int block = delta_block(s), stack = s.model()->config.block(block).stack;
    return {DeltaMapsWanted{stack},
            DeltaSplitWanted{
                block, delta_query(s),
                s.of<DeltaState>().split == DeltaSplitBy::key_of_head ? s.session.selection.head : -1},
            ProjectionWanted{stack, s.of<DeltaState>().paths ? -1 : block}};
}

float draw_delta_map(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<DeltaMapsWanted>();
    if (!found) return area.x;
    const DeltaMaps& maps = found->answer;
    const auto& labels = s.sentence()->labels[found->asked.stack];
    Matrix ratio;
    const Matrix& values = shown_map(s, maps, ratio);
    const MapLayout l = arrange(s, area, values.rows(), values.cols());
    const int token = delta_query(s);
    s.of<DeltaState>().scroll = scrolled(ui, {l.map.x, l.map.y, l.map.w + 10, l.map.h},
                                         l.h * float(values.rows()), s.of<DeltaState>().scroll);
    if (s.of<DeltaState>().followed != token && !s.session.selection.hovered.cell) {
        s.of<DeltaState>().followed = token;
        s.of<DeltaState>().scroll =
            scrolled_to(s.of<DeltaState>().scroll, l.h * float(token), l.h * float(token + 1), l.map.h);
    }
    answer_map(s, l, maps);
    ui.clip(l.map);
    draw_cells(s, l, values);
    const auto column = std::find(maps.blocks.begin(), maps.blocks.end(), delta_block(s));
    if (column != maps.blocks.end())
        ui.frame({l.map.x + l.w * float(column - maps.blocks.begin()) - 1,
                  l.map.y + l.h * float(token) - s.of<DeltaState>().scroll - 1, l.w + 1, l.h + 1},
                 s.session.selection.hovered.cell ? ui.colors->hover : ui.colors->accent,
                 s.session.selection.hovered.cell ? 2 : 3);
    ui.unclip();
    draw_labels(s, l, maps, labels, token);
    ui.text.draw(l.map.x - 104, l.map.bottom() + 20, kCaption, ui.colors->t3,
                 ui.text.fitted(kCaption, scale_note(s), l.map.w + 104 + 24));
    return l.map.right();
}

void draw_delta(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (!ui.on_page()) draw_delta_toolbar(s, area);
    if (!s.answer->picture) return;
    const float left = draw_delta_map(s, area) + 40, width = area.right() - left - 24;
    const float parts_h = std::min(296.0f, area.h * 0.42f), top = area.y + 52;
    draw_delta_parts(s, {left, top, width * 0.48f - 8, parts_h});
    draw_tokens_moved(s, {left + width * 0.52f, top, width * 0.48f, parts_h});
    draw_projection(s, {left, top + parts_h + 12, width, area.bottom() - top - parts_h - 24});
}

View delta_view() {
    return {.key = "delta",
            .name = "ΔE",
            .digit = '4',
            .draw = draw_delta,
            .missing = no_weights,
            .shows = View::Shows::layer,
            .ask = ask_delta,
            .beside = {draw_delta_list, draw_delta_inspector},
            .numbers = delta_numbers,
            .visit = visit_state<DeltaState>};
}

}  // namespace headlight

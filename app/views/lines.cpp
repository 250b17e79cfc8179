// Attention of a whole layer as lines between two columns of tokens, one color a head.
#include "views/lines.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/memory.h"
#include "paint/layout.h"
#include "views/layer_heads.h"
#include "views/numbers.h"
#include "views/parts.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kBarPitch = 18, kRowMost = 54, kRowLeast = 20;

struct LinesLayout {
    Rect area;                 // where tokens and lines are
    float left, right, pitch;  // ends of the lines, distance of rows
    float bars;                // where the bars beside the keys begin; 0: there is no room for them
    float y(int row, float scroll) const { return area.y + pitch * (float(row) + 0.5f) - scroll; }
};

LinesLayout arrange(Scene& s, Rect area) {
    Ui& ui = s.ui;
    LinesLayout l{};
    const float bars_w = (kBarPitch + 2) * float(drawn_heads(s).size());
    const bool bars = bars_w < area.w * 0.25f;
    l.area = {area.x, area.y + 72, area.w, area.h - (72 + 48)};
    l.left = area.x + std::min(264.0f, area.w * 0.28f);
    l.right = area.right() - 160 - (bars ? bars_w : 0);
    l.bars = bars ? l.right + 136 : 0;
    const auto rows = float(std::max(s.queries(), s.keys()));
    l.pitch = std::clamp(l.area.h / rows, kRowLeast, kRowMost);
    const float max = std::max(0.0f, l.pitch * rows - l.area.h);
    s.of<LinesState>().scroll -= ui.take_wheel(l.area) * l.pitch * 3;
    s.of<LinesState>().scroll = std::clamp(s.of<LinesState>().scroll, 0.0f, max);
    return l;
}

void draw_lines_toolbar(Scene& s, float x, float y) {
    Ui& ui = s.ui;
    choose_share(ui, x, y, "Show", "keep", s.of<LayerHeads>().share);
    std::vector<std::string> layers;
    for (int block = 0; block < s.model()->config.blocks(); ++block)
        layers.push_back(block_name(s.model()->config, block));
    if (const int c = ui.choice(x, y, "Layer", "layer", layers, s.session.selection.block); c >= 0)
        s.select_block(c);
}

/// One side's tokens; pointing at one focuses it.
void draw_tokens(Scene& s, const LinesLayout& l, bool queries) {
    Ui& ui = s.ui;
    const auto& labels = queries ? s.query_labels() : s.key_labels();
    const auto cell = s.shown_cell();
    const bool hovering = s.session.selection.hovered.cell || s.session.selection.locked;
    for (int i = 0; i < isize(labels); ++i) {
        const float y = l.y(i, s.of<LinesState>().scroll), half = l.pitch / 2;
        if (y < l.area.y || y > l.area.bottom()) continue;
        const Rect r = queries ? Rect{l.area.x + 24, y - half, l.left - l.area.x - 24, l.pitch}
                               : Rect{l.right, y - half, 136, l.pitch};
        const std::string path = std::string(queries ? "lines/query/" : "lines/key/") + std::to_string(i);
        const Hit h = ui.hit(path, r);
        const bool on =
            cell && (queries ? cell->first == i && hovering : s.session.selection.hovered.key == i);
        const std::string label = ui.text.fitted(kBodyMono, labels[i], 96);
        const float w = ui.text.width(kBodyMono, label), x = queries ? l.left - 24 - w : l.right + 24;
        if (on) {
            const Rect box{x - 10, y - 14, w + 20, 28};
            ui.fill(box, queries ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
            if (queries) ui.frame(box, ui.colors->accent, 1, size::corner);
        }
        ui.text.draw(x, y, kBodyMono, on && queries ? ui.colors->accent_text : ui.colors->t1, label);
        if (queries)
            ui.text.draw_right(x - 14, y, kCaptionMono, ui.colors->t3, std::to_string(i));
        else
            ui.text.draw_right(l.right + 126, y, kCaptionMono, ui.colors->t3, std::to_string(i));
        if (h.hovered && queries) s.point_at(std::pair{i, s.heaviest_key(i)});
        if (h.hovered && !queries) s.pointed.key = i;
        if (h.clicked && queries) lock_token(s, i);
    }
}

/// The weight under which lines are left out, and how many there are in sight.
std::pair<float, size_t> faintest_drawn(const Scene& s, const LinesLayout& l, const LayerLinks& links) {
    std::vector<float> weights;
    for (int q = 0; q < s.queries(); ++q) {
        const float y = l.y(q, s.of<LinesState>().scroll);
        if (y < l.area.y || y > l.area.bottom()) continue;
        for (const int h : drawn_heads(s))
            for (const Link& link : links.of_head[h][q]) weights.push_back(link.weight);
    }
    return {faintest_of(weights, s.ui.most_lines), weights.size()};
}

/// Draws the lines of one query; those whose key is out of sight lead towards it.
void draw_row(Scene& s, const LinesLayout& l, const LayerLinks& links, int query, float faintest,
              bool highlighted, bool others_step_back) {
    Ui& ui = s.ui;
    const auto heads = drawn_heads(s);
    const float y0 = l.y(query, s.of<LinesState>().scroll);
    for (int i = 0; i < isize(heads); ++i) {
        const float apart = (float(i) - float(heads.size() - 1) / 2) * 1.5f;
        for (const Link& link : links.of_head[heads[i]][query]) {
            if (link.weight < faintest && !highlighted) continue;
            const bool to_focus = s.session.selection.hovered.key == link.key;
            const float alpha = highlighted || to_focus ? 0.35f + 0.6f * link.weight
                                : others_step_back      ? 0.13f + 0.12f * link.weight
                                                        : 0.25f + 0.6f * link.weight;
            const float y1 =
                std::clamp(l.y(link.key, s.of<LinesState>().scroll), l.area.y - 8, l.area.bottom() + 8);
            const ImVec2 from{l.left, y0 + apart}, to{l.right, y1 + apart};
            ui.curve(from, to, head_ink(s, heads[i], alpha), std::max(0.75f, 6 * link.weight));
        }
    }
}

void draw_all_lines(Scene& s, const LinesLayout& l, const LayerLinks& links, float faintest) {
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    const bool focused = s.session.selection.hovered.cell || s.session.selection.locked,
               step_back = focused || s.session.selection.hovered.key;
    ui.clip({l.left, l.area.y - 8, l.right - l.left, l.area.h + 16});
    for (int q = 0; q < s.queries(); ++q) {
        const float y = l.y(q, s.of<LinesState>().scroll);
        if (y >= l.area.y && y <= l.area.bottom() && !(focused && cell && cell->first == q))
            draw_row(s, l, links, q, faintest, false, step_back);
    }
    if (focused && cell) draw_row(s, l, links, cell->first, faintest, true, false);
    ui.unclip();
}

/// Beside each key: how heavily each drawn head of the focused query looks at it.
void draw_bars(Scene& s, const LinesLayout& l, const LayerLinks& links) {
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    if (l.bars == 0 || !cell) return;
    const auto heads = drawn_heads(s);
    const float w = kBarPitch, high = std::min(20.0f, l.pitch - 4);
    for (int i = 0; i < isize(heads); ++i) {
        const float x = l.bars + (w + 2) * float(i);
        ui.text.draw_centered(x + w / 2, l.area.y - 16, kCaptionMono, head_ink(s, heads[i]),
                              std::to_string(heads[i]));
        for (int k = 0; k < s.keys(); ++k) {
            const float y = l.y(k, s.of<LinesState>().scroll);
            if (y >= l.area.y && y <= l.area.bottom()) ui.fill({x, y - high / 2, w, high}, ui.colors->bg2);
        }
        for (const Link& link : links.of_head[heads[i]][cell->first]) {
            const float y = l.y(link.key, s.of<LinesState>().scroll),
                        full = std::max(ui.line(), high * link.weight);
            if (y >= l.area.y && y <= l.area.bottom())
                ui.fill({x, y + high / 2 - full, w, full}, head_ink(s, heads[i]));
        }
    }
}

}  // namespace

std::vector<Question> ask_lines(const Scene& s) {
    return {LinksWanted{s.session.selection.block, s.of<LayerHeads>().share}};
}

void draw_lines(Scene& s, Rect area) {
    Ui& ui = s.ui;
    draw_lines_toolbar(s, area.x + 24, area.y + 24);
    const LayerLinks* links = s.answer->picture ? shown_links(s) : nullptr;
    if (!links) return;
    const LinesLayout l = arrange(s, area);
    ui.text.draw_right(l.left - 14, l.area.y - 16, kCaption, ui.colors->t3, "query");
    ui.text.draw(l.right + 14, l.area.y - 16, kCaption, ui.colors->t3, "key");
    draw_tokens(s, l, true);
    draw_tokens(s, l, false);
    const auto [faintest, in_sight] = faintest_drawn(s, l, *links);
    draw_all_lines(s, l, *links, faintest);
    draw_bars(s, l, *links);
    const auto cell = s.shown_cell();
    const bool focused = (s.session.selection.hovered.cell || s.session.selection.locked) && cell;
    const std::string of = cell ? s.query_labels()[cell->first] + " " + std::to_string(cell->first) : "";
    const std::string bars = l.bars != 0 && cell ? " Bars right: weight per head" +
                                                       (focused ? std::string(".") : ", from " + of + ".")
                                                 : "";
    const std::string some = in_sight > ui.most_lines
                                 ? "The strongest " + std::to_string(ui.most_lines) + " of " +
                                       std::to_string(in_sight) + " lines in view. "
                                 : "";
    ui.text.draw(area.x + 24, area.bottom() - 24, kCaption, ui.colors->t3,
                 some +
                     (focused ? "From " + of + "; others dimmed." : "Point at a token to follow its lines.") +
                     bars);
}

namespace {

/// A head's name, its entropy, and the keys that it looks at most.
void draw_head_links(Scene& s, Column& c, int head, const std::vector<Link>& row) {
    Ui& ui = s.ui;
    const std::string path = "lines/entropy/" + std::to_string(head);
    const Rect entropy{c.at.right() - 80, c.y - 10, 80, 20};
    ui.disc({c.at.x + 4, c.y}, 4, head_ink(s, head));
    ui.text.draw(c.at.x + 16, c.y, kBodyMono, ui.colors->t1, head_name(s.model()->config, s.block(), head));
    ui.text.draw_right(entropy.right(), c.y, kCaptionMono, ui.colors->t3,
                       number(s.sentence()->heads[{s.block(), head}].statistics[0], 2) + " bits");
    ui.tooltip(path, ui.hit(path, entropy), head_statistics()[0].definition);
    for (size_t i = 0; i < std::min<size_t>(3, row.size()); ++i) {
        c.skip(22);
        ui.text.draw_right(c.at.x + 22, c.y, kCaptionMono, ui.colors->t3, std::to_string(row[i].key));
        ui.text.draw(c.at.x + 30, c.y, kCaptionMono, ui.colors->t2,
                     ui.text.fitted(kCaptionMono, s.key_labels()[static_cast<size_t>(row[i].key)], 72));
        ui.bar({c.at.x + 108, c.y - 4, c.at.w - (108 + 48), 8}, row[i].weight, head_ink(s, head));
        ui.text.draw_right(c.at.right(), c.y, kCaptionMono, ui.colors->t2, number(row[i].weight, 2));
    }
    c.skip(30);
}

}  // namespace

void draw_lines_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    ui.hairline(area.x, area.y + 48, area.right(), area.y + 48);
    const auto cell = s.shown_cell();
    const LayerLinks* links = cell ? shown_links(s) : nullptr;
    if (!links) return;
    draw_inspector_title(s, area, token_at(s.query_labels(), cell->first), "");
    Column c(ui, inset(area, size::inspector_pad, 0), area.y + 74);
    c.heading("What each head attends to");
    c.skip(4);
    for (const int h : drawn_heads(s)) {
        if (c.y + 80 > area.bottom()) return;
        draw_head_links(s, c, h, links->of_head[h][cell->first]);
    }
}

std::vector<NumberTable> layer_numbers(const Scene& s) {
    std::vector<NumberTable> out;
    const Trace& trace = *s.sentence()->trace;
    check_fits(int64_t{s.queries()} * s.keys() * trace.config().heads(s.block()) * 4);
    for (int head = 0; head < trace.config().heads(s.block()); ++head)
        if (!s.of<LayerHeads>().hidden.count(head))
            out.push_back({"pattern of head " + head_name(trace.config(), s.block(), head), "query", "key",
                           s.query_labels(), s.key_labels(),
                           shown_only(masked_pattern(trace, s.block(), head))});
    return out;
}

View lines_view() {
    return {.key = "lines",
            .name = "Lines",
            .digit = '2',
            .draw = draw_lines,
            .offered = reads_text,
            .shows = View::Shows::layer,
            .ask = ask_lines,
            .beside = {draw_layer_heads, draw_lines_inspector},
            .numbers = layer_numbers,
            .visit = visit_state<LayerHeads>};
}

}  // namespace headlight

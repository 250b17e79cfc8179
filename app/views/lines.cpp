// Attention of a whole layer as lines between two columns of tokens, one color a head.
#include "views/lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cast.h"
#include "paint/layout.h"
#include "views/layer_heads.h"
#include "views/parts.h"
#include "views/token_menu.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kRowMost = 54, kRowLeast = 20, kLinesNames = 24, kLinesFoot = 48, kQueries = 264, kKeys = 136,
                kBar = 18, kBetweenBars = 2, kRowsPerTurn = 3;

struct LinesLayout {
    Grid rows;  // a token each
    Rect queries, lines, keys,
        bars;  // columns; bars: beside the keys, a head each; none where there is no room
    float y(int row) const { return rows.middle_y(row); }
    bool sees(int row) const { return y(row) >= rows.view.y && y(row) <= rows.view.bottom(); }
};

/// Brings the focused query into sight when another one is focused, or when one is typed.
void follow_query(Scene& s, const Grid& rows) {
    auto& state = s.of<LinesState>();
    const auto cell = s.shown_cell();
    if (!cell || s.session.selection.hovered.cell) return;
    if (std::exchange(state.followed, cell->first) == cell->first) return;
    const float top = rows.h * float(cell->first);
    state.seen.y = scrolled_to(state.seen.y, top, top + rows.h, rows.view.h);
}

LinesLayout arrange(Scene& s, Rect area) {
    auto& state = s.of<LinesState>();
    LinesLayout l{};
    const auto heads = float(drawn_heads(s).size());
    const float bars = (kBar + kBetweenBars) * heads;
    Rect rest = area;
    take_right(rest, size::center_pad);
    if (bars < area.w * 0.25f) l.bars = take_right(rest, bars);
    l.keys = take_right(rest, kKeys);
    l.queries = take_left(rest, std::min(kQueries, area.w * 0.28f));
    take_left(l.queries, size::center_pad);
    l.lines = rest;
    l.rows.view = area;
    l.rows.rows = std::max(s.queries(), s.keys());
    l.rows.h = std::clamp(area.h / float(l.rows.rows), kRowLeast, kRowMost);
    state.seen.down = kRowsPerTurn * l.rows.h;
    follow_query(s, l.rows);
    scrolled(s.ui, area, l.rows.h * float(l.rows.rows), state.seen);
    l.rows.y0 = state.seen.y;
    return l;
}

void draw_lines_toolbar(Scene& s, Toolbar bar) {
    choose_share(bar, "Show", "keep", s.of<LayerHeads>().share);
    std::vector<std::string> layers;
    for (int block = 0; block < s.model()->config.blocks(); ++block)
        layers.push_back(block_name(s.model()->config, block));
    if (const int c = bar.choice("Layer", "layer", layers, s.session.selection.block); c >= 0)
        s.select_block(c);
}

/// A token at the lines' end, and its position beyond it.
void draw_token(Ui& ui, Rect line, bool query, bool on, int i, const std::string& label) {
    constexpr float kWidest = 96;
    Chip chip{ui.text.fitted(kBodyMono, label, kWidest), ui.colors->t1};
    chip.font = kBodyMono;
    if (on && query)
        chip = {chip.label, ui.colors->accent_text, ui.colors->accent_fill, ui.colors->accent, {}, kBodyMono};
    if (on && !query) chip.back = ui.colors->bg3;
    const float wide = chip_width(ui, chip);
    const Rect r =
        band(query ? take_right(line, wide, gap::small) : take_left(line, wide, gap::small), size::chip);
    draw_chip(ui, r, chip);
    write(ui, line, kCaptionMono, ui.colors->t3, std::to_string(i), Flush::right);
}

/// One side's tokens; pointing at one focuses it.
void draw_tokens(Scene& s, const LinesLayout& l, bool queries) {
    Ui& ui = s.ui;
    const auto& labels = queries ? s.query_labels() : s.key_labels();
    const auto cell = s.shown_cell();
    const bool hovering = s.session.selection.hovered.cell || s.session.selection.locked;
    for (int i = 0; i < isize(labels); ++i) {
        if (!l.sees(i)) continue;
        const Rect r = line_at(queries ? l.queries : l.keys, l.y(i), l.rows.h);
        const Hit h = ui.hit((queries ? "lines/query/" : "lines/key/") + std::to_string(i), r);
        const bool on =
            cell && (queries ? cell->first == i && hovering : s.session.selection.hovered.key == i);
        draw_token(ui, inset(r, gap::medium, 0), queries, on, i, labels[i]);
        if (h.hovered && queries) s.point_at(std::pair{i, s.heaviest_key(i)});
        if (h.hovered && !queries) s.pointed.key = i;
        if (h.clicked && queries) lock_token(s, i);
        const AttentionBlock block = s.model()->config.block(s.block());
        offer_token_menu(s, h.hovered, {queries ? block.stack : block.key_stack(), i});
    }
}

/// The weight under which lines are left out, and how many there are in sight.
std::pair<float, size_t> faintest_drawn(const Scene& s, const LinesLayout& l, const LayerLinks& links) {
    std::vector<float> weights;
    for (int q = 0; q < s.queries(); ++q) {
        if (!l.sees(q)) continue;
        for (const int h : drawn_heads(s))
            for (const Link& link : links.of_head[h][q]) weights.push_back(link.weight);
    }
    return {faintest_of(weights, s.ui.most_lines), weights.size()};
}

/// The same among the lines of one query, all of which are drawn where there are not too many.
float faintest_of_query(const Scene& s, const LayerLinks& links, int query) {
    std::vector<float> weights;
    for (const int h : drawn_heads(s))
        for (const Link& link : links.of_head[h][query]) weights.push_back(link.weight);
    return faintest_of(weights, s.ui.most_lines);
}

/// Draws the lines of one query; those whose key is out of sight lead towards it.
void draw_row(Scene& s, const LinesLayout& l, const LayerLinks& links, int query, float faintest,
              bool highlighted, bool others_step_back) {
    Ui& ui = s.ui;
    const auto heads = drawn_heads(s);
    const float y0 = l.y(query);
    for (int i = 0; i < isize(heads); ++i) {
        const float apart = (float(i) - float(heads.size() - 1) / 2) * 1.5f;
        for (const Link& link : links.of_head[heads[i]][query]) {
            if (link.weight < faintest) continue;
            const bool to_focus = s.session.selection.hovered.key == link.key;
            const float alpha = highlighted || to_focus ? 0.35f + 0.6f * link.weight
                                : others_step_back      ? 0.13f + 0.12f * link.weight
                                                        : 0.25f + 0.6f * link.weight;
            const float y1 = std::clamp(l.y(link.key), l.lines.y - gap::small, l.lines.bottom() + gap::small);
            const ImVec2 from{l.lines.x, y0 + apart}, to{l.lines.right(), y1 + apart};
            ui.curve(from, to, head_ink(s, heads[i], alpha), std::max(0.75f, 6 * link.weight));
        }
    }
}

void draw_all_lines(Scene& s, const LinesLayout& l, const LayerLinks& links, float faintest) {
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    const bool focused = s.session.selection.hovered.cell || s.session.selection.locked,
               step_back = focused || s.session.selection.hovered.key;
    ui.clip(inset(l.lines, 0, -gap::small));
    for (int q = 0; q < s.queries(); ++q)
        if (l.sees(q) && !(focused && cell && cell->first == q))
            draw_row(s, l, links, q, faintest, false, step_back);
    if (focused && cell)
        draw_row(s, l, links, cell->first, faintest_of_query(s, links, cell->first), true, false);
    ui.unclip();
}

/// Beside each key: how heavily each drawn head of the focused query looks at it.
void draw_bars(Scene& s, const LinesLayout& l, const LayerLinks& links, Rect names) {
    constexpr float kHighest = 20;
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    if (l.bars.w == 0 || !cell) return;
    const auto heads = drawn_heads(s);
    const float high = std::min(kHighest, l.rows.h - gap::tight);
    for (int i = 0; i < isize(heads); ++i) {
        Rect column = nth_column(l.bars, i, isize(heads));
        column.w -= kBetweenBars;
        write(ui, {column.x, names.y, column.w, names.h}, kCaptionMono, head_ink(s, heads[i]),
              std::to_string(heads[i]), Flush::center);
        for (int k = 0; k < s.keys(); ++k)
            if (l.sees(k)) ui.fill(line_at(column, l.y(k), high), ui.colors->bg2);
        for (const Link& link : links.of_head[heads[i]][cell->first])
            if (Rect r = line_at(column, l.y(link.key), high); l.sees(link.key))
                ui.fill(take_bottom(r, std::max(ui.line(), high * link.weight)), head_ink(s, heads[i]));
    }
}

/// What is drawn, and what it starts from.
std::string caption_of(const Scene& s, const LinesLayout& l, size_t in_sight, float room) {
    const auto cell = s.shown_cell();
    const bool focused = (s.session.selection.hovered.cell || s.session.selection.locked) && cell;
    const std::string of = cell ? token_at(s.query_labels(), cell->first) : "";
    const std::string some = in_sight > s.ui.most_lines
                                 ? "The strongest " + std::to_string(s.ui.most_lines) + " of " +
                                       std::to_string(in_sight) + " lines in view. "
                                 : "";
    const std::string bars = l.bars.w != 0 && cell ? " Bars right: weight per head" +
                                                         (focused ? std::string(".") : ", from " + of + ".")
                                                   : "";
    const std::string from =
        focused ? "From " + of + "; others dimmed." : "Point at a token to follow its lines.";
    return first_that_fits(s.ui, kCaption, {some + from + bars, some + from, some.empty() ? from : some},
                           room);
}

}  // namespace

std::vector<Question> ask_lines(const Scene& s) {
    return {LinksWanted{s.session.selection.shown_head().first, s.of<LayerHeads>().share}};
}

void draw_lines(Scene& s, Rect area) {
    Rect rest = area;
    draw_lines_toolbar(s, view_toolbar(s.ui, rest));
    const LayerLinks* links = s.answer->picture ? shown_links(s) : nullptr;
    if (!links) return;
    const Rect names = take_top(rest, kLinesNames - gap::tight, gap::tight),
               foot = inset(take_bottom(rest, kLinesFoot), size::center_pad, 0);
    const LinesLayout l = arrange(s, rest);
    const auto above = [&](Rect column) {
        return inset({column.x, names.y, column.w, names.h}, gap::medium, 0);
    };
    caption(s.ui, above(l.queries), "query", Flush::right);
    caption(s.ui, above(l.keys), "key");
    draw_tokens(s, l, true);
    draw_tokens(s, l, false);
    const auto [faintest, in_sight] = faintest_drawn(s, l, *links);
    draw_all_lines(s, l, *links, faintest);
    draw_bars(s, l, *links, names);
    caption(s.ui, foot, caption_of(s, l, in_sight, foot.w));
}

namespace {

/// A head's name and its entropy.
void draw_head_line(Scene& s, Rect line, int head) {
    constexpr float kDot = 8, kEntropy = 80;
    Ui& ui = s.ui;
    ui.disc(take_left(line, kDot, gap::small).middle(), kDot / 2, head_ink(s, head));
    write(ui, line, kBodyMono, ui.colors->t1, head_name(s.model()->config, s.block(), head));
    const Rect entropy = take_right(line, kEntropy);
    caption(ui, entropy, number(s.sentence()->heads[{s.block(), head}].statistics[0], 2) + " bits",
            Flush::right);
    const std::string path = "lines/entropy/" + std::to_string(head);
    ui.tooltip(path, ui.hit(path, entropy), head_statistics()[0].definition);
}

/// A key, and how heavily the head looks at it.
void draw_key_line(Scene& s, Rect line, int head, const Link& link) {
    constexpr float kWord = 72, kWeight = 40;
    Ui& ui = s.ui;
    const float position = ui.text.width(kCaptionMono, std::to_string(std::max(100, s.keys() - 1)));
    write(ui, take_left(line, position, gap::small), kCaptionMono, ui.colors->t3, std::to_string(link.key),
          Flush::right);
    write(ui, take_left(line, kWord, gap::close), kCaptionMono, ui.colors->t2, s.key_labels()[link.key]);
    write(ui, take_right(line, kWeight, gap::small), kCaptionMono, ui.colors->t2, number(link.weight, 2),
          Flush::right);
    ui.bar(band(line, size::bar), link.weight, head_ink(s, head));
}

}  // namespace

void draw_lines_inspector(Scene& s, Rect area) {
    constexpr size_t kKeysOfHead = 3;
    constexpr float kKeyLine = 22, kBetween = 30, kFirst = 74, kLeast = 80;
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    const LayerLinks* links = cell ? shown_links(s) : nullptr;
    if (!links) return void(inspector_line(ui, area));
    draw_inspector_title(s, area, token_at(s.query_labels(), cell->first), "");
    Column c(ui, inset(area, size::inspector_pad, 0), area.y + kFirst);
    c.heading("What each head attends to");
    c.skip(gap::tight);
    for (const int h : drawn_heads(s)) {
        if (c.y + kLeast > area.bottom()) return;
        draw_head_line(s, c.line(size::line), h);
        const auto& row = links->of_head[h][cell->first];
        for (size_t i = 0; i < std::min(kKeysOfHead, row.size()); ++i) {
            c.skip(kKeyLine);
            draw_key_line(s, c.line(size::line), h, row[i]);
        }
        c.skip(kBetween);
    }
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
            .visit = visit_state<LayerHeads>,
            .seen = seen_of<LinesState>};
}

}  // namespace headlight

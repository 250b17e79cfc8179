#include "views/lines/lines.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/cast.h"
#include "paint/curve_picture.h"
#include "paint/layout.h"
#include "parts/controls.h"
#include "parts/layer_heads.h"
#include "parts/token_place.h"
#include "parts/unseen.h"
#include "views/interactive_page.h"
#include "views/turn_pair.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kMaxLineRow = 54, kRowLeast = 20, kLinesNames = 24, kLinesFoot = 48, kQueries = 264,
                kKeys = 136, kBar = 18, kBetweenBars = 2, kRowsPerTurn = 3, kSinkRow = 34;

struct LinesLayout {
    Grid rows;
    Rect queries, lines, keys;  // columns
    Rect bars;                  // one per head, right of the keys; no width if they do not fit
    Rect sink;                  // above the keys, and never scrolled; no height: no head has a sink
    float y(int row) const { return rows.middle_y(row); }
    bool sees(int row) const { return y(row) >= rows.view.y && y(row) <= rows.view.bottom(); }
};

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
    l.rows.h = std::clamp(area.h / float(l.rows.rows), kRowLeast, kMaxLineRow);
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
    offer_all_turns(s, bar);
}

/// Draws a token at the lines' end, and its position, which is never cut.
void draw_token(Ui& ui, Rect line, bool query, bool on, int i, const std::string& label) {
    constexpr float kWidest = 96;
    const std::string position = std::to_string(i);
    Chip chip{"", ui.colors->t1};
    chip.font = kBodyMono;
    const float room = line.w - gap::small - ui.text.width(kCaptionMono, position) - chip_width(ui, chip);
    chip.label = ui.text.fitted(kBodyMono, label, std::min(kWidest, room));
    if (on && query)
        chip = {chip.label, ui.colors->accent_text, ui.colors->accent_fill, ui.colors->accent, {}, kBodyMono};
    if (on && !query) chip.back = ui.colors->bg3;
    const float wide = chip_width(ui, chip);
    const Rect r =
        band(query ? take_right(line, wide, gap::small) : take_left(line, wide, gap::small), size::chip);
    draw_chip(ui, r, chip);
    write(ui, line, kCaptionMono, ui.colors->t3, position, Flush::right);
}

/// Draws one side's tokens; hovering focuses one.
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
        if (h.hovered && queries) s.point_at(std::pair{i, s.strongest_key(i)});
        if (h.hovered && !queries) s.pointed.key = i;
        if (h.clicked && queries) lock_token(s, i);
        const AttentionBlock block = s.model()->config.block(s.block());
        offer_token_menu(s, h.hovered, {queries ? block.stack : block.key_stack, i});
    }
}

/// Names the sink, which is no token, where lines to it end.
void draw_sink(Ui& ui, const LinesLayout& l) {
    if (l.sink.h == 0) return;
    const Rect r = inset(line_at(l.keys, l.sink.middle_y(), size::chip), gap::medium, 0);
    Chip chip{"sink", ui.colors->t2, ui.colors->bg1, ui.colors->l2, {}, kBodyMono};
    draw_chip(ui, {r.x, r.y, chip_width(ui, chip), r.h}, chip);
    ui.tooltip(
        "lines/sink", ui.hit("lines/sink", r),
        "The sink of each head: a learned score beside those of the keys. Its weight goes to no token.");
}

/// Returns the lines between the tokens of two turns; a sink is of none.
LayerLinks of_pair(LayerLinks links, const TurnPair& pair) {
    for (auto& queries : links.of_head)
        for (int q = 0; q < isize(queries); ++q)
            std::erase_if(queries[q],
                          [&](const Link& link) { return !pair.asks(q) || !pair.answers(link.key); });
    links.sinks.clear();
    return links;
}

/// Counts lines; those weaker than `faintest` are not drawn.
struct LineCount {
    size_t all = 0;
    float faintest = 0;

    static LineCount of(std::vector<float> weights, size_t max) {
        const size_t all = weights.size();
        return {all, cutoff_weight(weights, max)};
    }
};

void add_weights(const Scene& s, const LayerLinks& links, int query, std::vector<float>& out) {
    for (const int h : drawn_heads(s)) {
        for (const Link& link : links.of_head[h][query]) out.push_back(link.weight);
        if (links.draws_sink(h, query, s.of<LayerHeads>().share)) out.push_back(links.sinks[h][query]);
    }
}

LineCount lines_in_sight(const Scene& s, const LinesLayout& l, const LayerLinks& links) {
    std::vector<float> weights;
    for (int q = 0; q < s.queries(); ++q)
        if (l.sees(q)) add_weights(s, links, q, weights);
    return LineCount::of(std::move(weights), s.ui.most_lines);
}

/// Returns the hovered or locked query, whose lines are drawn over the others.
std::optional<int> focused_query(const Scene& s) {
    const auto cell = s.shown_cell();
    const bool focused = s.session.selection.hovered.cell || s.session.selection.locked;
    return focused && cell ? std::optional(cell->first) : std::nullopt;
}

LineCount lines_of_query(const Scene& s, const LayerLinks& links, int query) {
    std::vector<float> weights;
    add_weights(s, links, query, weights);
    return LineCount::of(std::move(weights), s.ui.most_lines);
}

enum class LineLook { plain, highlighted, dimmed };

float strength_of(LineLook look, float weight) {
    if (look == LineLook::highlighted) return 0.35f + 0.6f * weight;
    return look == LineLook::dimmed ? 0.13f + 0.12f * weight : 0.25f + 0.6f * weight;
}

/// Adds the lines of one query; a line to a key out of sight points towards it, that to the sink leads above.
void add_lines(const Scene& s, const LinesLayout& l, const LayerLinks& links, int query, float faintest,
               LineLook look, std::vector<LevelCurve>& out) {
    constexpr float kApart = 1.5f, kThinnest = 0.75f, kPerWeight = 6;
    const auto heads = drawn_heads(s);
    const float high = l.lines.y - gap::small, low = l.lines.bottom() + gap::small;
    for (int i = 0; i < isize(heads); ++i) {
        const float apart = (float(i) - float(heads.size() - 1) / 2) * kApart;
        const ImU32 ink = head_ink(s, heads[i]);
        const auto add = [&](float y, float weight, LineLook at) {
            out.push_back({l.y(query) + apart, y + apart, faded(ink, strength_of(at, weight)),
                           std::max(kThinnest, kPerWeight * weight)});
        };
        for (const Link& link : links.of_head[heads[i]][query]) {
            if (link.weight < faintest) break;  // sorted by weight
            const bool to_focus = s.session.selection.hovered.key == link.key;
            add(between(l.y(link.key), high, low), link.weight, to_focus ? LineLook::highlighted : look);
        }
        if (links.draws_sink(heads[i], query, s.of<LayerHeads>().share) &&
            links.sinks[heads[i]][query] >= faintest)
            add(l.sink.middle_y(), links.sinks[heads[i]][query], look);
    }
}

void draw_all_lines(Scene& s, const LinesLayout& l, const LayerLinks& links, const LineCount& in_sight,
                    const LineCount& of_query) {
    const auto focused = focused_query(s);
    const bool dim = focused || s.session.selection.hovered.key;
    const LineLook others = dim ? LineLook::dimmed : LineLook::plain;
    std::vector<LevelCurve> curves;
    for (int q = 0; q < s.queries(); ++q)
        if (l.sees(q) && q != focused) add_lines(s, l, links, q, in_sight.faintest, others, curves);
    if (focused) add_lines(s, l, links, *focused, of_query.faintest, LineLook::highlighted, curves);
    Rect drawn = inset(l.lines, 0, -gap::small);
    if (l.sink.h > 0) drawn = {drawn.x, l.sink.y, drawn.w, drawn.bottom() - l.sink.y};
    s.ui.curves(drawn, curves);
}

/// Draws the focused query's weight on each key, per drawn head.
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
        const ImU32 ink = head_ink(s, heads[i]);
        write(ui, {column.x, names.y, column.w, names.h}, kCaptionMono, ink, std::to_string(heads[i]),
              Flush::center);
        for (int k = 0; k < s.keys(); ++k)
            if (l.sees(k)) ui.fill(line_at(column, l.y(k), high), ui.colors->bg2);
        if (Rect r = line_at(column, l.sink.middle_y(), high); l.sink.h > 0) {
            ui.fill(r, ui.colors->bg2);
            ui.fill(take_bottom(r, high * links.sinks[heads[i]][cell->first]), ink);
        }
        for (const Link& link : links.of_head[heads[i]][cell->first])
            if (Rect r = line_at(column, l.y(link.key), high); l.sees(link.key))
                ui.fill(take_bottom(r, std::max(ui.line(), high * link.weight)), ink);
    }
}

/// Names the strongest keys above and below what is seen of the shown query's lines; a click scrolls to one.
void mark_unseen_keys(Scene& s, const LinesLayout& l, const LayerLinks& links, Rect above, Rect below) {
    const auto cell = s.shown_cell();
    if (s.ui.on_page() || !cell) return;
    std::vector<float> weights(size_t(s.keys()), 0.0f);
    for (const int h : drawn_heads(s))
        for (const Link& link : links.of_head[h][cell->first])
            weights[link.key] = std::max(weights[link.key], link.weight);
    const auto weight = [&](int key) { return weights[key]; };
    // Rows are as many as the longer of queries and keys.
    const int first = std::min(l.rows.row_at(l.rows.view.y + l.rows.h / 2), s.keys()),
              last = l.rows.row_at(l.rows.view.bottom() - l.rows.h / 2);
    for (const auto& [line, arrow, begin, end] :
         {std::tuple{above, "↑", 0, first}, std::tuple{below, "↓", last + 1, s.keys()}}) {
        const int chosen = draw_unseen(s, line, arrow, strongest_keys(weight, begin, end));
        if (chosen >= 0) s.of<LinesState>().seen.y = l.rows.h * float(chosen) - l.rows.view.h / 2;
    }
}

/// Names the focused query, and counts the lines if some are not drawn.
std::string caption_of(const Scene& s, const LinesLayout& l, const LineCount& in_sight,
                       const LineCount& of_query, float room) {
    const auto cell = s.shown_cell();
    const auto focused = focused_query(s);
    const std::string of = cell ? token_at(s.query_labels(), cell->first) : "";
    const auto strongest = [&](const LineCount& lines) {
        const size_t max = s.ui.most_lines;
        return lines.all > max
                   ? "strongest " + std::to_string(max) + " of " + std::to_string(lines.all) + " lines"
                   : "";
    };
    const std::string in_view = strongest(in_sight), its = strongest(of_query),
                      some = in_view.empty() ? "" : "The " + in_view + " in view. ",
                      from = !focused      ? s.ui.on_page() ? "" : "Point at a token to follow its lines."
                             : its.empty() ? "From " + of + "; others dimmed."
                                           : "From " + of + ": its " + its + "; others dimmed.",
                      bars = l.bars.w != 0 && cell
                                 ? std::string(from.empty() ? "" : " ") + "Bars right: weight per head" +
                                       (focused ? "." : ", from " + of + ".")
                                 : "";
    return first_that_fits(s.ui, kCaption,
                           {some + from + bars, some + from, some.empty() || focused ? from : some}, room);
}

}  // namespace

std::vector<Question> ask_lines(const Scene& s) {
    return {LinksRequest{s.session.selection.shown_head().first, s.of<LayerHeads>().share}};
}

void draw_lines(Scene& s, Rect area) {
    Rect rest = area;
    draw_lines_toolbar(s, view_toolbar(s.ui, rest));
    const LayerLinks* found = s.answer->picture ? shown_links(s) : nullptr;
    if (!found) return;
    const auto pair = chosen_turns(s);
    const LayerLinks between_turns = pair ? of_pair(*found, *pair) : LayerLinks();
    const LayerLinks* links = pair ? &between_turns : found;
    const Rect names = take_top(rest, kLinesNames - gap::tight, gap::tight),
               foot = inset(take_bottom(rest, kLinesFoot), size::center_pad, 0);
    const Rect sink = take_top(rest, links->sinks.empty() ? 0 : kSinkRow);
    const bool scrolls = kRowLeast * float(std::max(s.queries(), s.keys())) > rest.h && !s.ui.on_page();
    const bool marks = scrolls && rest.h > kLeastMarked;
    const Rect over = marks ? take_top(rest, kUnseenLine) : Rect{},
               below = marks ? take_bottom(rest, kUnseenLine) : Rect{};
    LinesLayout l = arrange(s, rest);
    l.sink = sink;
    const auto above = [&](Rect column) {
        return inset({column.x, names.y, column.w, names.h}, gap::medium, 0);
    };
    caption(s.ui, above(l.queries), "query", Flush::right);
    caption(s.ui, above(l.keys), "key");
    draw_tokens(s, l, true);
    draw_tokens(s, l, false);
    draw_sink(s.ui, l);
    const auto focused = focused_query(s);
    const LineCount in_sight = lines_in_sight(s, l, *links),
                    of_query = focused ? lines_of_query(s, *links, *focused) : LineCount();
    draw_all_lines(s, l, *links, in_sight, of_query);
    draw_bars(s, l, *links, names);
    if (marks) {
        const float x = l.keys.x + gap::medium, wide = rest.right() - x;
        mark_unseen_keys(s, l, *links, {x, over.y, wide, over.h}, {x, below.y, wide, below.h});
    }
    caption(s.ui, foot, caption_of(s, l, in_sight, of_query, foot.w));
}

View lines_view() {
    return {.key = "lines",
            .name = "Lines",
            .answers = ViewGroup::look,
            .synonyms = "links between two columns, BertViz",
            .draw = draw_lines,
            .offered = reads_text,
            .shows = View::Shows::layer,
            .ask = ask_lines,
            .beside = {always<draw_layer_heads>, always<draw_lines_inspector>},
            .heads = [](const Scene& s) { return drawn_heads_of_layer(s.session, s.model()->config); },
            .page = "lines",
            .numbers = layer_numbers,
            .visit = visit_state<LayerHeads>,
            .seen = seen_of<LinesState>};
}

}  // namespace headlight

// Draws the left panel: every head as a thumbnail, and heads ranked by a statistic or the focused cell.
#include "panels/head_list.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cast.h"
#include "parts/controls.h"
#include "parts/head_tags.h"
#include "parts/token_axis.h"
#include "session/commands/commands.h"
#include "views/views.h"

namespace headlight {

namespace {

struct HeadListState {
    Viewport seen;
    std::pair<int, int> followed{-1, -1};  // the head that was last scrolled into view
};

constexpr float kBetweenHeads = 3, kMinCell = 14, kLargestCellOfTwo = 36, kOutline = 2;
constexpr float kListTitle = 44, kNumbers = 16, kMinNames = 24;
constexpr float kRanking = 108 + 6 * size::row;  // what the list under the grid keeps: its head and six rows
constexpr int kMinRows = 3, kRowsPerTurn = 2;

/// A grid of square thumbnails: layers down, heads across.
struct HeadGrid : Grid {
    float side = 0;
    int shared = 1;  // query heads per key/value head
    SinkRoom sink;

    Rect thumb(int layer, int head) const { return sink.keys(x(head), y(layer), side); }
    /// The thumbnail with the weights of the head's sink.
    Rect whole_thumb(int layer, int head) const {
        return {x(head), y(layer), side + (sink.above ? 0 : sink.all()),
                side + (sink.above ? sink.all() : 0)};
    }
    /// The same grid with centered thumbnails, to align their labels.
    Grid of_names() const {
        Grid out = *this;
        out.x0 += kBetweenHeads / 2;
        out.y0 += kBetweenHeads / 2;
        return out;
    }
};

float width_of_names(Scene& s) {
    const ModelConfig& c = s.model()->config;
    std::vector<std::string> names;
    for (int l = 0; l < c.blocks(); ++l) names.push_back(block_name(c, l));
    return std::max(kMinNames, widest_of(s.ui, kCaptionMono, names) + gap::medium);
}

/// As many whole rows and columns of the grid as fit under its title.
HeadGrid arrange_thumbnails(Scene& s, Rect panel, float names) {
    const ModelConfig& c = s.model()->config;
    HeadGrid g;
    g.rows = c.blocks();
    g.columns = c.max_heads();
    g.shared = c.heads(0) / c.kv_heads(0);
    Rect room = panel;
    take_top(room, kListTitle + kNumbers);
    const float high = std::max(0.0f, room.h - kRanking);
    take_left(room, names);
    g.w = std::max(kMinCell, s.ui.whole(room.w / float(g.columns)));
    if (c.stacks.size() > 1)
        g.w = std::min(g.w, kLargestCellOfTwo);  // three kinds of attention stack vertically
    g.h = g.w;
    g.sink = sink_room(s, g.w);
    g.side = g.w - kBetweenHeads - g.sink.all();
    const auto whole_cells = [&](float room, int count) {
        return g.w * std::min(float(count), std::floor(room / g.w));
    };
    g.view = {room.x, room.y, whole_cells(room.w, g.columns),
              whole_cells(std::max(g.h * kMinRows, high), g.rows)};
    return g;
}

/// Scrolls by wheel, and once to a head selected by key or in the list.
void scroll(Scene& s, HeadGrid& g) {
    auto& state = s.of<HeadListState>();
    const std::pair chosen{s.session.selection.block, s.session.selection.head};
    const Rect whole = g.whole();
    state.seen.across = state.seen.down = kRowsPerTurn * g.h;
    if (std::exchange(state.followed, chosen) != chosen) {
        const float column = g.w * float(chosen.second), row = g.h * float(chosen.first);
        state.seen.x = scrolled_to(state.seen.x, column, column + g.w, g.view.w);
        state.seen.y = scrolled_to(state.seen.y, row, row + g.h, g.view.h);
    }
    scrolled_across(s.ui, g.view, whole.w, state.seen);
    scrolled(s.ui, {g.view.x, g.view.y, g.view.w + gap::medium, g.view.h}, whole.h, state.seen);
    g.x0 = state.seen.x;
    g.y0 = state.seen.y;
}

/// Draws brackets over query heads that share a key/value head.
void draw_groups(Scene& s, const HeadGrid& g) {
    constexpr float kRaised = 23, kEnds = 4, kReach = 10;
    Ui& ui = s.ui;
    if (g.shared == 1) return;
    ui.clip({g.view.x - kOutline, g.view.y - 2 * kRaised, g.view.w + 2 * kOutline, 2 * kRaised});
    for (int first = 0; first < g.columns; first += g.shared) {
        const float x = g.x(first), w = g.w * float(g.shared) - kBetweenHeads, y = g.view.y - kRaised;
        const int group = first / g.shared;
        const ImU32 color = s.session.selection.head / g.shared == group ? ui.colors->accent : ui.colors->t3;
        ui.fill({x, y, w, ui.line()}, color);
        for (const float end : {x, x + w - ui.line()}) ui.fill({end, y, ui.line(), kEnds}, color);
        if (x < g.view.x || x + w > g.view.right() + gap::tight) continue;
        const std::string path = "group/" + std::to_string(group);
        ui.tooltip(path, ui.hit(path, line_at({x, y, w, 0}, y, kReach)),
                   "Query heads " + std::to_string(first) + " … " + std::to_string(first + g.shared - 1) +
                       " share key/value head " + std::to_string(group) + ".");
    }
    ui.unclip();
}

void draw_names(Scene& s, const HeadGrid& g, float names) {
    draw_head_names(s, g.of_names(), names, [&](int layer) { return block_name(s.model()->config, layer); });
    draw_groups(s, g);
}

/// Draws all thumbnails in one call; frames while there are none.
void draw_thumbnails(Scene& s, const HeadGrid& g) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    if (!s.sentence() || !s.pictures.thumbnails) {
        for (int i = 0; i < c.head_count(); ++i) {
            const auto [block, head] = c.head_at(i);
            ui.fill(g.thumb(block, head), ui.colors->bg0);
            ui.frame(g.thumb(block, head), ui.colors->l1);
        }
        return;
    }
    GridDraw d = thumbnail_grid(s, g.side);
    d.across = g.columns;
    for (int i = 0; i < g.rows * g.columns; ++i) {
        const AttentionHead at{i / g.columns, i % g.columns};
        d.slots.push_back({c.has_head(at) ? c.head_index(at) : -1, 0, s.pictures.largest});
    }
    d.pitch = ui.pixels(ImVec2{g.w, g.h});
    add_sinks(s, g.sink, d);
    const Rect whole = g.whole(), first = g.sink.keys(whole.x, whole.y, g.side);
    const Rect r = ui.pixels({first.x, first.y, whole.w, whole.h});
    d.rect = {r.x, r.y, r.w, r.h};
    ui.heat->draw(*ui.list, d);
}

void draw_corner_tags(Scene& s, const HeadGrid& g) {
    const ModelConfig& c = s.model()->config;
    if (!s.sentence() || !s.pictures.thumbnails) return;
    for (int i = 0; i < c.head_count(); ++i) {
        const AttentionHead head = c.head_at(i);
        if (g.touches_row(head.block) && g.sees_column(head.head))
            draw_corner_tag(s, g.thumb(head.block, head.head), head);
    }
}

/// Marks the selected head or layer, the compared one, and the hovered one.
void draw_outlines(Scene& s, const HeadGrid& g) {
    Ui& ui = s.ui;
    const View& view = shown_view(s.session, *s.model());
    const auto& selection = s.session.selection;
    const auto outline = [&](Rect r, ImU32 color, float width) {
        ui.frame(inset(r, -kOutline, -kOutline), color, width);
    };
    const auto outline_head = [&](std::pair<int, int> head, ImU32 color, float width) {
        outline(g.whole_thumb(head.first, head.second), color, width);
    };
    const ShownHeads heads = shown_heads(s, view);
    if (heads.second) outline_head({heads.second->block, heads.second->head}, ui.colors->t1, 1);
    if (selection.hovered.head) outline_head(*selection.hovered.head, ui.colors->hover, 1);
    if (view.group)
        if (const auto group = view.group(s.session, s.model()->config)) {
            for (const auto& [block, head] : group->heads) outline_head({block, head}, ui.colors->accent, 1);
            return;
        }
    if (!heads.whole_layer && view.shows != View::Shows::layer)
        return outline_head({selection.block, selection.head}, ui.colors->accent, 2);
    Rect layer = g.whole_thumb(selection.block, 0);
    layer.w = g.w * float(s.model()->config.heads(selection.block)) - kBetweenHeads;
    outline(layer, ui.colors->accent, 2);
}

void name_thumbnails(Scene& s, const HeadGrid& g) {
    const Rect around = inset(g.view, -1, -1);
    for (int l = 0; l < g.rows; ++l)
        for (int head = 0; head < s.model()->config.heads(l); ++head) {
            const Rect r = g.thumb(l, head);
            const bool seen =
                around.contains(r.min()) && r.right() <= around.right() && r.bottom() <= around.bottom();
            if (seen) s.ui.name("grid/" + head_name(s.model()->config, l, head), r);
        }
}

/// "2.0: layer 2, head 0; entropy 1.20, …".
std::string said_of(const Scene& s, AttentionHead head) {
    constexpr size_t kStatistics = 4;  // number of statistics in the text
    const auto& stats = s.sentence()->heads[head].statistics;
    std::string out = head_legend(s.model()->config, head);
    for (size_t i = 0; i < kStatistics; ++i)
        out += (i ? ", " : "; ") + std::string(head_statistics()[i].label) + " " + number(stats[i], 2);
    return out;
}

void answer_grid(Scene& s, const HeadGrid& g) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    const Hit h = ui.hit("grid", g.view);
    name_thumbnails(s, g);
    if (!h.hovered) return;
    const auto [layer, head] = g.at(h.mouse);
    if (!c.has_head({layer, head})) return;
    s.pointed.head = std::pair{layer, head};
    if (h.clicked && ui.ctrl) {
        s.send("map toggle", head_path(c, layer, head));
    } else if (h.clicked && ui.shift) {
        s.send("compare", head_path(c, layer, head));
        s.send("view compare");
    } else if (h.clicked) {
        show_head(s, layer, head);
    }
    if (s.sentence()) ui.tooltip("grid/" + head_name(c, layer, head), h, said_of(s, {layer, head}));
}

/// "Heads", how many keys and values they share, and what the axes of the grid are.
void draw_title(Scene& s, Rect line, const HeadGrid& g) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    const std::string axes = "layer ↓   head →";
    write(ui, take_right(line, ui.text.width(kCaption, axes), gap::small), kCaption, ui.colors->t2, axes);
    take_left(line, write(ui, line, kBody, ui.colors->t1, "Heads"), gap::small + 2);
    const std::string shared = g.shared > 1 ? std::to_string(c.kv_heads(0)) + " key/value" : "";
    if (ui.text.width(kCaption, shared) <= line.w) write(ui, line, kCaption, ui.colors->t3, shared);
}

}  // namespace

void draw_head_list(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (!s.model()) return;
    Rect rest = inset(area, size::panel_pad, 0);
    const float names = width_of_names(s);
    HeadGrid g = arrange_thumbnails(s, rest, names);
    scroll(s, g);
    draw_title(s, take_top(rest, kListTitle), g);
    ui.clip(area);
    draw_names(s, g, names);
    answer_grid(s, g);
    ui.clip(inset(g.view, -kOutline, -kOutline));
    draw_thumbnails(s, g);
    draw_corner_tags(s, g);
    draw_outlines(s, g);
    ui.unclip();
    ui.unclip();
    take_top(rest, g.view.bottom() - rest.y, gap::medium);
    ui.hairline(rest.x, rest.y, rest.right(), rest.y);
    if (!s.sentence())
        return caption(
            ui, {rest.x, rest.y, rest.w, kListTitle},
            s.model()->config.can.read_image ? "Ranking needs an image." : "Ranking needs a sentence.");
    const View& view = shown_view(s.session, *s.model());
    if (!view.beside.list || !view.beside.list(s, rest)) draw_head_ranking(s, rest);
}

}  // namespace headlight

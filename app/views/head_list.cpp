// The left panel: every head as a thumbnail, and the heads ranked by a statistic or by the focused cell.
#include "views/head_list.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cast.h"
#include "session/commands.h"
#include "views/parts.h"
#include "views/views.h"

namespace headlight {

namespace {

struct GridLayout {
    float left, top, pitch, thumb, shown_w, shown_h;
    int layers, heads;  // heads: the most that a layer has
    int shared;         // query heads that read one key/value head
};

/// "3", or "enc 3", "dec 3", "cross 3".
std::string row_label(const ModelConfig& c, int block) {
    constexpr const char* kinds[] = {"", "enc ", "dec ", "cross "};
    const AttentionBlock s = c.block(block);
    return row_of(kinds, s.kind) + std::to_string(s.layer);
}

/// Brackets over the query heads that share one key/value head.
void draw_groups(Scene& s, const GridLayout& g, Rect clip) {
    Ui& ui = s.ui;
    if (g.shared == 1) return;
    for (int first = 0; first < g.heads; first += g.shared) {
        const float x = g.left + g.pitch * float(first) - s.of<HeadListState>().scroll_x,
                    w = g.pitch * float(g.shared - 1) + g.thumb, y = g.top - 23;
        const bool mine = s.session.selection.head / g.shared == first / g.shared;
        const ImU32 color = mine ? ui.colors->accent : ui.colors->t3;
        ui.fill({x, y, w, ui.line()}, color);
        for (const float end : {x, x + w - ui.line()}) ui.fill({end, y, ui.line(), 4}, color);
        const Rect r{x, y - 4, w, 10};
        if (r.x < clip.x || r.right() > clip.x + g.shown_w + 4) continue;
        const std::string path = "group/" + std::to_string(first / g.shared);
        ui.tooltip(path, ui.hit(path, r),
                   "Query heads " + std::to_string(first) + " … " + std::to_string(first + g.shared - 1) +
                       " share key/value head " + std::to_string(first / g.shared) + ".");
    }
}

void draw_grid_labels(Scene& s, const GridLayout& g, Rect clip) {
    Ui& ui = s.ui;
    ui.clip({g.left - 2, clip.y - 30, g.shown_w + 4, 30});
    for (int h = 0; h < g.heads; ++h) {
        const float x = g.left + g.pitch * float(h) + g.thumb / 2 - s.of<HeadListState>().scroll_x;
        if (g.pitch < 20 && h % 2) continue;
        ui.text.draw_centered(x, g.top - 11, kCaptionMono,
                              h == s.session.selection.head ? ui.colors->accent_text : ui.colors->t2,
                              std::to_string(h));
    }
    draw_groups(s, g, {g.left, clip.y, 0, 0});
    ui.unclip();
    ui.clip(clip);
    for (int l = 0; l < g.layers; ++l) {
        const float y = g.top + g.pitch * float(l) + g.thumb / 2 - s.of<HeadListState>().scroll;
        if (g.pitch < 16 && l % 2) continue;
        ui.text.draw(clip.x, y, kCaptionMono,
                     l == s.session.selection.block ? ui.colors->accent_text : ui.colors->t2,
                     row_label(s.model()->config, l));
    }
    ui.unclip();
}

void draw_thumbnails(Scene& s, const GridLayout& g, Rect grid) {
    Ui& ui = s.ui;
    ui.clip({grid.x - 2, grid.y - 2, g.shown_w + 4, g.shown_h + 4});
    const ModelConfig& c = s.model()->config;
    const Rect moved{grid.x - s.of<HeadListState>().scroll_x, grid.y - s.of<HeadListState>().scroll, grid.w,
                     grid.h};
    if (s.sentence() && s.pictures.atlas) {
        GridDraw d = thumbnail_grid(s);
        d.across = g.heads;
        for (int i = 0; i < g.layers * g.heads; ++i) {
            const AttentionHead at{i / g.heads, i % g.heads};
            d.slots.push_back(
                {c.has_head(at) ? c.head_index({at.block, at.head}) : -1, 0, s.pictures.largest});
        }
        d.pitch = ui.pixels(ImVec2{g.pitch, g.pitch});
        d.side = g.thumb * ui.scale;
        const Rect r = ui.pixels(moved);
        d.rect = {r.x, r.y, r.w, r.h};
        ui.heat->draw(*ui.list, d);
    } else {
        for (int i = 0; i < c.head_count(); ++i) {
            const auto [block, head] = c.head_at(i);
            const Rect cell{moved.x + g.pitch * float(head), moved.y + g.pitch * float(block), g.thumb,
                            g.thumb};
            ui.fill(cell, ui.colors->bg0);
            ui.frame(cell, ui.colors->l1);
        }
    }
    const auto outline = [&](int layer, int head, ImU32 color, float width) {
        const float grow = 2;
        ui.frame({moved.x + g.pitch * float(head) - grow, moved.y + g.pitch * float(layer) - grow,
                  g.thumb + 2 * grow, g.thumb + 2 * grow},
                 color, width);
    };
    if (views()[view_for(s.session, *s.model())].second_head &&
        s.session.document.comparison.what == Compared::heads)
        outline(s.session.document.comparison.head.first, s.session.document.comparison.head.second,
                ui.colors->t1, 1);
    if (s.session.selection.hovered.head)
        outline(s.session.selection.hovered.head->first, s.session.selection.hovered.head->second,
                ui.colors->hover, 1);
    if (views()[view_for(s.session, *s.model())].shows == View::Shows::layer) {
        const float grow = 2;
        ui.frame({moved.x - grow, moved.y + g.pitch * float(s.session.selection.block) - grow,
                  g.pitch * float(c.heads(s.session.selection.block) - 1) + g.thumb + 2 * grow,
                  g.thumb + 2 * grow},
                 ui.colors->accent, 2);
    } else {
        outline(s.session.selection.block, s.session.selection.head, ui.colors->accent, 2);
    }
    ui.unclip();
}

/// Scrolls a head that was chosen by key or from the list into view, once.
void follow_selection(const Scene& s, const GridLayout& g) {
    const std::pair chosen{s.session.selection.block, s.session.selection.head};
    auto& list = s.of<HeadListState>();
    if (std::exchange(list.followed, chosen) == chosen) return;
    const float x = g.pitch * float(chosen.second), y = g.pitch * float(chosen.first);
    list.scroll_x = std::clamp(list.scroll_x, x + g.pitch - g.shown_w, x);
    list.scroll = std::clamp(list.scroll, y + g.pitch - g.shown_h, y);
}

void answer_grid(Scene& s, const GridLayout& g, Rect grid) {
    Ui& ui = s.ui;
    const Hit h = ui.hit("grid", {grid.x, grid.y, g.shown_w, g.shown_h});
    for (int l = 0; l < g.layers; ++l)
        for (int head = 0; head < s.model()->config.heads(l); ++head) {
            const float x = grid.x + g.pitch * float(head) - s.of<HeadListState>().scroll_x,
                        y = grid.y + g.pitch * float(l) - s.of<HeadListState>().scroll;
            const bool seen = y >= grid.y - 1 && y + g.thumb <= grid.y + g.shown_h + 1 && x >= grid.x - 1 &&
                              x + g.thumb <= grid.x + g.shown_w + 1;
            if (seen) ui.name("grid/" + head_name(s.model()->config, l, head), {x, y, g.thumb, g.thumb});
        }
    if (!h.hovered) return;
    s.of<HeadListState>().scroll -= ui.shift ? 0 : ui.wheel * g.pitch * 2;
    s.of<HeadListState>().scroll_x -= (ui.wheel_x + (ui.shift ? ui.wheel : 0)) * g.pitch * 2;
    const int head = int((h.mouse.x - grid.x + s.of<HeadListState>().scroll_x) / g.pitch),
              layer = int((h.mouse.y - grid.y + s.of<HeadListState>().scroll) / g.pitch);
    if (!s.model()->config.has_head({layer, head})) return;
    s.pointed.head = std::pair{layer, head};
    if (h.clicked && ui.shift) {
        s.send("compare", head_path(s.model()->config, layer, head));
        s.send("view compare");
    } else if (h.clicked) {
        s.select(layer, head);
        s.leave_text();
    }
    if (s.sentence()) {
        const auto& stats = s.sentence()->heads[{layer, head}].statistics;
        std::string tip = "Head " + head_name(s.model()->config, layer, head);
        for (size_t i = 0; i < 4; ++i)
            tip += ", " + std::string(head_statistics()[i].label) + " " + number(stats[i], 2);
        ui.tooltip("grid/" + head_name(s.model()->config, layer, head), h, tip);
    }
}

}  // namespace

void draw_head_list(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (!s.model()) return;
    const ModelConfig& c = s.model()->config;
    const float pad = size::panel_pad, width = area.w - 2 * pad;
    GridLayout g{};
    g.layers = c.blocks();
    g.heads = c.max_heads();
    g.shared = c.heads(0) / c.kv_heads(0);
    float names = 24;
    for (int l = 0; l < g.layers; ++l)
        names = std::max(names, ui.text.width(kCaptionMono, row_label(c, l)) + 8);
    g.pitch = std::max(14.0f, ui.whole((area.w - names - 32) / float(g.heads)));
    if (c.stacks.size() > 1)
        g.pitch = std::min(g.pitch, 36.0f);  // three kinds of attention stand under each other
    g.thumb = g.pitch - 3;
    g.left = area.x + pad + names;
    g.top = area.y + 60;
    const float max = std::max(g.pitch * 3, area.h - (60 + 26 + 48 + 34) - 6 * size::row);
    g.shown_h = std::min(g.pitch * float(g.layers), std::floor(max / g.pitch) * g.pitch);
    const Rect grid{g.left, g.top, g.pitch * float(g.heads), g.pitch * float(g.layers)};
    g.shown_w = std::min(grid.w, std::floor((width - names) / g.pitch) * g.pitch);
    follow_selection(s, g);
    s.of<HeadListState>().scroll = std::clamp(s.of<HeadListState>().scroll, 0.0f, grid.h - g.shown_h);
    s.of<HeadListState>().scroll_x = std::clamp(s.of<HeadListState>().scroll_x, 0.0f, grid.w - g.shown_w);

    if (s.sentence() && ui.link("tab/All heads", area.right() - pad, area.y + 22, "All heads"))
        s.send("view heads");
    const float title = ui.text.draw(area.x + pad, area.y + 22, kBody, ui.colors->t1, "Heads");
    ui.text.draw(area.x + pad + title + 10, area.y + 22, kCaptionMono, ui.colors->t3,
                 std::to_string(g.layers) + " × " + per_stack(c, &StackConfig::heads) +
                     (g.shared > 1 ? " · " + std::to_string(c.kv_heads(0)) + " key/value" : ""));
    ui.clip(area);
    draw_grid_labels(s, g, {area.x + pad, g.top, names, g.shown_h});
    answer_grid(s, g, grid);
    draw_thumbnails(s, g, grid);
    ui.unclip();

    const float below = g.top + g.shown_h + 12;
    ui.hairline(area.x + pad, below, area.x + pad + width, below);
    const Rect rest{area.x + pad, below, width, area.bottom() - below};
    if (!s.sentence()) {
        ui.text.draw(rest.x, below + 22, kCaption, ui.colors->t3, "Ranking needs a sentence.");
        return;
    }
    const View& view = views()[view_for(s.session, *s.model())];
    (view.beside.list ? view.beside.list : draw_head_ranking)(s, rest);
}

}  // namespace headlight

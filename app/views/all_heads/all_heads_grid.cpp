// Draws all heads as thumbnails: by layer, or sorted by a statistic.
#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "base/cast.h"
#include "parts/head_tags.h"
#include "parts/token_axis.h"
#include "views/all_heads/all_heads.h"

namespace headlight {

namespace {

/// Limits of a cell's side: fitted to the window, and zoomed.
constexpr float kLeastByLayer = 26, kCaptioned = 56, kLargest = 420, kLeastThumb = 14, kLargestThumb = 640;
constexpr float kCaptionLine = 20, kNarrowGap = 3, kRoomy = 40;  // below a thumbnail; gap between small ones
constexpr float kAside = 20, kNumbers = 30, kOverSorted = 12, kBelow = 8;

/// Stacks layers in the number of folds that makes thumbnails largest; empty cells between hold their names.
struct Folds {
    int layers = 1, heads = 1;
    float name = 0;  // width of the names of layers

    int between(float cell) const { return int(std::ceil(name / cell)); }
    /// Columns from one fold to the next.
    int pitch(float cell) const { return heads + between(cell); }
    std::pair<int, int> rows_and_columns(float cell, float room) const {
        const int fit = (int(room / cell) + between(cell)) / pitch(cell), max = std::clamp(fit, 1, layers);
        const int rows = (layers + max - 1) / max, count = (layers + rows - 1) / rows;
        return {rows, count * pitch(cell) - between(cell)};
    }
};

/// Cells with a square thumbnail in the upper left corner.
struct ThumbGrid : Grid {
    float side = 0;
    bool by_layer = false, captions = false, plates = false;
    int pitch = 0;  // by layer: columns from one fold to the next
    SinkRoom sink;

    int place_of(AttentionHead head) const {
        return head.block % rows * columns + head.block / rows * pitch + head.head;
    }

    Rect slot(int place) const {
        const Rect r = cell(place / columns, place % columns);
        return sink.keys(r.x, r.y, side);
    }
    /// The plate, or the thumbnail alone; with the weights of its head's sink.
    Rect around(int place) const {
        Rect r = slot(place);
        (sink.above ? r.y : r.x) -= sink.all();
        (sink.above ? r.h : r.w) += sink.all();
        if (!plates) return r;
        return {r.x - kPlateEdge, r.y - kPlateEdge, r.w + 2 * kPlateEdge, r.h + kPlateEdge + kPlateBand};
    }
    bool sees(Rect r) const {
        return r.bottom() >= view.y && r.y <= view.bottom() && r.right() >= view.x && r.x <= view.right();
    }
    /// The same with thumbnails centered in their cells, for the labels.
    Grid of_names() const {
        Grid out = *this;
        out.x0 += (w - side) / 2 - (sink.above ? 0 : sink.all());
        out.y0 += (h - side) / 2 - (sink.above ? sink.all() : 0);
        return out;
    }
};

/// The name of a block; with how it mixes tokens, where layers differ.
std::string row_name(const Scene& s, int block) {
    const ModelConfig& c = s.model()->config;
    return block_name(c, block) + (is_hybrid(s) ? " " + std::string(mixer_name(c.attention(block))) : "");
}

std::vector<std::string> row_names(const Scene& s) {
    std::vector<std::string> out;
    for (int block = 0; block < s.model()->config.blocks(); ++block) out.push_back(row_name(s, block));
    return out;
}

/// The area for thumbnails, without head numbers and layer names.
Rect room_for_thumbs(Scene& s, Rect area, bool by_layer) {
    Rect room = inset(area, kAside, 0);
    take_top(room, by_layer ? kNumbers : kOverSorted);
    take_bottom(room, kBelow);
    if (!by_layer) return room;
    take_left(room, widest_of(s.ui, kCaptionMono, row_names(s)), gap::medium);
    return room;
}

Folds folds_of(Scene& s) {
    const ModelConfig& c = s.model()->config;
    return {c.blocks(), c.max_heads(), widest_of(s.ui, kCaptionMono, row_names(s)) + 2 * gap::medium};
}

/// The gap between thumbnails, and the height of a cell with its caption, for a cell of this width.
float apart_in(float cell, bool plates) {
    return plates ? 2 * kPlateEdge + kNarrowGap : cell >= kRoomy ? gap::small : kNarrowGap;
}
float cell_height(float cell, bool plates) {
    if (plates) return cell + kPlateBand;
    return cell >= kCaptioned ? cell - apart_in(cell, false) + kCaptionLine : cell;
}

/// The largest cell with which all heads fit, within limits.
float fitting_cell(const Ui& ui, Rect room, bool by_layer, bool plates,
                   const std::function<std::pair<int, int>(float)>& rows_and_columns) {
    const auto fits = [&](float w) {
        const auto [rows, columns] = rows_and_columns(w);
        return w * float(columns) <= room.w + 1 && cell_height(w, plates) * float(rows) <= room.h;
    };
    float w = kLargest;
    while (w > (by_layer ? kLeastByLayer : kCaptioned) && !fits(w)) w -= 1 / ui.scale;
    return w;
}

/// Uses spare height for captions and gaps between layers.
void take_height(const Ui& ui, ThumbGrid& g) {
    constexpr float kLeastCaptioned = 44, kMaxAir = 14;
    const float each = g.view.h / float(g.rows);
    if (!g.captions && !g.plates && g.w >= kLeastCaptioned && g.side + kCaptionLine <= each) {
        g.captions = true;
        g.h = g.side + kCaptionLine;
    }
    g.h += ui.whole(std::clamp(each - g.h, 0.0f, kMaxAir));
}

/// Fits all heads, then applies the zoom.
ThumbGrid arrange(Scene& s, Rect area, int heads, bool plates) {
    auto& state = s.of<AllHeadsState>();
    ThumbGrid g;
    g.by_layer = state.layout == HeadsLayout::by_layer;
    g.plates = plates;
    g.view = room_for_thumbs(s, area, g.by_layer);
    const Folds folds = folds_of(s);
    const auto rows_and_columns = [&](float w) {
        if (g.by_layer) return folds.rows_and_columns(w, g.view.w);
        const int across = std::max(1, int(g.view.w / w));
        return std::pair{(heads + across - 1) / across, across};
    };
    const float fitting = fitting_cell(s.ui, g.view, g.by_layer, plates, rows_and_columns);
    Viewport& seen = state.seen;
    seen.min = kLeastThumb / fitting;
    seen.max = std::max(seen.min, kLargestThumb / fitting);
    seen.zoom = std::clamp(seen.zoom, seen.min, seen.max);
    g.w = s.ui.whole(fitting * seen.zoom);
    g.captions = g.w >= kCaptioned && !plates;
    g.sink = sink_room(s, g.w);
    g.side = g.w - apart_in(g.w, plates) - g.sink.all();
    g.h = cell_height(g.w, plates);
    std::tie(g.rows, g.columns) = rows_and_columns(g.by_layer ? fitting : g.w);
    g.pitch = folds.pitch(fitting);
    if (g.by_layer) take_height(s.ui, g);
    return g;
}

void scroll(Scene& s, ThumbGrid& g) {
    Ui& ui = s.ui;
    Viewport& seen = s.of<AllHeadsState>().seen;
    if (ui.ctrl) enlarged(ui, g.view, seen);
    scrolled_across(ui, g.view, g.w * float(g.columns), seen);
    scrolled(ui, {g.view.x, g.view.y, g.view.w + gap::large, g.view.h}, g.h * float(g.rows), seen);
    g.x0 = ui.snapped(seen.x);
    g.y0 = ui.snapped(seen.y);
}

struct Slot {
    int place, number;
    AttentionHead head;
};

/// Places every head; by layer, a block with fewer heads has a shorter row.
std::vector<Slot> slots_of(const ThumbGrid& g, const ModelConfig& c, const HeadChoice& choice) {
    std::vector<Slot> out;
    for (int i = 0; i < isize(choice.order); ++i) {
        const int number = g.by_layer ? i : choice.order[i];
        const AttentionHead head = c.head_at(number);
        out.push_back({g.by_layer ? g.place_of(head) : i, number, head});
    }
    return out;
}

bool is_selected(const Scene& s, AttentionHead head) {
    return head == AttentionHead{s.session.selection.block, s.session.selection.head};
}

float largest_of(const Scene& s, int head) {
    constexpr float kLeast = 1e-6f;
    return s.of<AllHeadsState>().scale == 0
               ? std::max(kLeast, largest_entry(s.sentence()->heads[head].thumbnail))
               : s.pictures.largest;
}

void draw_pictures(Scene& s, const ThumbGrid& g, const HeadChoice& choice, const std::vector<Slot>& slots) {
    constexpr float kFaded = 0.55f;  // heads that the filter removes
    Ui& ui = s.ui;
    if (!s.pictures.thumbnails) return;
    GridDraw d = thumbnail_grid(s, g.side);
    d.across = g.columns;
    d.linear = s.of<AllHeadsState>().scale == 2;
    d.slots.assign(g.rows * g.columns, GridSlot{-1, 0, 1});
    for (const Slot& slot : slots)
        d.slots[slot.place] = {slot.number, choice.kept[slot.number] ? 0 : kFaded,
                               largest_of(s, slot.number)};
    d.pitch = ui.pixels(ImVec2{g.w, g.h});
    add_sinks(s, g.sink, d);
    const Rect whole = g.whole(), first = g.sink.keys(whole.x, whole.y, g.side);
    const Rect r = ui.pixels({first.x, first.y, whole.w, whole.h});
    d.rect = {r.x, r.y, r.w, r.h};
    ui.heat->draw(*ui.list, d);
}

/// Draws the head's name, then its label or its value if it fits.
void draw_caption(Scene& s, Rect line, const HeadChoice& choice, const Slot& slot, bool by_layer) {
    Ui& ui = s.ui;
    const auto [block, head] = slot.head;
    const bool selected = is_selected(s, slot.head);
    const std::string label = head_label(s, block, head);
    const float statistic = choice.values[slot.number];
    const ImU32 faint = selected ? ui.colors->accent_text : ui.colors->t3,
                ink = choice.kept[slot.number] && !selected ? ui.colors->t1 : faint;
    const ModelConfig& c = s.model()->config;
    const std::string name = head_name(c, block, head),  // rows by layer name the stack too
        shorter = by_layer ? std::to_string(c.block(block).layer) + "." + std::to_string(head) : name;
    if (std::isnan(statistic) && s.sentence()->trace->is_mixing(block)) {  // statistics are of softmax
        take_left(
            line,
            write(ui, line, kCaptionMono, ink, first_that_fits(ui, kCaptionMono, {name, shorter}, line.w)),
            gap::tight);
        const std::string reach = "±" + number(largest_entry(s.sentence()->heads[slot.head].thumbnail), 2);
        if (ui.text.width(kCaptionMono, reach) <= line.w)
            write(ui, line, kCaptionMono, faint, reach, Flush::right);
        return;
    }
    const std::string exact = number(statistic, 2);
    const float both = ui.text.width(kCaptionMono, shorter) + gap::tight + ui.text.width(kCaptionMono, exact);
    if (by_layer && label.empty() && both > line.w)  // a value alone would read as a head's name
        return void(write(ui, line, kCaptionMono, ink, shorter));
    const float room =
        line.w - (label.empty() ? ui.text.width(kCaptionMono, number(statistic, 2)) + gap::close : 0);
    take_left(line,
              write(ui, line, kCaptionMono, ink, first_that_fits(ui, kCaptionMono, {name, shorter}, room)),
              gap::tight);
    if (!label.empty() && line.w > gap::medium) return void(write(ui, line, kCaption, ui.colors->t2, label));
    const std::string value =
        first_that_fits(ui, kCaptionMono, {number(statistic, 2), number(statistic, 1)}, line.w);
    if (ui.text.width(kCaptionMono, value) <= line.w)
        write(ui, line, kCaptionMono, faint, value, Flush::right);
}

void draw_captions(Scene& s, const ThumbGrid& g, const HeadChoice& choice, const std::vector<Slot>& slots) {
    if (!g.captions) return;
    for (const Slot& slot : slots)
        if (const Rect r = g.slot(slot.place); g.sees(r))
            draw_caption(s, {r.x, r.bottom(), r.w, g.h - g.side - (g.sink.above ? g.sink.all() : 0) - 2},
                         choice, slot, g.by_layer);
}

void draw_plates(Scene& s, const ThumbGrid& g, const HeadChoice& choice, const std::vector<Slot>& slots) {
    if (!g.plates) return;
    for (const Slot& slot : slots)
        if (const Rect r = g.around(slot.place); g.sees(r))
            draw_plate(s, r, choice, slot.number, g.by_layer ? "" : head_name(s.model()->config, slot.head));
}

/// In the masked corner, else at the left of the plate's value.
void draw_slot_tags(Scene& s, const ThumbGrid& g, const HeadChoice& choice, const std::vector<Slot>& slots) {
    constexpr float kGlyph = 18;
    for (const Slot& slot : slots) {
        const HeadTagRow* tag = choice.tags[size_t(slot.number)];
        const Rect r = g.slot(slot.place);
        if (!tag || !g.sees(r) || draw_corner_tag(s, r, slot.head) || !g.plates) continue;
        write(s.ui, {r.x, r.bottom(), kGlyph, kPlateBand}, kCaption,
              ink_on(plate_back(s, choice, slot.number)), tag->glyph, Flush::center);
    }
}

/// Draws layer and head numbers, which do not scroll with the grid.
void draw_axes(Scene& s, const ThumbGrid& g, Rect area) {
    if (!g.by_layer) return;
    const ModelConfig& c = s.model()->config;
    const bool folded = g.rows < c.blocks();
    s.ui.clip(area);
    for (int first = 0, column = 0; first < c.blocks(); first += g.rows, column += g.pitch) {
        Grid fold = g.of_names();
        fold.rows = std::min(g.rows, c.blocks() - first);
        fold.columns = c.max_heads();
        if (folded) {  // labels scroll with their fold
            fold.view = {g.x(column), g.view.y, g.w * float(fold.columns), g.view.h};
            fold.x0 = (g.w - g.side) / 2;
        }
        draw_head_names(
            s, fold, g.view.x - area.x - 2 * gap::tight, [&](int block) { return row_name(s, block); },
            first);
    }
    s.ui.unclip();
}

/// Handles the mouse; returns the slot under it.
const Slot* answer(Scene& s, const ThumbGrid& g, const std::vector<Slot>& slots) {
    Ui& ui = s.ui;
    for (const Slot& slot : slots)
        if (const Rect r = g.around(slot.place); g.sees(r))
            ui.name("heads/" + head_name(s.model()->config, slot.head), r);
    const Hit h = ui.hit("heads/grid", g.view);
    if (!h.hovered || s.session.shows(Sheet::label) || !g.whole().contains(h.mouse)) return nullptr;
    const auto [row, column] = g.at(h.mouse);
    const auto slot =
        std::find_if(slots.begin(), slots.end(),
                     [place = row * g.columns + column](const Slot& x) { return x.place == place; });
    if (slot == slots.end()) return nullptr;
    const auto [block, head] = slot->head;
    s.pointed.head = std::pair{block, head};
    if (h.clicked && ui.shift) {
        s.send("compare", head_path(s.model()->config, block, head));
        s.send("view compare");
    } else if (h.clicked) {
        open_head(s, block, head);
    }
    if (ImGui::IsMouseClicked(1)) {
        s.select(block, head);
        s.send("label");
    }
    return &*slot;
}

}  // namespace

void draw_head_grid(Scene& s, Rect area, const HeadChoice& choice) {
    constexpr float kOutline = 2;
    Ui& ui = s.ui;
    ThumbGrid g = arrange(s, area, isize(choice.order), choice.painted());
    scroll(s, g);
    const auto slots = slots_of(g, s.model()->config, choice);
    if (slots.empty()) return;
    const Slot* pointed = answer(s, g, slots);
    ui.clip(inset(g.view, -kPlateEdge - kOutline, -kPlateEdge - kOutline));
    draw_plates(s, g, choice, slots);
    draw_pictures(s, g, choice, slots);
    draw_slot_tags(s, g, choice, slots);
    draw_captions(s, g, choice, slots);
    const auto outline = [&](const Slot& slot, ImU32 ink) {
        ui.frame(inset(g.around(slot.place), -kOutline, -kOutline), ink, kOutline);
    };
    for (const Slot& slot : slots)
        if (is_selected(s, slot.head)) outline(slot, ui.colors->accent);
    if (pointed) outline(*pointed, ui.colors->hover);
    ui.unclip();
    draw_axes(s, g, area);
    if (pointed) draw_head_card(s, area, g.around(pointed->place), pointed->number);
}

}  // namespace headlight

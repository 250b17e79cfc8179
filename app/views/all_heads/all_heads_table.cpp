// Draws all heads as a sortable table of statistics, and as a map of similar heads.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/all_heads/all_heads.h"
#include "views/tables.h"

namespace headlight {

namespace {

constexpr float kTableNames = 168, kLeastHeadNames = 56, kHeadLine = 36, kHeadTextLine = 17;

/// A line of the table: the head's name and label, then its statistics.
struct TableLine {
    Rect names, columns;
    int count;
    Rect column(int i) const {
        Rect r = nth_column(columns, i, count);
        take_right(r, 0, gap::small);
        return r;
    }
};

TableLine divided(Rect line, float names, int columns) {
    TableLine t;
    t.count = columns;
    t.names = take_left(line, names);
    t.columns = line;
    return t;
}

/// The width of names, and of labels if a head has one or the window is wide.
float room_of_names(const Scene& s, float width) {
    constexpr float kWide = 1200;
    const ModelConfig& c = s.model()->config;
    float names = kLeastHeadNames;
    bool labeled = width >= kWide;
    for (int i = 0; i < c.head_count(); ++i) {
        const AttentionHead head = c.head_at(i);
        labeled = labeled || !head_label(s, head.block, head.head).empty();
        names = std::max(names, s.ui.text.width(kBodyMono, head_name(c, head)) + gap::medium);
    }
    return labeled ? std::max(names, kTableNames) : names;
}

/// Draws an arrow of the sort order, up if ascending.
void draw_order(Ui& ui, ImVec2 at, bool up) {
    const float half = 3.5f, rise = up ? 2.0f : -2.0f;
    ui.polyline(
        std::array<ImVec2, 3>{{{at.x - half, at.y + rise}, {at.x, at.y - rise}, {at.x + half, at.y + rise}}},
        ui.colors->accent_text, 1.3f);
}

/// Splits a name that does not fit into two lines of similar width.
std::vector<std::string> in_two_lines(Ui& ui, const std::string& name, float room) {
    if (ui.text.width(kCaption, name) <= room) return {name};
    std::vector<std::string> best{name};
    float min = 1e9f;
    for (size_t at = name.find(' '); at != std::string::npos; at = name.find(' ', at + 1)) {
        const std::string first = name.substr(0, at), second = name.substr(at + 1);
        const float wide = std::max(ui.text.width(kCaption, first), ui.text.width(kCaption, second));
        if (wide >= min) continue;
        min = wide;
        best = {first, second};
    }
    return best;
}

/// Draws the name of a column; click to sort, again to reverse.
void draw_column_head(Scene& s, Rect r, const HeadColumn& column, int i) {
    constexpr float kOrder = 14;
    Ui& ui = s.ui;
    const auto& state = s.of<AllHeadsState>();
    const std::string path = "heads/column/" + column.label;
    const Hit h = ui.control(path, r);
    const bool on = state.sort == i;
    const ImU32 ink = on ? ui.colors->accent_text : h.hovered ? ui.colors->t1 : ui.colors->t2;
    Rect name = r;
    take_left(name, on ? kOrder : 0);
    const auto lines = in_two_lines(ui, column.label, name.w);
    float wide = 0;
    for (int k = 0; k < isize(lines); ++k)
        wide = std::max(wide,
                        write(ui, nth_row(band(name, kHeadTextLine * float(lines.size())), k, isize(lines)),
                              kCaption, ink, lines[k], Flush::right));
    if (on)
        draw_order(ui, {name.right() - wide - kOrder / 2 - 2, r.middle_y()},
                   column.ascending != state.turned);
    ui.tooltip(path, h, column.definition);
    if (!h.clicked) return;
    if (on)
        s.send("heads order");
    else
        s.send("heads sort", sort_words()[i]);
}

void draw_value(Ui& ui, Rect cell, const HeadColumn& column, size_t head, float largest, bool on) {
    constexpr float kNumber = 54, kLeastForBar = 100;
    if (column.values.empty()) return;
    const float v = column.values[head];
    const bool bar = cell.w > kLeastForBar && !std::isnan(v);
    write(ui, cell, kBodyMono, on ? ui.colors->t1 : ui.colors->t2,
          fine_number(v, column.unit.empty() ? 3 : 2), Flush::right);
    if (!bar) return;
    take_right(cell, kNumber, gap::small);
    take_left(cell, 0, gap::medium);
    ui.bar(band(cell, size::bar), std::abs(v) / largest,
           v < 0 ? ui.colors->minus
           : on  ? ui.colors->accent
                 : ui.colors->t3);
}

/// The largest magnitude of each column, the full length of its bars.
std::vector<float> largest_values(const std::vector<HeadColumn>& columns) {
    std::vector<float> largest;
    for (const HeadColumn& column : columns) {
        largest.push_back(1e-9f);
        for (const float v : column.values)
            if (!std::isnan(v)) largest.back() = std::max(largest.back(), std::abs(v));
    }
    return largest;
}

void draw_head_row(Scene& s, Rect line, const HeadChoice& choice, int index,
                   const std::vector<float>& largest, float names) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    const auto [block, head] = c.head_at(index);
    const std::string name = head_name(c, block, head), label = head_label(s, block, head);
    const Rect back{line.x - gap::small, line.y, line.w + gap::small, line.h};
    const Hit h = ui.hit("heads/row/" + name, back);
    const bool selected = block == s.session.selection.block && head == s.session.selection.head;
    if (selected || h.hovered)
        ui.fill(back, selected ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
    const ImU32 ink = !choice.kept[index] ? ui.colors->t3 : selected ? ui.colors->accent_text : ui.colors->t1;
    TableLine l = divided(line, names, isize(choice.columns));
    take_left(l.names, write(ui, l.names, kBodyMono, ink, name), gap::small);
    take_right(l.names, 0, gap::small);
    write(ui, l.names, kCaption, ui.colors->t2, label);
    for (int k = 0; k < l.count; ++k)
        draw_value(ui, l.column(k), choice.columns[k], index, largest[k],
                   s.of<AllHeadsState>().sort == k && choice.kept[index]);
    if (h.hovered) s.pointed.head = std::pair{block, head};
    if (h.clicked) open_head(s, block, head);
}

}  // namespace

void draw_head_table(Scene& s, Rect area, const HeadChoice& choice) {
    Ui& ui = s.ui;
    Rect rest = inset(area, size::center_pad, gap::small);
    const float names = room_of_names(s, rest.w);
    const TableLine head = divided(take_top(rest, kHeadLine, gap::tight), names, isize(choice.columns));
    write(ui, head.names, kCaption, ui.colors->t2, "head");
    for (int i = 0; i < head.count; ++i) draw_column_head(s, head.column(i), choice.columns[i], i);
    ui.fill({rest.x, rest.y - gap::tight, rest.w, ui.line()}, ui.colors->l2);
    const auto largest = largest_values(choice.columns);
    Viewport& seen = s.of<AllHeadsState>().seen;
    scrolled(ui, {rest.x, rest.y, rest.w + gap::large, rest.h}, size::row * float(choice.order.size()), seen);
    const Grid lines{rest, isize(choice.order), 1, rest.w, size::row, 0, seen.y};
    ui.clip({area.x, rest.y, area.w, rest.h});
    for (int i = 0; i < lines.rows; ++i)
        if (lines.touches_row(i)) draw_head_row(s, lines.row(i), choice, choice.order[i], largest, names);
    ui.unclip();
}

namespace {

struct HeadPlane {
    Rect frame;
    const Matrix& points;
    Vector low, high;
    ImVec2 at(Index i) const {
        const float x = (points(i, 0) - low[0]) / std::max(high[0] - low[0], 1e-9f),
                    y = (points(i, 1) - low[1]) / std::max(high[1] - low[1], 1e-9f);
        return {frame.x + frame.w * (0.04f + 0.92f * x), frame.bottom() - frame.h * (0.05f + 0.9f * y)};
    }
    /// The nearest head within kReach, or −1.
    int nearest(ImVec2 place) const {
        constexpr float kReach = 20;
        int best = -1;
        float min = kReach * kReach;
        for (int i = 0; i < points.rows(); ++i) {
            const ImVec2 p = at(i);
            const float d = (p.x - place.x) * (p.x - place.x) + (p.y - place.y) * (p.y - place.y);
            if (d < min) min = d, best = i;
        }
        return best;
    }
};

void draw_points(Scene& s, const HeadPlane& plane, const HeadChoice& choice, const Colormap& map,
                 int pointed) {
    constexpr float kDisc = 5, kRing = 8;
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    LabelPlacer placer(plane.frame);
    for (int i = 0; i < plane.points.rows(); ++i) {
        const auto [block, head] = c.head_at(i);
        const bool selected = block == s.session.selection.block && head == s.session.selection.head,
                   kept = choice.kept[i];
        const ImU32 color = color_at(map, 0.15f + 0.85f * float(block) / float(std::max(1, c.blocks() - 1)));
        const ImVec2 p = plane.at(i);
        ui.disc(p, kDisc, faded(color, kept ? 1.0f : 0.25f));
        if (selected) ui.ring(p, kRing, ui.colors->accent, 2);
        if (i == pointed) ui.ring(p, kRing, ui.colors->hover, 2);
        if (kept)
            placer.draw(ui, p, p, head_name(c, block, head),
                        selected ? ui.colors->accent_text : ui.colors->t2, selected || i == pointed);
    }
}

/// "layer 0 ▬▬ last layer", and the meaning of distance.
void draw_plane_caption(Ui& ui, Rect line, const Colormap& map, double kept) {
    constexpr float kBar = 80;
    take_right(line, write(ui, line, kCaption, ui.colors->t3, "last layer", Flush::right), gap::small);
    ui.gradient(band(take_right(line, kBar, gap::small), size::bar), map);
    take_right(line, write(ui, line, kCaption, ui.colors->t3, "layer 0", Flush::right), gap::small);
    caption(ui, line,
            "Nearby heads have similar patterns (Hellinger distance; this plane keeps " +
                decimals(100 * kept, 0) + " % of the variance).");
}

}  // namespace

void draw_head_map(Scene& s, Rect area, const HeadChoice& choice) {
    constexpr float kFoot = 40, kAround = 20;
    Ui& ui = s.ui;
    const auto* found = s.found<HeadMapRequest>();
    if (!found || found->answer.points.rows() != isize(choice.kept)) return;
    Rect frame = inset(area, size::center_pad, 0);
    take_top(frame, 0, gap::large);
    const Rect foot = take_bottom(frame, kFoot);
    const Matrix& points = found->answer.points;
    const HeadPlane plane{frame, points, points.colwise().minCoeff(), points.colwise().maxCoeff()};
    ui.fill(frame, ui.colors->bg0);
    ui.frame(frame, ui.colors->l1);
    const Hit h = ui.hit("heads/map", frame);
    const int pointed = h.hovered ? plane.nearest(h.mouse) : -1;
    const Colormap& map = colormap("viridis", true);
    draw_points(s, plane, choice, map, pointed);
    draw_plane_caption(ui, foot, map, found->answer.kept);
    if (pointed < 0) return;
    const auto [block, head] = s.model()->config.head_at(pointed);
    s.pointed.head = std::pair{block, head};
    if (h.clicked) return open_head(s, block, head);
    draw_head_card(s, area, square_at(plane.at(pointed), kAround), pointed);
}

std::vector<NumberTable> heads_numbers(const Scene& s) {
    const HeadChoice choice = choose_heads(s);
    const ModelConfig& c = s.model()->config;
    NumberTable out{"statistics", "head", "statistic", {}, {}, {}};
    std::vector<std::vector<float>> columns;
    for (const HeadColumn& column : choice.columns) {
        if (column.values.empty()) continue;
        out.columns.push_back(column.label);
        columns.push_back(column.values);
    }
    const Matrix all = matrix_of_columns(columns);
    out.values.resize(choice.count, all.cols());
    Index row = 0;
    for (const int i : choice.order) {
        if (!choice.kept[i]) continue;
        out.rows.push_back(head_name(c, c.head_at(i)));
        out.values.row(row++) = all.row(i);
    }
    return {std::move(out)};
}

}  // namespace headlight

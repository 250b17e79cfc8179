// All heads as a sortable table of statistics, and as a map in which like heads lie near each other.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/all_heads.h"
#include "views/numbers.h"

namespace headlight {

namespace {

struct TableLayout {
    Rect rows;
    float pitch, name, column;
    float x(size_t i) const { return rows.x + name + column * float(i); }
};

void draw_column_heads(Scene& s, const TableLayout& t, float y, const std::vector<HeadColumn>& columns) {
    Ui& ui = s.ui;
    ui.text.draw(t.rows.x, y, kCaption, ui.colors->t2, "head");
    for (int i = 0; i < isize(columns); ++i) {
        const std::string path = "heads/column/" + columns[i].label;
        const Rect r{t.x(i), y - 16, t.column - 8, 32};
        const Hit h = ui.control(path, r);
        const bool on = s.of<AllHeadsState>().sort == i;
        ui.text.draw_right(r.right(), y, kCaption,
                           on          ? ui.colors->accent_text
                           : h.hovered ? ui.colors->t1
                                       : ui.colors->t2,
                           ui.text.fitted(kCaption, columns[i].label, r.w - 14));
        if (on) {
            const float x = r.right() - std::min(ui.text.width(kCaption, columns[i].label), r.w - 14) - 9,
                        up = columns[i].ascending != s.of<AllHeadsState>().turned ? 1.0f : -1.0f;
            ui.polyline(
                std::array<ImVec2, 3>{{{x - 3.5f, y + up * 2}, {x, y - up * 2}, {x + 3.5f, y + up * 2}}},
                ui.colors->accent_text, 1.3f);
        }
        ui.tooltip(path, h, columns[i].definition);
        if (!h.clicked) continue;
        if (on)
            s.send("heads order");
        else
            s.send("heads sort", sort_words()[i]);
    }
    ui.fill({t.rows.x, y + 18, t.rows.w, ui.line()}, ui.colors->l2);
}

void draw_value(Ui& ui, Rect cell, const HeadColumn& column, size_t head, float largest, bool on) {
    if (column.values.empty()) return;
    const float v = column.values[head];
    const Rect track{cell.x + 12, cell.middle_y() - 4, cell.w - (12 + 62), 8};
    if (v < 0 && cell.w > 100) {
        ui.bar(track, -v / largest, ui.colors->minus);
    } else if (!std::isnan(v) && cell.w > 100)
        ui.bar({cell.x + 12, cell.middle_y() - 4, cell.w - (12 + 62), 8}, v / largest,
               on ? ui.colors->accent : ui.colors->t3);
    ui.text.draw_right(cell.right(), cell.middle_y(), kBodyMono, on ? ui.colors->t1 : ui.colors->t2,
                       number(v, column.unit.empty() ? 3 : 2));
}

}  // namespace

void draw_head_table(Scene& s, Rect area, const HeadChoice& choice) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    const auto& columns = choice.columns;
    TableLayout t;
    t.rows = {area.x + 24, area.y + 48, area.w - 48, area.h - 56};
    t.name = 168;
    t.column = (t.rows.w - t.name) / float(columns.size());
    t.pitch = size::row;
    draw_column_heads(s, t, area.y + 26, columns);
    std::vector<float> largest;
    for (const HeadColumn& column : columns) {
        largest.push_back(1e-9f);
        for (const float v : column.values)
            if (!std::isnan(v)) largest.back() = std::max(largest.back(), std::abs(v));
    }
    s.of<AllHeadsState>().scroll =
        scrolled(ui, {t.rows.x, t.rows.y, t.rows.w + 16, t.rows.h}, t.pitch * float(choice.order.size()),
                 s.of<AllHeadsState>().scroll);
    ui.clip({area.x, t.rows.y, area.w, t.rows.h});
    for (int i = 0; i < isize(choice.order); ++i) {
        const int index = choice.order[i];
        const Rect r{t.rows.x - 8, t.rows.y + t.pitch * float(i) - s.of<AllHeadsState>().scroll, t.rows.w + 8,
                     t.pitch};
        if (r.bottom() < t.rows.y || r.y > t.rows.bottom()) continue;
        const auto [block, head] = c.head_at(index);
        const std::string name = head_name(c, block, head), label = head_label(s, block, head);
        const Hit h = ui.hit("heads/row/" + name, r);
        const bool selected = block == s.session.selection.block && head == s.session.selection.head;
        if (selected || h.hovered)
            ui.fill(r, selected ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
        const ImU32 ink = !choice.kept[index] ? ui.colors->t3
                          : selected          ? ui.colors->accent_text
                                              : ui.colors->t1;
        const float w = ui.text.draw(t.rows.x, r.middle_y(), kBodyMono, ink, name);
        if (!label.empty())
            ui.text.draw(t.rows.x + w + 10, r.middle_y(), kCaption, ui.colors->t2,
                         ui.text.fitted(kCaption, label, t.name - w - 16));
        for (int k = 0; k < isize(columns); ++k)
            draw_value(ui, {t.x(k), r.y, t.column - 8, r.h}, columns[k], index, largest[k],
                       s.of<AllHeadsState>().sort == k && choice.kept[index]);
        if (h.hovered) s.pointed.head = std::pair{block, head};
        if (h.clicked) open_head(s, block, head);
    }
    ui.unclip();
}

void draw_head_map(Scene& s, Rect area, const HeadChoice& choice) {
    Ui& ui = s.ui;
    const auto* found = s.found<HeadMapWanted>();
    if (!found || found->answer.points.rows() != isize(choice.kept)) return;
    const ModelConfig& c = s.model()->config;
    const Matrix& points = found->answer.points;
    const Rect frame{area.x + 24, area.y + 16, area.w - 48, area.h - 56};
    ui.fill(frame, ui.colors->bg0);
    ui.frame(frame, ui.colors->l1);
    const auto low = points.colwise().minCoeff().eval(), high = points.colwise().maxCoeff().eval();
    const auto at = [&](Index i) {
        const float x = (points(i, 0) - low[0]) / std::max(high[0] - low[0], 1e-9f),
                    y = (points(i, 1) - low[1]) / std::max(high[1] - low[1], 1e-9f);
        return ImVec2{frame.x + frame.w * (0.04f + 0.92f * x), frame.bottom() - frame.h * (0.05f + 0.9f * y)};
    };
    const Hit h = ui.hit("heads/map", frame);
    int pointed = -1;
    float min = 20 * 20;
    for (int i = 0; h.hovered && i < points.rows(); ++i) {
        const ImVec2 p = at(i);
        const float d = (p.x - h.mouse.x) * (p.x - h.mouse.x) + (p.y - h.mouse.y) * (p.y - h.mouse.y);
        if (d < min) min = d, pointed = i;
    }
    LabelPlacer placer(frame);
    const Colormap& map = colormap("viridis", true);
    for (int i = 0; i < points.rows(); ++i) {
        const auto [block, head] = c.head_at(i);
        const bool selected = block == s.session.selection.block && head == s.session.selection.head,
                   kept = choice.kept[i];
        const ImU32 color = color_at(map, 0.15f + 0.85f * float(block) / float(std::max(1, c.blocks() - 1)));
        const ImVec2 p = at(i);
        ui.disc(p, 5, faded(color, kept ? 1.0f : 0.25f));
        if (selected) ui.ring(p, 8, ui.colors->accent, 2);
        if (i == pointed) ui.ring(p, 8, ui.colors->hover, 2);
        if (kept)
            placer.draw(ui, p, p, head_name(c, block, head),
                        selected ? ui.colors->accent_text : ui.colors->t2, selected || i == pointed);
    }
    const float y = frame.bottom() + 20;
    ui.text.draw(frame.x, y, kCaption, ui.colors->t3,
                 "Heads with like patterns lie near each other (Hellinger distances of the patterns; this "
                 "plane keeps " +
                     decimals(100 * found->answer.kept, 0) + " % of the variance).");
    const float right = frame.right();
    ui.text.draw_right(right, y, kCaption, ui.colors->t3, "last layer");
    ui.gradient({right - 156, y - 4, 80, 8}, map);
    ui.text.draw_right(right - 162, y, kCaption, ui.colors->t3, "layer 0");
    if (pointed < 0) return;
    const auto [block, head] = c.head_at(pointed);
    s.pointed.head = std::pair{block, head};
    if (h.clicked) return open_head(s, block, head);
    const ImVec2 p = at(pointed);
    draw_head_card(s, area, {p.x - 10, p.y - 10, 20, 20}, block, head);
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
        out.rows.push_back(head_path(c, c.head_at(i)));
        out.values.row(row++) = all.row(i);
    }
    return {std::move(out)};
}

}  // namespace headlight

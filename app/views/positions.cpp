// How the open model knows where a token stands: its table of positions, what two positions have in common,
// one column as a curve.

#include "views/positions.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "paint/matrix.h"
#include "views/map_parts.h"
#include "views/parts.h"
#include "views/views.h"

namespace headlight {

namespace {

/// The value that all but one in a hundred lie within: what the ends of the colors stand for.
float reach_of(const Matrix& values) {
    std::vector<float> sizes;
    for (Index i = 0; i < values.size(); ++i)
        if (const float v = std::abs(values.data()[i]); !std::isnan(v)) sizes.push_back(v);
    if (sizes.empty()) return 1;
    const auto at = sizes.begin() + int(double(sizes.size() - 1) * 0.99);
    std::nth_element(sizes.begin(), at, sizes.end());
    return std::max(*at, 1e-6f);
}

/// A map of signed values with its labels, range and caption; answers to the mouse.
struct Map {
    const char* path;
    const Matrix& values;
    std::string rows, columns, caption;
    std::function<std::string(int)> row_name, column_name;
    std::function<std::string(int, int)> tip;
    std::optional<std::pair<int, int>> pointed = std::nullopt;
};

void draw_axes(Ui& ui, Rect r, float w, float h, const Map& m) {
    const int down = label_step(h, 18), across = label_step(w, 36);
    ui.text.draw(r.x, r.y - 36, kCaption, ui.colors->t3, m.columns + " →");
    ui.text.draw(r.x - 48, r.y - 14, kCaption, ui.colors->t3, m.rows + " ↓");
    for (int i = 0; i < m.values.rows(); i += down)
        ui.text.draw_right(r.x - 8, r.y + h * (float(i) + 0.5f), kCaptionMono, ui.colors->t2, m.row_name(i));
    for (int i = across; i < m.values.cols(); i += across)
        ui.text.draw_centered(r.x + w * (float(i) + 0.5f), r.y - 14, kCaptionMono, ui.colors->t2,
                              m.column_name(i));
}

void draw_range(Ui& ui, Rect r, float reach, float largest) {
    const Rect bar{r.x, r.bottom() + 14, std::min(r.w, 240.0f), 10};
    const int digits = reach < 1 ? 3 : reach < 100 ? 2 : 0;
    draw_range_bar(ui, {bar, signed_colormap(ui.colors->dark), reach, digits, true});
    if (largest > reach * 1.001f && r.right() - bar.right() > 150)
        ui.text.draw(bar.right() + 12, bar.middle_y(), kCaption, ui.colors->t3,
                     "1 % of values exceed this, up to " + number(largest, digits));
}

/// Returns the bottom of what was drawn.
float draw_map(Scene& s, Rect area, Map& m, bool square) {
    Ui& ui = s.ui;
    const float left = area.x + 56, top = area.y + 48;
    float w = (area.right() - left) / float(m.values.cols()),
          h = (area.h - (48 + 110)) / float(m.values.rows());
    if (square)
        w = h = std::min({w, h, 28.0f});
    else
        h = std::min(h, 56.0f);
    const Rect r{left, top, w * float(m.values.cols()), h * float(m.values.rows())};
    const float reach = reach_of(m.values);
    draw_matrix(ui, r, {signed_places_of(m.values, reach), signed_colormap(ui.colors->dark), true});
    draw_axes(ui, r, w, h, m);
    float largest = 0;
    for (Index i = 0; i < m.values.size(); ++i)
        if (const float v = std::abs(m.values.data()[i]); v > largest) largest = v;
    draw_range(ui, r, reach, largest);
    const Hit hit = ui.hit(m.path, r);
    if (hit.hovered) {
        const int i = std::clamp(int((hit.mouse.y - r.y) / h), 0, narrow<int>(m.values.rows()) - 1),
                  j = std::clamp(int((hit.mouse.x - r.x) / w), 0, narrow<int>(m.values.cols()) - 1);
        m.pointed = std::pair{i, j};
        ui.frame({r.x + w * float(j) - 1, r.y + h * float(i) - 1, w + 2, h + 2}, ui.colors->hover, 2);
        ui.tooltip(m.path, hit, m.tip(i, j));
    }
    const float caption = r.bottom() + 48;
    return caption + ui.text.draw_wrapped(area.x, caption, area.w, kCaption, ui.colors->t2, m.caption);
}

/// What the table shows.
std::string explained_table(const ModelConfig& c, const Positions& p) {
    const PositionsRow& row = positions_row(p.scheme);
    return row.table_text + (row.table_detail ? row.table_detail(c) : "");
}

std::string capitalized(std::string word) {
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
}

/// Columns (or heads) as curves over the positions (or distances); the pointed one in amber.
void draw_curves(Scene& s, Rect area, const Positions& p, std::optional<int> pointed) {
    Ui& ui = s.ui;
    const bool by_head = p.by_distance();
    const int count = narrow<int>(by_head ? p.table.rows() : p.table.cols());
    const int points = narrow<int>(by_head ? p.table.cols() : p.table.rows());
    if (points < 2 || area.h < 70) return;
    const float reach = std::max(p.table.cwiseAbs().maxCoeff(), 1e-6f);
    const Rect plot{area.x + 56, area.y + 30, area.w - 56, area.h - 44};
    std::vector<int> drawn;
    for (int i = 0; i < 4; ++i) drawn.push_back(std::min(count - 1, count * i / 8));
    const int highlighted = pointed.value_or(-1);
    const std::string what =
        highlighted < 0 ? by_head ? "Some heads by distance; point at the table for one."
                                  : "Some components by position; point at the table for one."
        : by_head
            ? "Head " + std::to_string(highlighted) + " by distance"
            : capitalized(positions_row(p.scheme).column) + " " + std::to_string(p.components[highlighted]) +
                  " by position" +
                  (p.waves.empty()
                       ? ""
                       : ": period " + decimals(p.waves[highlighted], p.waves[highlighted] < 100 ? 1 : 0) +
                             " positions");
    ui.text.draw(area.x, area.y + 10, kCaption, highlighted < 0 ? ui.colors->t3 : ui.colors->accent_text,
                 what);
    ui.hairline(plot.x, plot.middle_y(), plot.right(), plot.middle_y());
    ui.text.draw_right(plot.x - 8, plot.y, kCaptionMono, ui.colors->t3, "+" + number(reach, 2));
    ui.text.draw_right(plot.x - 8, plot.bottom(), kCaptionMono, ui.colors->t3, number(-reach, 2));
    if (highlighted >= 0) drawn = {highlighted};
    for (int n = 0; n < isize(drawn); ++n) {
        const int which = drawn[n];
        std::vector<ImVec2> line;
        for (int i = 0; i < points; ++i) {
            const float v = by_head ? p.table(which, i) : p.table(i, which);
            line.push_back(
                {plot.x + plot.w * float(i) / float(points - 1), plot.middle_y() - v / reach * plot.h / 2});
        }
        ui.polyline(line,
                    highlighted >= 0 ? ui.colors->accent
                                     : head_ink(s, n * std::max(1, s.model()->config.max_heads() / 4) %
                                                       s.model()->config.max_heads()),
                    1.6f);
    }
}

void draw_positions_toolbar(Scene& s, Rect area, const PositionsRow& row) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    float x = draw_back(s, area, "positions/back", row.title) + 14;
    const float y = area.y + 26;
    x += ui.text.draw(x, y + 2, kCaption, ui.colors->t3, "of " + s.model()->name) + 32;
    const auto counted =
        std::find(kPositionCounts.begin(), kPositionCounts.end(), s.of<PositionsState>().count) -
        kPositionCounts.begin();
    if (const int i =
            ui.choice(x, y, "Positions", "positions/count", {"16", "32", "64", "128"}, narrow<int>(counted));
        i >= 0)
        s.of<PositionsState>().count = kPositionCounts[i];
    if (c.stacks.size() > 1)
        if (const int i = ui.choice(x, y, "Of the", "positions/stack", {"encoder", "decoder"},
                                    s.of<PositionsState>().stack);
            i >= 0)
            s.of<PositionsState>().stack = i;
    if (row.by_distance) {
        std::vector<std::string> heads;
        for (int h = 0; h < c.stacks[std::min<int>(s.of<PositionsState>().stack, isize(c.stacks) - 1)].heads;
             ++h)
            heads.push_back(std::to_string(h));
        if (const int h = ui.choice(x, y, "Head", "positions/head", heads, s.session.selection.head); h >= 0)
            s.select(s.session.selection.block, h);
    }
    ui.hairline(area.x, area.y + 52, area.right(), area.y + 52);
}

Map table_map(const ModelConfig& c, const Positions& p) {
    const auto index = [](int i) { return std::to_string(i); };
    if (p.by_distance())
        return {"positions/table",
                p.table,
                "head",
                "key − query",
                explained_table(c, p),
                index,
                [&p](int j) { return number(p.distances[j], 0); },
                [&p](int i, int j) {
                    const std::string bucket =
                        p.buckets.empty() ? "" : ", bucket " + std::to_string(p.buckets[j]);
                    return "Head " + std::to_string(i) + ", key − query = " + number(p.distances[j], 0) +
                           bucket + ": " + (p.table(i, j) > 0 ? "+" : "") + number(p.table(i, j), 3);
                }};
    const char* column = positions_row(p.scheme).column;
    return {"positions/table",
            p.table,
            "pos.",
            column,
            explained_table(c, p),
            index,
            [&p](int j) { return std::to_string(p.components[j]); },
            [&p, column](int i, int j) {
                return "Position " + std::to_string(i) + ", " + column + " " +
                       std::to_string(p.components[j]) + ": " + number(p.table(i, j), 4);
            }};
}

}  // namespace

std::vector<Question> ask_positions(const Scene& s) {
    const AttentionBlock block = s.model()->config.block(s.session.selection.block);
    const int stack = s.model()->config.stacks.size() > 1 ? s.of<PositionsState>().stack : 0;
    return {PositionsWanted{stack, block.layer, s.session.selection.head, s.of<PositionsState>().count}};
}

void draw_positions(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<PositionsWanted>();
    if (!found) return;
    const Positions& p = found->answer;
    const ModelConfig& c = s.model()->config;
    const PositionsRow& row = positions_row(p.scheme);
    if (!ui.on_page()) draw_positions_toolbar(s, area, row);
    const float top = area.y + 64, pad = 24, gap = 48, curves = std::min(170.0f, area.h * 0.22f);
    if (p.table.size() == 0) {
        ui.text.draw_wrapped(area.x + pad, top + 24, area.w - 2 * pad, kBody, ui.colors->t2,
                             explained_table(c, p));
        return;
    }
    const float inner = area.w - 2 * pad - gap,
                square_w = std::min(inner * 0.42f, area.h - curves - (64 + 150)),
                table_w = inner - std::max(square_w, inner * 0.34f), high = area.bottom() - top - curves - 24;
    Map table = table_map(c, p);
    draw_map(s, {area.x + pad, top, table_w, high}, table, false);
    const auto index = [](int i) { return std::to_string(i); };
    Map square{"positions/square",
               p.between,
               p.by_distance() ? "query" : "pos.",
               p.by_distance() ? "key" : "position",
               row.between_text(p, found->asked.head),
               index,
               index,
               [&p](int i, int j) {
                   const float v = p.between(i, j);
                   return (p.by_distance() ? "Query " : "Positions ") + std::to_string(i) +
                          (p.by_distance() ? ", key " : " and ") + std::to_string(j) + ": " +
                          (std::isnan(v) ? std::string("masked") : number(v, 3));
               }};
    draw_map(s, {area.x + pad + table_w + gap, top, inner - table_w, high}, square, true);
    const auto pointed = table.pointed
                             ? std::optional(p.by_distance() ? table.pointed->first : table.pointed->second)
                             : std::nullopt;
    draw_curves(s, {area.x + pad, area.bottom() - curves - 8, table_w, curves}, p, pointed);
}

View positions_view() {
    return {.key = "positions",
            .name = "Positions",
            .digit = 'P',
            .draw = draw_positions,
            .offered = reads_text,
            .missing = no_weights,
            .shows = View::Shows::model,
            .ask = ask_positions,
            .fills_window = true,
            .numbers = position_numbers,
            .visit = visit_state<PositionsState>};
}

}  // namespace headlight

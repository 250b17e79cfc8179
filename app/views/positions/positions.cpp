#include "views/positions/positions.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "model/engine.h"
#include "parts/controls.h"
#include "parts/matrix_view.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Returns the 99th percentile of |values|, for the ends of the color scale.
float reach_of(const Matrix& values) {
    std::vector<float> sizes;
    for (Index i = 0; i < values.size(); ++i)
        if (const float v = std::abs(values.data()[i]); !std::isnan(v)) sizes.push_back(v);
    if (sizes.empty()) return 1;
    const auto at = sizes.begin() + int(double(sizes.size() - 1) * 0.99);
    std::nth_element(sizes.begin(), at, sizes.end());
    return std::max(*at, 1e-6f);
}

constexpr float kPositionNames = 52;

MatrixView signed_matrix(const Scene& s, const char* path, const Matrix& values, const std::string& note) {
    constexpr float kLargest = 28;
    const Colormap& colors = signed_colormap(s.ui.colors->dark);
    const float reach = reach_of(values), largest = largest_size(values);
    MatrixView out{.path = path,
                   .cells = {signed_places_of(values, reach), colors, true},
                   .rows = {index_name},
                   .columns = {index_name},
                   .bar = range_bar(colors, double(reach), true),
                   .note = {note},
                   .max_w = kLargest,
                   .max_h = kLargest,
                   .level = true};
    if (largest > reach * 1.001f)
        out.note[0] +=
            " 1 % of values exceed this range, up to " + number(largest, largest < 1 ? 3 : 2) + ".";
    out.rows.room = kPositionNames;
    out.rows.ink = out.columns.ink = [&s](int) { return s.ui.colors->t2; };
    return out;
}

std::optional<std::pair<int, int>> draw_map(Scene& s, Rect area, MatrixView& view) {
    const MatrixLayout l = arrange_matrix(s.ui, area, view);
    const MatrixAnswer answer = answer_matrix(s, l, view);
    draw_matrix_view(s, l, view);
    return answer.hovered;
}

std::string explained_table(const ModelConfig& c, const Positions& p) {
    const PositionsRow& row = positions_row(p.scheme);
    return row.table_text + (row.table_detail ? row.table_detail(c) : "");
}

std::string capitalized(std::string word) {
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
}

/// "Head 3", "Dimension 16": one curve.
std::string name_of_curve(const Positions& p, int which) {
    return p.by_distance()
               ? "Head " + std::to_string(which)
               : capitalized(positions_row(p.scheme).column) + " " + std::to_string(p.components[which]);
}

std::string about_curve(const Positions& p, int which) {
    if (p.by_distance()) return name_of_curve(p, which) + " by distance";
    const std::string period =
        p.waves.empty() ? ""
                        : ": period " + decimals(p.waves[which], p.waves[which] < 100 ? 1 : 0) + " positions";
    return name_of_curve(p, which) + " by position" + period;
}

std::vector<ImVec2> curve_of(const Positions& p, Rect plot, int which, float reach) {
    std::vector<ImVec2> line;
    const Vector values = p.by_distance() ? Vector(p.table.row(which)) : Vector(p.table.col(which));
    const auto last = float(std::max<Index>(1, values.size() - 1));
    for (Index i = 0; i < values.size(); ++i)
        line.push_back({plot.x + plot.w * float(i) / last, plot.middle_y() - values[i] / reach * plot.h / 2});
    return line;
}

/// Some of the first half of all, which turn the fastest.
std::vector<int> curves_of(int count, int drawn) {
    std::vector<int> out;
    for (int n = 0; n < drawn; ++n)
        if (const int which = std::min(count - 1, count * n / (2 * drawn));
            out.empty() || out.back() != which)
            out.push_back(which);
    return out;
}

/// The largest magnitude in some curves: their scale.
float reach_of_curves(const Positions& p, const std::vector<int>& curves) {
    float out = 1e-6f;
    for (const int i : curves)
        out = std::max(out, p.by_distance() ? p.table.row(i).cwiseAbs().maxCoeff()
                                            : p.table.col(i).cwiseAbs().maxCoeff());
    return out;
}

/// Draws some columns as curves over positions, or heads over distances; or the hovered one in amber.
void draw_curves(Scene& s, Rect area, const Positions& p, std::optional<int> pointed) {
    constexpr float kHead = 20, kPad = 10, kLeast = 70, kWidth = 1.6f;
    constexpr int kDrawn = 4;
    Ui& ui = s.ui;
    const Index count = p.by_distance() ? p.table.rows() : p.table.cols(),
                points = p.by_distance() ? p.table.cols() : p.table.rows();
    if (points < 2 || area.h < kLeast) return;
    const std::vector<int> drawn = pointed ? std::vector{*pointed} : curves_of(narrow<int>(count), kDrawn);
    const float reach = reach_of_curves(p, drawn);
    const Rect head = take_top(area, kHead), ends = take_left(area, kPositionNames - gap::tight, gap::small);
    const Rect plot = inset(area, 0, kPad);
    ui.hairline(plot.x, plot.middle_y(), plot.right(), plot.middle_y());
    const auto end = [&](float y, const std::string& text) {
        write(ui, line_at(ends, y, kHead), kCaptionMono, ui.colors->t3, text, Flush::right);
    };
    end(plot.y, "+" + number(reach, 2));
    end(plot.bottom(), number(-reach, 2));
    if (pointed) {
        write(ui, head, kCaption, ui.colors->accent_text, about_curve(p, *pointed));
        return ui.polyline(curve_of(p, plot, *pointed, reach), ui.colors->accent, kWidth);
    }
    const int heads = full_config(*s.model()).max_heads();
    Rect names = head;
    for (int n = 0; n < isize(drawn); ++n) {
        const int which = drawn[n];
        const ImU32 ink = head_ink(s, n * std::max(1, heads / kDrawn) % heads);
        ui.polyline(curve_of(p, plot, which, reach), ink, kWidth);
        take_left(names, write(ui, names, kCaption, ink, name_of_curve(p, which)), gap::large);
    }
    const std::string by = p.by_distance() ? "by distance" : "by position",
                      whole = by + "; hover over the table for another.";
    caption(ui, names, ui.text.width(kCaption, whole) <= names.w ? whole : by);
}

void draw_positions_toolbar(Scene& s, Rect& rest, const PositionsRow& row) {
    const ModelConfig& c = full_config(*s.model());
    auto& state = s.of<PositionsState>();
    Toolbar bar = view_toolbar(s.ui, rest);
    bar.say(kBody, s.ui.colors->t1, row.title, gap::section);
    const auto counted =
        std::find(kPositionCounts.begin(), kPositionCounts.end(), state.count) - kPositionCounts.begin();
    if (const int i =
            bar.choice("Positions", "positions/count", {"16", "32", "64", "128"}, narrow<int>(counted));
        i >= 0)
        state.count = kPositionCounts[i];
    if (c.stacks.size() > 1) bar.choose("Stack", "positions/stack", {"encoder", "decoder"}, state.stack);
    if (!row.by_distance) return;
    std::vector<std::string> heads;
    const int stack = std::min<int>(state.stack, isize(c.stacks) - 1);
    for (int h = 0; h < c.stacks[stack].max_heads(); ++h) heads.push_back(std::to_string(h));
    if (const int h = bar.choice("Head", "positions/head", heads, s.session.selection.head); h >= 0)
        s.select(s.session.selection.block, h);
}

MatrixView table_matrix(const Scene& s, const Positions& p) {
    const std::string column = positions_row(p.scheme).column;
    MatrixView out =
        signed_matrix(s, "positions/table", p.table, explained_table(full_config(*s.model()), p));
    out.max_w = 1e9f;
    out.max_h = 56;
    if (p.by_distance()) {
        out.rows.title = "head";
        out.columns.title = "key − query";
        out.columns.name = [&p](int j) { return number(p.distances[j], 0); };
        out.tip = [&p](int i, int j) {
            const std::string bucket = p.buckets.empty() ? "" : ", bucket " + std::to_string(p.buckets[j]);
            return "Head " + std::to_string(i) + ", key − query = " + number(p.distances[j], 0) + bucket +
                   ": " + signed_number(p.table(i, j), 3);
        };
        return out;
    }
    out.rows.title = "pos.";
    out.columns.title = column;
    out.columns.name = [&p](int j) { return std::to_string(p.components[j]); };
    out.tip = [&p, column](int i, int j) {
        return "Position " + std::to_string(i) + ", " + column + " " + std::to_string(p.components[j]) +
               ": " + number(p.table(i, j), 4);
    };
    return out;
}

MatrixView square_matrix(const Scene& s, const Positions& p, int head) {
    const bool by_distance = p.by_distance();
    MatrixView out =
        signed_matrix(s, "positions/square", p.between, positions_row(p.scheme).between_text(p, head));
    out.ratio = 1;
    out.rows.title = by_distance ? "query" : "pos.";
    out.columns.title = by_distance ? "key" : "pos.";
    out.tip = [&p, by_distance](int i, int j) {
        const float v = p.between(i, j);
        return (by_distance ? "Query " : "Positions ") + std::to_string(i) +
               (by_distance ? ", key " : " and ") + std::to_string(j) + ": " +
               (std::isnan(v) ? std::string("masked") : number(v, 3));
    };
    return out;
}

}  // namespace

std::vector<Question> ask_positions(const Scene& s) {
    const auto [block, head] = s.session.selection.shown_head();
    const int stack = full_config(*s.model()).stacks.size() > 1 ? s.of<PositionsState>().stack : 0;
    return {PositionsRequest{stack, full_config(*s.model()).block(block).layer, head,
                             s.of<PositionsState>().count}};
}

void draw_positions(Scene& s, Rect area) {
    constexpr float kCurves = 170, kBetween = 48, kPad = 11, kAround = 102;
    const auto* found = s.found<PositionsRequest>();
    if (!found) return;
    const Positions& p = found->answer;
    const ModelConfig& c = full_config(*s.model());
    const PositionsRow& row = positions_row(p.scheme);
    Rect rest = area;
    if (s.ui.on_page())
        take_top(rest, size::title_bar, 1);
    else
        draw_positions_toolbar(s, rest, row);
    rest = inset(rest, size::center_pad, kPad);
    if (p.table.size() == 0) {
        s.ui.text.draw_wrapped(rest.x, rest.y + gap::wide, rest.w, kBody, s.ui.colors->t2,
                               explained_table(c, p));
        return;
    }
    const Rect curves = take_bottom(rest, std::min(kCurves, area.h * 0.22f), gap::medium);
    const float wide = rest.w - kBetween, square_room = rest.h - kAround;
    const Rect between =
        take_right(rest, std::max(std::min(wide * 0.42f, square_room), wide * 0.34f), kBetween);
    MatrixView table = table_matrix(s, p), square = square_matrix(s, p, found->asked.head);
    const auto cell = draw_map(s, rest, table);
    draw_map(s, between, square);
    const auto pointed = cell ? std::optional(p.by_distance() ? cell->first : cell->second) : std::nullopt;
    draw_curves(s, {rest.x, curves.y, rest.w, curves.h}, p, pointed);
}

View positions_view() {
    return {.key = "positions",
            .name = "Positions",
            .answers = ViewGroup::model,
            .synonyms = "RoPE, ALiBi, sinusoids, position embeddings",
            .letter = 'P',
            .draw = draw_positions,
            .offered = reads_text,
            .missing = no_weights,
            .shows = View::Shows::model,
            .ask = ask_positions,
            .page_w = 1280,
            .panels = View::Panels::none,
            .least_high = 260,
            .numbers = position_numbers,
            .visit = visit_state<PositionsState>};
}

}  // namespace headlight

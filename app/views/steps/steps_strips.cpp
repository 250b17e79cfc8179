#include <algorithm>

#include "base/cast.h"
#include "paint/matrix.h"
#include "parts/controls.h"
#include "views/steps/steps.h"

namespace headlight {

Strip strip_of(std::string name, Vector values, const std::string& sign, bool query) {
    const double shown = sign == "Σ" ? values.sum() : values.norm();
    return {std::move(name), sign, decimals(shown, 2), std::move(values), query};
}

Strip product_strip(std::string name, Vector values, const std::string& sign, bool query) {
    Strip out = strip_of(std::move(name), std::move(values), sign, query);
    out.product = true;
    return out;
}

const Strip* product_of(const std::vector<Strip>& strips) {
    return strips.size() >= 3 && strips[2].product ? &strips[2] : nullptr;
}

void draw_cells_of(Ui& ui, Rect r, const Vector& values) {
    const float largest = values.size() ? values.cwiseAbs().maxCoeff() : 0;
    draw_matrix(ui, r,
                {signed_places_of(values.transpose(), largest), signed_colormap(ui.colors->dark), true});
}

namespace {

std::string heading(const Scene& s, const Found<StepsRequest>& found, int key) {
    const std::string query = token_at(s.query_labels(), found.asked.query),
                      at = token_at(s.key_labels(), key);
    if (!is_after_weight(s.of<StepsState>().column)) return "q·k of " + query + " and " + at;
    const bool gate = found.answer.gate.size() > 0;
    if (s.of<StepsState>().column == StepColumn::delta)
        return "ΔE of " + query + (gate ? ": z times its gate, through" : ": z through") +
               " the output matrix";
    if (s.of<StepsState>().column == StepColumn::gated)
        return "Weighted value of " + at + " for " + query + ", through the gate of " + query;
    return "Weighted value of " + at + " for " + query;
}

constexpr float kLeastStripRow = 15;  // height

/// Returns the name without the token.
std::string short_name(const Strip& strip) { return strip.name.substr(0, strip.name.find(' ')); }

/// Draws a vector as cells; the dimension under the mouse is framed in every strip.
void draw_strip(Scene& s, const Strip& strip, Rect r, const std::string& path, int& dimension) {
    const auto n = isize(strip.values);
    draw_cells_of(s.ui, r, strip.values);
    const Hit h = s.ui.hit(path, r);
    if (h.hovered) dimension = Grid{r, 1, n, r.w / float(n), r.h}.column_at(h.mouse.x);
    if (h.clicked) s.of<StepsState>().strips.open = !s.of<StepsState>().strips.open;
}

/// Lists all entries of the vectors, in columns.
void draw_numbers(Scene& s, Rect area, const std::vector<Strip>& strips) {
    constexpr float kLine = 18, kGroup = 230, kDimension = 28, kBetween = 12, kTitles = 24;
    Ui& ui = s.ui;
    const Rect titles = take_top(area, kTitles);
    const auto n = isize(strips.back().values), groups = std::max(1, int(area.w / kGroup)),
               rows = (n + groups - 1) / groups;
    float& scroll = s.of<StepsState>().strips.scroll;
    scroll = scrolled(ui, area, kLine * float(rows), scroll);
    const Grid g{area, rows, groups, area.w / float(groups), kLine, 0, scroll};
    const auto column = [&](Rect line, size_t c) {
        take_left(line, kDimension);
        take_right(line, 0, kBetween);
        return nth_column(line, narrow<int>(c), isize(strips));
    };
    for (int group = 0; group < groups; ++group)
        for (size_t c = 0; c < strips.size(); ++c)
            caption(ui, column({g.x(group), titles.y, g.w, titles.h}, c), short_name(strips[c]),
                    Flush::right);
    ui.clip(area);
    for (int d = 0; d < n; ++d) {
        if (!g.touches_row(d % rows)) continue;
        Rect line = g.cell(d % rows, d / rows);
        for (size_t c = 0; c < strips.size(); ++c)
            if (d < strips[c].values.size())
                write(ui, column(line, c), kCaptionMono, ui.colors->t1, number(strips[c].values[d], 2),
                      Flush::right);
        write(ui, take_left(line, kDimension), kCaptionMono, ui.colors->t3, std::to_string(d), Flush::right);
    }
    ui.unclip();
}

std::string dimension_text(const std::vector<Strip>& strips, int d) {
    const auto at = [&](size_t i) { return decimals(strips[i].values[d], 2); };
    const bool product = product_of(strips);
    std::string out = "dimension " + std::to_string(d) + ":";
    if (product && d < strips[2].values.size()) out += "  " + at(0) + " × " + at(1) + " = " + at(2);
    for (size_t i = product ? 3 : 0; i < strips.size(); ++i)
        if (d < strips[i].values.size()) out += "  " + short_name(strips[i]) + " " + at(i);
    return out;
}

std::vector<Strip> strips_of(const Scene& s, const Found<StepsRequest>& found, int key) {
    const Trace& trace = *s.sentence()->trace;
    const StepsRequest& w = found.asked;
    const std::string query = token_at(s.query_labels(), w.query), at = token_at(s.key_labels(), key);
    const Vector q = trace.q(w.block, w.head).row(w.query).transpose(),
                 k = trace.k(w.block, w.head).row(key).transpose();
    const Vector v = found.answer.values.row(key).transpose(), &z = found.answer.z;
    const bool own = found.answer.z_by == ZBy::weights;  // z is the sum of the weighted values
    const Vector& g = found.answer.gate;
    const Vector moved = v * found.answer.keys[key].weight;
    const Strip whole = strip_of((own ? "z " : "z (replaced) ") + query, z, "‖·‖", true),
                delta = strip_of("ΔE " + query, found.answer.delta, "‖·‖", true),
                gate = strip_of("g " + query, g, "‖·‖", true);
    if (s.of<StepsState>().column == StepColumn::delta && g.size())
        return {whole, gate, product_strip("z·g " + query, found.answer.gated(), "‖·‖", true), delta};
    if (s.of<StepsState>().column == StepColumn::delta) return {whole, delta};
    if (s.of<StepsState>().column == StepColumn::gated && g.size())
        return {strip_of("w·v " + at, moved, "‖·‖"), gate,
                product_strip("w·v·g " + at, moved.cwiseProduct(g), "‖·‖")};
    if (is_after_weight(s.of<StepsState>().column))
        return {strip_of("v " + at, v, "‖·‖"),
                strip_of("w·v × " + decimals(found.answer.keys[key].weight, 3), moved, "‖·‖"), whole};
    return {strip_of("q " + query, q, "‖·‖", true), strip_of("k " + at, k, "‖·‖"),
            product_strip("q × k", q.cwiseProduct(k), "Σ")};
}

struct StripLine {
    Rect name, cells, measure;
};

StripLine divided(Rect line) {
    constexpr float kName = 96, kMeasure = 104, kHighest = 36;
    StripLine l;
    l.name = take_left(line, kName, gap::small);
    l.measure = take_right(line, kMeasure, gap::small);
    l.cells = band(line, std::min(kHighest, line.h - gap::small));
    return l;
}

/// "−▬▬▬+ each strip normalized", at the right end of the line.
void draw_strip_scale(Scene& s, Rect line) {
    constexpr float kBar = 60, kLeast = 260;
    Ui& ui = s.ui;
    if (line.w < kLeast) return;
    const std::string note = "each strip normalized";
    caption(ui, line, note, Flush::right);
    take_right(line, ui.text.width(kCaption, note), gap::medium);
    for (const char* end : {"+", "−"}) {
        take_right(line, write(ui, line, kCaptionMono, ui.colors->t2, end, Flush::right), gap::tight);
        if (*end == '+')
            ui.gradient(band(take_right(line, kBar, gap::tight), size::bar),
                        signed_colormap(ui.colors->dark));
    }
}

/// The dimension under the mouse, else the largest entry of the last vector.
int shown_dimension(const std::vector<Strip>& strips, int pointed) {
    const auto n = isize(strips[0].values);
    if (pointed >= 0 && pointed < n) return pointed;
    Index steepest = 0;
    strips.back().values.cwiseAbs().maxCoeff(&steepest);
    return std::min(narrow<int>(steepest), n - 1);
}

void draw_strips(Scene& s, Rect area, Rect foot, const std::vector<Strip>& strips) {
    Ui& ui = s.ui;
    const auto count = isize(strips);
    int& dimension = s.of<StepsState>().strips.dimension;
    const auto line = [&](int i) { return divided(nth_row(area, i, count)); };
    for (int i = 0; i < count; ++i) {
        const StripLine l = line(i);
        write(ui, l.name, kCaptionMono, strips[i].query ? ui.colors->accent_text : ui.colors->t1,
              strips[i].name);
        draw_strip(s, strips[i], l.cells, "steps/strip/" + std::to_string(i), dimension);
        const ImU32 ink = i + 1 == count ? ui.colors->accent_text : ui.colors->t2;
        Rect measure = l.measure;
        take_right(measure, write(ui, measure, kCaptionMono, ink, strips[i].measure, Flush::right),
                   gap::small);
        write(ui, measure, kCaption, ink, strips[i].sign, Flush::right);
    }
    const auto n = isize(strips[0].values);
    const int shown = shown_dimension(strips, dimension);
    for (int i = 0; i < count; ++i) {
        const Rect cells = line(i).cells;
        const float w = cells.w / float(n);
        if (isize(strips[i].values) == n)
            ui.frame({cells.x + w * float(shown) - 1, cells.y - 1, std::max(w, 3.0f) + 1, cells.h + 2},
                     ui.colors->hover, 1);
    }
    Rect rest = foot;
    rest.x = line(0).cells.x;
    rest.w = foot.right() - rest.x;
    take_left(rest, write(ui, rest, kCaptionMono, ui.colors->t2, dimension_text(strips, shown)),
              gap::section);
    draw_strip_scale(s, rest);
}

/// Draws the matrix whose row is one of the strips, with that row framed.
void draw_matrix_row(Scene& s, Rect area, const StripPanel& panel) {
    Ui& ui = s.ui;
    const WeightMap& m = *panel.matrix;
    const StripLine l = divided(area);
    write(ui, l.name, kCaptionMono, ui.colors->t1, m.name);
    write(ui, l.measure, kCaption, ui.colors->t2, m.shape, Flush::right);
    const Rect r{l.cells.x, area.y + gap::tight, l.cells.w, area.h - gap::small};
    draw_matrix(ui, r, {m.places, signed_colormap(ui.colors->dark), true});
    const float high = r.h / float(m.places.rows());
    const Rect lit{r.x - 2, r.y + high * float(panel.row / m.down) - 1, r.w + 4, std::max(high, 2.0f) + 2};
    ui.frame(lit, ui.colors->accent, 1.5f);
    ui.name("steps/lit", lit);
}

}  // namespace

StripPanel step_strips(const Scene& s, const Found<StepsRequest>& found, int key) {
    return {heading(s, found, key), strips_of(s, found, key)};
}

void draw_vector_strips(Scene& s, Rect area, const StripPanel& panel) {
    constexpr float kHead = 44, kLowHead = 28, kLow = 160, kFoot = 32, kLink = 80, kMatrix = 0.36f;
    Ui& ui = s.ui;
    ui.fill(area, ui.colors->bg0);
    ui.hairline(area.x, area.y, area.right(), area.y);
    bool& open = s.of<StepsState>().strips.open;
    Rect rest = inset(area, size::center_pad, 0), head = take_top(rest, area.h < kLow ? kLowHead : kHead);
    const Rect link = take_right(head, kLink);
    if (ui.link("steps/numbers", link.right(), link.middle_y(), open ? "Strips" : "Numbers", open))
        open = !open;
    write(ui, head, kBody, ui.colors->t1, panel.heading);
    if (open) {
        take_bottom(rest, gap::medium);
        auto strips = panel.strips;
        if (panel.whole) strips.insert(strips.begin(), *panel.whole);
        return draw_numbers(s, rest, strips);
    }
    const Rect foot = take_bottom(rest, kFoot);
    const float needed = kLeastStripRow * float(panel.strips.size());
    if (panel.matrix && rest.h * (1 - kMatrix) >= needed)
        draw_matrix_row(s, take_top(rest, rest.h * kMatrix), panel);
    if (rest.h >= needed) draw_strips(s, rest, foot, panel.strips);
}

}  // namespace headlight

// Draws cross-attention as lines between the two sentences.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "base/utf8.h"
#include "parts/token_axis.h"
#include "views/align/align.h"

namespace headlight {

namespace {

constexpr size_t kMaxOfWord = 16;
constexpr float kAroundWords = 20, kLinksEnd = 2;
constexpr float kLeastDrawn = 0.03f;  // weaker links are omitted

/// The words of a sentence, each centered in its column; the row has no height.
struct Words : Grid {
    const std::vector<std::string>& words;
    float natural;  // column width that fits each word
};

Words words_along(Ui& ui, Rect line, const std::vector<std::string>& words) {
    float widest = 0;
    for (const auto& w : words)
        widest = std::max(widest, ui.text.width(kBodyMono, shorten_middle(w, kMaxOfWord)));
    const float natural = widest + kAroundWords, count = float(words.size()),
                column = std::min(natural, line.w / count);
    return {grid_at({line.middle_x() - column * count / 2, line.middle_y()}, 1, isize(words), column, 0),
            words, natural};
}

/// Draws words horizontally if they fit, else slanted.
void draw_words(Ui& ui, const Words& row, bool below, int lit, ImU32 lit_ink, int known) {
    TokenAxis names{[&](int i) { return shorten_middle(row.words[i], kMaxOfWord); }};
    names.ink = [&](int i) { return i >= known ? ui.colors->t3 : ui.colors->t1; };
    names.below = below;
    names.lean = row.natural > row.w + 1 ? Lean::slanted : Lean::level;
    names.room = row.natural;
    names.font = kBodyMono;
    names.snug = true;
    names.lit = lit;
    names.lit_ink = lit_ink;
    names.draw_columns(ui, row);
}

/// The opacity of a link: of the focused word, of others beside it, or without focus.
float strength_of(float weight, bool lit, bool beside_lit) {
    constexpr float kLitLeast = 0.35f, kBesideLeast = 0.04f, kBesideMore = 0.12f, kLeast = 0.15f,
                    kMore = 0.6f;
    if (lit) return std::max(kLitLeast, weight);
    return beside_lit ? kBesideLeast + kBesideMore * weight : kLeast + kMore * weight;
}

void draw_link(Scene& s, const Words& from, const Words& to, const WordAlignment& a, int row, int column,
               int focus) {
    constexpr float kThin = 0.6f, kMarked = 1.2f, kPerWeight = 4;
    Ui& ui = s.ui;
    const AlignMarks marks = s.of<AlignState>().marks;
    const bool strongest = a.strongest[row] == column;
    const float hard = strongest ? 1.0f : 0.0f, w = marks == AlignMarks::hard ? hard : a.weights(row, column);
    if (w < kLeastDrawn) return;
    const bool lit = row == focus, marked = strongest && marks != AlignMarks::soft;
    const ImU32 ink = lit ? ui.colors->accent : marked ? ui.colors->t1 : ui.colors->t2;
    const float alpha = strength_of(w, lit, focus >= 0 && s.session.selection.focused());
    ui.stroke({from.middle_x(column), from.view.bottom() + kLinksEnd},
              {to.middle_x(row), to.view.y - kLinksEnd}, faded(ink, alpha),
              (marked ? kMarked : kThin) + kPerWeight * w);
}

/// Highlights the links of the hovered word; click locks a target word.
void answer_lines(Scene& s, const Rect& map, const Words& source, const Words& target,
                  const WordAlignment& a) {
    const Hit h = s.ui.hit("align/lines/map", map);
    if (!h.hovered) return;
    if (h.mouse.y > map.middle_y()) {
        const int row = std::min(target.column_at(h.mouse.x), isize(a.rows) - 1);
        point_at_words(s, a, row, a.strongest[row]);
        if (h.clicked) lock_words(s, a, row, a.strongest[row]);
        return;
    }
    const int column = source.column_at(h.mouse.x);
    Index row = 0;
    a.weights.col(column).maxCoeff(&row);
    point_at_words(s, a, narrow<int>(row), column);
}

void draw_links(Scene& s, const Words& source, const Words& target, const WordAlignment& a, int focus) {
    for (const bool highlighted : {false, true})
        for (int r = 0; r < isize(a.rows); ++r)
            for (int c = 0; c < isize(a.columns); ++c)
                if ((r == focus) == highlighted) draw_link(s, source, target, a, r, c, focus);
}

/// Names a row of words, if there is space left of it.
void name_row(Ui& ui, Rect line, const Words& row, bool below, const char* text) {
    constexpr float kSideNames = 66;
    const float middle = row.view.y + (below ? gap::large : -gap::large);
    if (row.view.x > line.x + kSideNames) caption(ui, line_at(line, middle, size::line), text);
}

}  // namespace

void draw_alignment_lines(Scene& s, Rect area, const Found<WordAlignmentRequest>& found) {
    constexpr float kPad = 40, kFoot = 48, kMiddle = 0.52f, kHalf = 0.22f, kLeastHalf = 60, kMaxHalf = 150;
    Ui& ui = s.ui;
    const WordAlignment& a = found.answer;
    std::vector<std::string> targets = a.rows;
    for (const auto& word : pending_words(s, found)) targets.push_back(word);
    const float middle = area.y + area.h * kMiddle, half = std::clamp(area.h * kHalf, kLeastHalf, kMaxHalf);
    const Rect inner = inset(area, kPad, 0), map = line_at(inner, middle, 2 * (half + kPad));
    const Words source = words_along(ui, line_at(inner, middle - half, 0), a.columns),
                target = words_along(ui, line_at(inner, middle + half, 0), targets);
    answer_lines(s, map, source, target, a);
    const auto cell = focused_words(s, a);
    draw_links(s, source, target, a, cell.first);
    draw_words(ui, source, false, cell.second, ui.colors->t1, isize(a.columns));
    draw_words(ui, target, true, cell.first, ui.colors->accent_text, isize(a.rows));
    Rect line = inset(area, size::center_pad, 0);
    name_row(ui, line, source, false, "source");
    name_row(ui, line, target, true, "target");
    const int crossings = count_crossings(a.strongest);
    caption(ui, take_bottom(line, kFoot),
            "Width: weight; weights under " + decimals(kLeastDrawn, 2) + " are hidden. " +
                std::to_string(crossings) + (crossings == 1 ? " pair" : " pairs") +
                " of strongest links cross.");
}

}  // namespace headlight

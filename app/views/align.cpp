// Source × target: which words each written word looks at, soft and hard, while the translation grows.
#include "views/align.h"

#include <algorithm>
#include <cmath>

#include "analysis/words.h"
#include "base/utf8.h"
#include "views/lines.h"

namespace headlight {

namespace {

constexpr float kLabels = 168, kRight = 176, kWidest = 76, kHighest = 64;

/// Where the cells stand; rows that are still to come follow those that are drawn.
struct Layout {
    Rect map;
    float w = 0, h = 0;
    int rows = 0, columns = 0, coming = 0;
    bool turned = false;
    float x(int column) const { return map.x + w * static_cast<float>(column); }
    float y(int row) const { return map.y + h * static_cast<float>(row); }
    Rect cell(int row, int column) const { return {x(column), y(row), w, h}; }
};

Layout arrange(Ui& ui, Rect area, const WordAlignment& a, int coming) {
    Layout l;
    l.rows = static_cast<int>(a.rows.size());
    l.columns = static_cast<int>(a.columns.size());
    l.coming = coming;
    float widest = 0;
    for (const auto& label : a.columns)
        widest = std::max(widest, ui.text.width(kCaptionMono, shorten_middle(label, 14)));
    const float room = area.w - ui.px(kLabels + kRight);
    l.w = std::min(room / static_cast<float>(l.columns), ui.px(kWidest));
    l.turned = widest + ui.px(8) > l.w;
    const float above = l.turned ? ui.px(64) + widest * 0.7071f : ui.px(100),
                high = area.h - above - ui.px(56);
    l.h = std::min(high / static_cast<float>(l.rows + coming), ui.px(kHighest));
    if (std::min(l.w, l.h) >= 4) l.w = std::floor(l.w), l.h = std::floor(l.h);
    l.map = {area.x + ui.px(kLabels), area.y + above, l.w * static_cast<float>(l.columns),
             l.h * static_cast<float>(l.rows)};
    return l;
}

void draw_toolbar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    float x = area.x + ui.px(24);
    const float y = area.y + ui.px(24);
    const bool roomy = area.w > ui.px(900);
    using Names = std::vector<std::string>;
    const Names of =
        roomy ? Names{"this head", "mean of the layer", "chosen heads"} : Names{"head", "mean", "chosen"};
    const Names links =
        roomy ? Names{"soft", "soft, strongest marked", "hard"} : Names{"soft", "marked", "hard"};
    const Names rows =
        roomy ? Names{"the word being chosen", "the word being read"} : Names{"chosen word", "read word"};
    if (const int c =
            ui.choice(x, y, roomy ? "Of" : "", "align/of", of, static_cast<int>(s.of<AlignState>().of));
        c >= 0)
        s.of<AlignState>().of = static_cast<AlignOf>(c);
    if (const int c = ui.choice(x, y, roomy ? "Links" : "", "align/marks", links,
                                static_cast<int>(s.of<AlignState>().marks));
        c >= 0)
        s.of<AlignState>().marks = static_cast<AlignMarks>(c);
    if (const int c =
            ui.choice(x, y, roomy ? "Rows" : "", "align/rows", rows, s.of<AlignState>().by_reading ? 1 : 0);
        c >= 0)
        s.of<AlignState>().by_reading = c == 1;
    if (const int c =
            ui.choice(x, y, "", "align/words", {"tokens", "words"}, s.of<AlignState>().words ? 1 : 0);
        c >= 0)
        s.of<AlignState>().words = c == 1;
    if (const int c = ui.choice(x, y, "", "align/lines", {"map", "lines"}, s.of<AlignState>().lines ? 1 : 0);
        c >= 0)
        s.of<AlignState>().lines = c == 1;
}

/// What is drawn of a row: its weights, or its strongest column alone.
float drawn_weight(const Scene& s, const WordAlignment& a, int row, int column) {
    if (s.of<AlignState>().marks == AlignMarks::hard)
        return a.strongest[static_cast<size_t>(row)] == column ? 1.0f : 0.0f;
    return a.weights(row, column);
}

void draw_cells(Scene& s, const Layout& l, const WordAlignment& a) {
    Ui& ui = s.ui;
    const Colormap& map = colormap(s.session.preferences.colormap, ui.colors->dark);
    const bool roomy = std::min(l.w, l.h) >= ui.px(8);
    const float gap = roomy ? ui.line() : 0,
                largest = s.of<AlignState>().marks == AlignMarks::hard ? 1 : a.weights.maxCoeff();
    if (!roomy) ui.fill(l.map, color_at(map, 0));
    for (int r = 0; r < l.rows; ++r) {
        const float row_largest = a.weights.row(r).maxCoeff();
        for (int c = 0; c < l.columns; ++c) {
            const float w = drawn_weight(s, a, r, c);
            Rect cell = l.cell(r, c);
            cell.w -= gap;
            cell.h -= gap;
            if (w < 0) {
                if (roomy) ui.hatch(cell, ui.colors->hatch);
                continue;
            }
            const float place = scale_position(s.session.preferences.scale, w, largest, row_largest);
            if (!roomy && place < 0.004f) continue;
            const ImU32 color = color_at(map, place);
            ui.fill(cell, color);
            if (l.w >= ui.px(44) && l.h >= ui.px(18) && w >= 0.1f)
                ui.text.draw_centred(cell.middle_x(), cell.middle_y(), kCaptionMono, ink_on(color),
                                     decimals(w, 2));
        }
    }
}

/// A corner in the strongest cell of each row: the hard alignment.
void mark_strongest(Scene& s, const Layout& l, const WordAlignment& a) {
    Ui& ui = s.ui;
    if (s.of<AlignState>().marks != AlignMarks::both || std::min(l.w, l.h) < ui.px(8)) return;
    const Colormap& map = colormap(s.session.preferences.colormap, ui.colors->dark);
    const float largest = a.weights.maxCoeff();
    for (int r = 0; r < l.rows; ++r) {
        const int c = a.strongest[static_cast<size_t>(r)];
        const Rect cell = l.cell(r, c);
        const float side = std::min(ui.px(10), std::min(l.w, l.h) / 2);
        const ImU32 ink = ink_on(color_at(map, scale_position(s.session.preferences.scale, a.weights(r, c),
                                                              largest, a.weights.row(r).maxCoeff())));
        ui.polygon(
            std::array<ImVec2, 3>{{{cell.x, cell.y}, {cell.x + side, cell.y}, {cell.x, cell.y + side}}}, ink);
    }
}

void draw_row_label(Scene& s, const Layout& l, float y, int index, const std::string& label, bool on,
                    bool coming) {
    Ui& ui = s.ui;
    if (on) {
        const float high = std::max(std::min(l.h, ui.px(64)), ui.px(20));
        ui.fill({l.map.x - ui.px(148), y - high / 2, ui.px(144), high}, ui.colors->bg1);
        ui.fill({l.map.x - ui.px(148), y - high / 2, ui.px(144), high}, ui.colors->accent_fill);
    }
    const ImU32 ink = on ? ui.colors->accent_text : coming ? ui.colors->t3 : ui.colors->t1;
    ui.text.draw(l.map.x - ui.px(138), y, kCaptionMono, on ? ink : ui.colors->t3, std::to_string(index));
    ui.text.draw_right(l.map.x - ui.px(12), y, kCaptionMono, ink,
                       ui.text.fitted(kCaptionMono, label, ui.px(98)));
}

void draw_row_labels(Scene& s, const Layout& l, const WordAlignment& a,
                     const std::vector<std::string>& coming, int highlighted) {
    Ui& ui = s.ui;
    const int step = label_step(l.h, ui.px(16));
    for (int r = 0; r < l.rows + l.coming; ++r) {
        if (r != highlighted &&
            (r % step || (highlighted >= 0 &&
                          std::abs(static_cast<float>(r - highlighted)) * l.h < ui.px(18) && step > 1)))
            continue;
        const std::string& label =
            r < l.rows ? a.rows[static_cast<size_t>(r)] : coming[static_cast<size_t>(r - l.rows)];
        draw_row_label(s, l, l.y(r) + l.h / 2, r, label, r == highlighted, r >= l.rows);
    }
}

void draw_column_labels(Scene& s, const Layout& l, const WordAlignment& a, int highlighted) {
    Ui& ui = s.ui;
    const int step = label_step(l.w, ui.px(l.turned ? 24 : 16));
    for (int c = 0; c < l.columns; ++c) {
        if (c % step && c != highlighted) continue;
        const float x = l.x(c) + l.w / 2;
        const std::string label = shorten_middle(a.columns[static_cast<size_t>(c)], 14);
        if (l.turned) {
            ui.text.draw(x + ui.px(2), l.map.y - ui.px(11), kCaptionMono,
                         c == highlighted ? ui.colors->accent_text : ui.colors->t1, label, -0.7854f);
            continue;
        }
        if (c == highlighted)
            ui.fill({l.x(c), l.map.y - ui.px(44), l.w - ui.line(), ui.px(40)}, ui.colors->bg3);
        ui.text.draw_centred(x, l.map.y - ui.px(33), kCaptionMono, ui.colors->t3, std::to_string(c));
        ui.text.draw_centred(x, l.map.y - ui.px(14), kCaptionMono, ui.colors->t1, label);
    }
    if (l.turned) return;
    ui.text.draw(l.map.x - ui.px(138), l.map.y - ui.px(33), kCaption, ui.colors->t3, "source →");
    ui.text.draw(l.map.x - ui.px(138), l.map.y - ui.px(14), kCaption, ui.colors->t3, "target ↓");
}

void draw_coming(Scene& s, const Layout& l) {
    if (!l.coming) return;
    const Rect r{l.map.x, l.map.bottom(), l.map.w, l.h * static_cast<float>(l.coming)};
    s.ui.frame(r, s.ui.colors->l1);
    if (r.h >= s.ui.px(16))
        s.ui.text.draw_centred(r.middle_x(), r.middle_y(), kCaption, s.ui.colors->t3, "not yet written");
}

/// How undecided each row is: 0 where one column has all the weight.
void draw_entropy(Scene& s, const Layout& l, const WordAlignment& a, int highlighted) {
    Ui& ui = s.ui;
    const float x = l.map.right() + ui.px(16), wide = ui.px(28),
                max = std::log2(std::max(2.0f, static_cast<float>(l.columns)));
    const int step = label_step(l.h, ui.px(16));
    ui.text.draw(x + ui.px(l.turned ? 22 : 0), l.map.y - ui.px(14), kCaption, ui.colors->t3, "H, bits");
    for (int r = 0; r < l.rows; ++r) {
        const float y = l.y(r) + l.h / 2, value = a.entropy[static_cast<size_t>(r)],
                    high = std::clamp(l.h - 1, 1.0f, ui.px(8));
        ui.bar({x, y - high / 2, wide, high}, value / max,
               r == highlighted ? ui.colors->accent : ui.colors->t3);
        if (r % step == 0 || r == highlighted)
            ui.text.draw(x + wide + ui.px(6), y, kCaptionMono,
                         r == highlighted ? ui.colors->accent_text : ui.colors->t2, decimals(value, 1));
    }
}

void draw_bar(Scene& s, const Layout& l, const WordAlignment& a) {
    Ui& ui = s.ui;
    if (s.of<AlignState>().marks == AlignMarks::hard) return;
    const float largest = a.weights.maxCoeff();
    const Rect bar{l.map.right() + ui.px(104), l.map.y, ui.px(14),
                   std::max(l.h * static_cast<float>(l.rows + l.coming), ui.px(120))};
    ui.gradient(bar, colormap(s.session.preferences.colormap, ui.colors->dark));
    ui.frame(bar, ui.colors->l2);
    ui.text.draw(bar.x, bar.y - ui.px(14), kCaption, ui.colors->t3,
                 s.session.preferences.scale == Scale::row   ? "of row’s largest"
                 : s.session.preferences.scale == Scale::log ? "weight, log"
                                                             : "weight");
    for (int i = 0; i <= 4; ++i) {
        const float share = static_cast<float>(i) / 4, y = bar.bottom() - share * bar.h;
        const double value = s.session.preferences.scale == Scale::row ? share
                             : s.session.preferences.scale == Scale::log
                                 ? kLogFloor * std::pow(largest / kLogFloor, share)
                                 : largest * share;
        ui.text.draw(bar.right() + ui.px(8), y, kCaptionMono, ui.colors->t2,
                     decimals(value, value > 0 && value < 0.01 ? 4 : 2));
    }
}

void draw_focus(Scene& s, const Layout& l, std::pair<int, int> cell) {
    Ui& ui = s.ui;
    const float t = ui.line(), y = l.y(cell.first);
    const ImU32 ink = s.session.selection.hovered.cell ? ui.colors->hover : ui.colors->accent;
    ui.fill({l.map.x, y - t, l.map.w, t}, ink);
    ui.fill({l.map.x, y + l.h - t, l.map.w, t}, ink);
    const Rect at = l.cell(cell.first, cell.second);
    if (std::min(l.w, l.h) >= ui.px(5)) ui.frame({at.x - t, at.y - t, at.w + t, at.h + t}, ink, 3);
}

void answer_map(Scene& s, const Layout& l, const WordAlignment& a) {
    const Hit h = s.ui.hit("align/map", {l.map.x - s.ui.px(148), l.map.y, l.map.w + s.ui.px(148), l.map.h});
    if (!h.hovered) return;
    const int row = std::clamp(static_cast<int>((h.mouse.y - l.map.y) / l.h), 0, l.rows - 1);
    const bool in_map = h.mouse.x >= l.map.x;
    const int column = in_map ? std::clamp(static_cast<int>((h.mouse.x - l.map.x) / l.w), 0, l.columns - 1)
                              : a.strongest[static_cast<size_t>(row)];
    point_at_words(s, a, row, column);
    if (h.clicked) lock_words(s, a, row, column);
}

std::string caption(const Scene& s, const Layout& l, const WordAlignment& a) {
    const int crossings = count_crossings(a.strongest);
    const std::string order =
        crossings ? std::to_string(crossings) +
                        (crossings == 1 ? " pair of links crosses" : " pairs of links cross") +
                        ": the order changes."
                  : "No links cross: the target keeps the source’s order.";
    const std::string marked =
        s.of<AlignState>().marks == AlignMarks::both   ? " Corner: strongest link of the row."
        : s.of<AlignState>().marks == AlignMarks::hard ? " Hard: all weight on each row’s strongest link."
                                                       : "";
    return "Each row sums to 1." + marked + " " + order +
           (l.h < 1 || l.w < 1 ? " Cells are smaller than a pixel." : "");
}

}  // namespace

const Found<WordAlignmentWanted>* shown_alignment(const Scene& s) { return s.found<WordAlignmentWanted>(); }

std::vector<std::string> words_to_come(const Scene& s, const Found<WordAlignmentWanted>& found) {
    const auto& written = s.sentence()->written;
    if (!written || s.model()->config.stacks.size() < 2) return {};
    const size_t done = static_cast<size_t>(s.sentence()->step) + (found.asked.as_read ? 0 : 1);
    if (done >= written->labels.size()) return {};
    std::vector<std::string> labels(written->labels.begin() + static_cast<std::ptrdiff_t>(done),
                                    written->labels.end()),
        tokens;
    if (!found.asked.by_words) return labels;
    for (size_t i = done; i < written->writing.tokens.size(); ++i)
        tokens.push_back(s.model()->target_tokenizer()->spelling(written->writing.tokens[i].id));
    return join_labels(labels, word_numbers(tokens));
}

std::pair<int, int> focused_words(const Scene& s, const WordAlignment& a) {
    const auto cell = s.shown_cell();
    if (!cell || (s.ui.on_page() && !s.session.selection.focused())) return {-1, -1};
    const int row = a.row_of_token[static_cast<size_t>(
        std::min<int>(cell->first, static_cast<int>(a.row_of_token.size()) - 1))];
    if (s.session.selection.focused())
        return {row, a.column_of_token[static_cast<size_t>(
                         std::min<int>(cell->second, static_cast<int>(a.column_of_token.size()) - 1))]};
    return {row, a.strongest[static_cast<size_t>(row)]};
}

void point_at_words(Scene& s, const WordAlignment& a, int row, int column) {
    s.point_at(std::pair{a.first_token(true, row), a.first_token(false, column)});
}

void lock_words(Scene& s, const WordAlignment& a, int row, int column) {
    s.lock(std::pair{a.first_token(true, row), a.first_token(false, column)});
    s.leave_text();
}

std::vector<Question> ask_alignment(const Scene& s) {
    WordAlignmentWanted w;
    w.block = cross_block(s.model()->config, s.session.selection.block);
    if (s.of<AlignState>().of == AlignOf::head)
        w.heads = {std::min(s.session.selection.head, s.model()->config.heads(w.block) - 1)};
    for (int h = 0; s.of<AlignState>().of == AlignOf::chosen && h < s.model()->config.heads(w.block); ++h)
        if (!s.of<LinesState>().hidden_heads.count(h)) w.heads.push_back(h);
    w.by_words = s.of<AlignState>().words;
    w.as_read = s.of<AlignState>().by_reading;
    const auto& written = s.sentence()->written;
    const auto step = static_cast<size_t>(s.sentence()->step);
    if (written && step < written->writing.tokens.size()) w.last = written->writing.tokens[step].id;
    std::vector<Question> out{w};
    if (s.of<AlignState>().of == AlignOf::chosen)
        out.emplace_back(LinksWanted{w.block, s.of<LinesState>().share});
    return out;
}

void draw_alignment(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (const int cross = cross_block(s.model()->config, s.session.selection.block);
        cross != s.session.selection.block)
        s.session.selection.block = cross;
    if (!ui.on_page()) draw_toolbar(s, area);
    const auto* found = shown_alignment(s);
    if (!found || !s.answer->picture || s.answer->picture->block != found->asked.block) return;
    const WordAlignment& a = found->answer;
    if (s.of<AlignState>().lines) return draw_alignment_lines(s, area, *found);
    const auto coming = words_to_come(s, *found);
    const Layout l = arrange(ui, area, a, static_cast<int>(coming.size()));
    answer_map(s, l, a);
    const auto cell = focused_words(s, a);
    draw_cells(s, l, a);
    mark_strongest(s, l, a);
    draw_coming(s, l);
    draw_column_labels(s, l, a, cell.second);
    draw_row_labels(s, l, a, coming, cell.first);
    draw_entropy(s, l, a, cell.first);
    draw_bar(s, l, a);
    if (cell.first >= 0) draw_focus(s, l, cell);
    ui.text.draw_wrapped(l.map.x, l.y(l.rows + l.coming) + ui.px(12), area.right() - l.map.x - ui.px(12),
                         kCaption, ui.colors->t3, caption(s, l, a));
}

}  // namespace headlight

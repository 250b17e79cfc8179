// Shows source × target: the source words that each target word attends to, soft or hard.
#include "views/align/align.h"

#include <algorithm>
#include <cmath>

#include "analysis/comparison/words.h"
#include "base/cast.h"
#include "base/utf8.h"
#include "parts/layer_heads.h"
#include "views/views.h"

namespace headlight {

namespace {

void draw_align_toolbar(Scene& s, Toolbar bar) {
    constexpr float kRoomy = 852;
    const bool roomy = bar.labels = bar.rest().w > kRoomy;
    AlignState& state = s.of<AlignState>();
    using Names = std::vector<std::string>;
    bar.choose(
        "Of", "align/of",
        roomy ? Names{"this head", "mean of the layer", "chosen heads"} : Names{"head", "mean", "chosen"},
        state.of);
    bar.choose("Links", "align/marks",
               roomy ? Names{"soft", "soft, strongest marked", "hard"} : Names{"soft", "marked", "hard"},
               state.marks);
    bar.choose(
        "Rows", "align/rows",
        roomy ? Names{"the word being chosen", "the word being read"} : Names{"chosen word", "read word"},
        state.by_reading);
    bar.choose("", "align/words", {"tokens", "words"}, state.words);
    bar.choose("", "align/lines", {"map", "lines"}, state.lines);
}

/// The weight to draw: for hard alignment, 1 in the strongest column.
float drawn_weight(const Scene& s, const WordAlignment& a, int row, int column) {
    if (s.of<AlignState>().marks == AlignMarks::hard) return a.strongest[row] == column ? 1.0f : 0.0f;
    return a.weights(row, column);
}

/// Maps weights to the color map; rows not yet generated have no cells.
Matrix places_of_words(const Scene& s, const WordAlignment& a, const Shades& shades, int pending) {
    const int rows = isize(a.rows), columns = isize(a.columns);
    Matrix places = Matrix::Constant(rows + pending, columns, kNoCell);
    for (int r = 0; r < rows; ++r) {
        const float row_largest = a.weights.row(r).maxCoeff();
        for (int c = 0; c < columns; ++c) {
            const float w = drawn_weight(s, a, r, c);
            places(r, c) = w < 0 ? kMaskedCell : shades.place(w, row_largest);
        }
    }
    return places;
}

/// Marks the strongest cell of each row, the hard alignment, with a corner.
void mark_strongest(Scene& s, const Grid& g, const WordAlignment& a, const MatrixCells& cells) {
    Ui& ui = s.ui;
    if (s.of<AlignState>().marks != AlignMarks::both || std::min(g.w, g.h) < 8) return;
    for (int r = 0; r < isize(a.rows); ++r) {
        const int c = a.strongest[r];
        const Rect cell = g.cell(r, c);
        const float side = std::min(10.0f, std::min(g.w, g.h) / 2);
        ui.polygon(
            std::array<ImVec2, 3>{{{cell.x, cell.y}, {cell.x + side, cell.y}, {cell.x, cell.y + side}}},
            ink_on(color_at(cells.colors, cells.places(r, c))));
    }
}

void answer_map(Scene& s, const Grid& g, const WordAlignment& a) {
    const float names = kAlignNames + gap::tight;
    const Hit h =
        s.ui.hit("align/map", {g.view.x - names, g.view.y, g.view.w + names, g.h * float(a.rows.size())});
    if (!h.hovered) return;
    const int row = g.row_at(h.mouse.y),
              column = h.mouse.x >= g.view.x ? g.column_at(h.mouse.x) : a.strongest[row];
    point_at_words(s, a, row, column);
    if (h.mouse.x >= g.view.x)
        tooltip_without_inspector(s, "align/map", h,
                                  a.rows[row] + " " + std::to_string(row) + " → " + a.columns[column] + " " +
                                      std::to_string(column) + "  " +
                                      fine_number(std::max(0.0f, a.weights(row, column)), 3));
    if (h.clicked) lock_words(s, a, row, column);
}

std::string caption_of(const Scene& s, const WordAlignment& a) {
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
    return "Each row sums to 1." + marked + " " + order;
}

MatrixView alignment_matrix(const Scene& s, const WordAlignment& a, const std::vector<std::string>& pending) {
    constexpr size_t kMaxOfWord = 14;
    const bool hard = s.of<AlignState>().marks == AlignMarks::hard;
    const Colormap& colors = colormap(s.session.preferences.colormap, s.ui.colors->dark);
    const int rows = isize(a.rows);
    Shades shades = shades_of(s.session.preferences.contrast, a.weights);
    if (hard) shades.largest = shades.percentile = 1;
    MatrixView out{.path = "align/map",
                   .cells = {places_of_words(s, a, shades, isize(pending)), colors},
                   .rows = {[&a, &pending, rows](int r) { return r < rows ? a.rows[r] : pending[r - rows]; },
                            "target", index_name, kAlignNames},
                   .columns = {[&a](int c) { return shorten_middle(a.columns[c], kMaxOfWord); }, "source",
                               index_name, 120},
                   .bar = weight_bar(colors, shades),
                   .note = {caption_of(s, a)},
                   .max_w = 76,
                   .upright = true,
                   .right = kEntropyRoom,
                   .number =
                       [&s, &a](int r, int c) {
                           const float w = drawn_weight(s, a, r, c);
                           return w >= 0.1f ? decimals(w, 2) : std::string();
                       },
                   .hovered = s.session.selection.hovered.cell.has_value()};
    out.rows.ink = [&s, rows](int r) { return r < rows ? s.ui.colors->t1 : s.ui.colors->t3; };
    return out;
}

}  // namespace

const Found<WordAlignmentRequest>* shown_alignment(const Scene& s) { return s.found<WordAlignmentRequest>(); }

std::vector<std::string> pending_words(const Scene& s, const Found<WordAlignmentRequest>& found) {
    const auto& written = s.sentence()->written;
    if (!written || s.model()->config.stacks.size() < 2) return {};
    const size_t done = s.sentence()->step + (found.asked.as_read ? 0 : 1);
    if (done >= written->labels.size()) return {};
    std::vector<std::string> labels(written->labels.begin() + done, written->labels.end()), tokens;
    if (!found.asked.by_words) return labels;
    for (size_t i = done; i < written->generation.tokens.size(); ++i)
        tokens.push_back(s.model()->target_tokenizer()->spelling(written->generation.tokens[i].id));
    return join_labels(labels, word_numbers(tokens));
}

std::pair<int, int> focused_words(const Scene& s, const WordAlignment& a) {
    const auto cell = s.shown_cell();
    if (!cell || (s.ui.on_page() && !s.session.selection.focused())) return {-1, -1};
    const int row = a.row_of_token[std::min<int>(cell->first, isize(a.row_of_token) - 1)];
    if (s.session.selection.focused())
        return {row, a.column_of_token[std::min<int>(cell->second, isize(a.column_of_token) - 1)]};
    return {row, a.strongest[row]};
}

void point_at_words(Scene& s, const WordAlignment& a, int row, int column) {
    s.point_at(std::pair{a.first_token(true, row), a.first_token(false, column)});
}

void lock_words(Scene& s, const WordAlignment& a, int row, int column) {
    s.lock(std::pair{a.first_token(true, row), a.first_token(false, column)});
    s.leave_text();
}

std::vector<Question> ask_alignment(const Scene& s) {
    const auto [block, head] = s.session.selection.shown_head();
    const AlignOf of = s.session.selection.hovered.preview ? AlignOf::head : s.of<AlignState>().of;
    WordAlignmentRequest w;
    w.block = cross_block(s.model()->config, block);
    const int heads = s.model()->config.heads(w.block);
    if (of == AlignOf::head) w.heads = {std::min(head, heads - 1)};
    for (int h = 0; of == AlignOf::chosen && h < heads; ++h)
        if (!s.of<LayerHeads>().hidden.count(h)) w.heads.push_back(h);
    w.by_words = s.of<AlignState>().words;
    w.as_read = s.of<AlignState>().by_reading;
    const auto& written = s.sentence()->written;
    const size_t step = s.sentence()->step;
    if (written && step < written->generation.tokens.size()) w.last = written->generation.tokens[step].id;
    std::vector<Question> out{w};
    if (s.of<AlignState>().of == AlignOf::chosen)
        out.emplace_back(LinksRequest{w.block, s.of<LayerHeads>().share});
    return out;
}

void draw_alignment(Scene& s, Rect area) {
    if (const int cross = cross_block(s.model()->config, s.session.selection.block);
        cross != s.session.selection.block)
        s.select_block(cross);
    Rect rest = area;
    if (!s.ui.on_page()) draw_align_toolbar(s, view_toolbar(s.ui, rest));
    const auto* found = shown_alignment(s);
    if (!found || !s.answer->picture || s.answer->picture->block != found->asked.block) return;
    const WordAlignment& a = found->answer;
    if (s.of<AlignState>().lines) return draw_alignment_lines(s, area, *found);
    const auto pending = pending_words(s, *found);
    constexpr float kAboveNames = 44;
    take_top(area, kAboveNames);
    take_left(area, size::center_pad);
    take_right(area, gap::medium);
    MatrixView view = alignment_matrix(s, a, pending);
    const MatrixLayout l = arrange_matrix(s.ui, area, view);
    answer_map(s, l.grid, a);
    if (const auto cell = focused_words(s, a); cell.first >= 0) view.marked = cell;
    if (s.of<AlignState>().marks == AlignMarks::hard) view.bar = {};
    draw_matrix_view(s, l, view);
    mark_strongest(s, l.grid, a, view.cells);
    draw_pending(s, l.grid, isize(pending));
    draw_entropy(s, l, a, view.marked ? view.marked->first : -1);
}

namespace {

const char* no_cross(const Model& m) {
    return m.config.decoder().cross() ? nullptr : "Alignment needs a model with an encoder and a decoder.";
}
ShownHeads aligned_heads(const Scene& s) {
    const auto [block, head] = s.session.selection.shown_head();
    return {
        {block, head}, s.of<AlignState>().of != AlignOf::head && !s.session.selection.hovered.preview, {}};
}

/// Opens the mean on the last layer: the first ones hardly align (Li et al. 2019, section 4).
void begin_alignment(CommandContext& context) {
    Session& s = context.session;
    const ModelConfig& c = context.model()->config;
    if (s.of<AlignState>().of != AlignOf::mean) return;
    s.selection.choose(c.blocks() - 1, s.selection.head);
    fit_head(s.selection, c);
}

}  // namespace

View alignment_view() {
    return {.key = "alignment",
            .name = "Alignment",
            .answers = ViewGroup::look,
            .synonyms = "translation, translate, cross-attention",
            .draw = draw_alignment,
            .offered = reads_text,
            .missing = no_cross,
            .ask = ask_alignment,
            .beside = {draw_alignment_list, always<draw_alignment_inspector>},
            .paints = true,
            .of_target = true,
            .heads = aligned_heads,
            .numbers = alignment_numbers,
            .visit = visit_state<AlignState>,
            .begin = begin_alignment};
}

}  // namespace headlight

// Lays out the blocks of a page, and draws those made of text.
#include "parts/blocks.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "figure/figure.h"
#include "learn/symbols.h"
#include "paint/layout.h"
#include "parts/token_axis.h"

namespace headlight::learn {

namespace {

constexpr float kBesideGap = 40, kBelowGap = 28, kLine = 24, kColumnGap = 28, kLeastWords = 96;
constexpr float kLevelNumber = 34;  // numbers up to this width stay horizontal; only some columns show one

/// The minimum width of a block beside others; the whole width if it never shares a row.
struct WantedWidth {
    Ui& ui;
    float room;

    float operator()(const Grid& grid) const {
        const float columns = float(grid.columns.size()),
                    each = std::max(44.0f, widest_of(ui, kCaptionMono, grid.columns) + 8);
        return widest_of(ui, kCaptionMono, grid.rows) + 16 + std::min(each * columns, 340.0f);
    }
    float operator()(const Curves&) const { return std::min(room, 400.0f); }
    float operator()(const Plane&) const { return std::min(room, 400.0f); }
    float operator()(const Pixels&) const { return std::min(room, 320.0f); }
    template <class Other>
    float operator()(const Other&) const {
        return room;
    }
};

struct DrawOne {
    BlockPen& pen;
    ImVec2 at;
    float width;

    float operator()(const BarRows& b) const { return draw_bar_rows(pen, at, width, b); }
    float operator()(const Grid& b) const { return draw_grid(pen, at, width, b); }
    float operator()(const Curves& b) const { return draw_plot(pen, at, width, b); }
    float operator()(const Plane& b) const { return draw_plane(pen, at, width, b); }
    float operator()(const Steps& b) const { return draw_written_steps(pen, at, width, b); }
    float operator()(const Table& b) const { return draw_number_table(pen, at, width, b); }
    float operator()(const Pixels& b) const { return draw_pixels(pen, at, width, b); }
    float operator()(const Words& b) const { return draw_words(pen, at, width, b); }
    float operator()(const Thread& b) const { return draw_thread(pen, at, width, b); }
};

struct PlacedBlock {
    float left = 0, width = 0, bottom = 0;
    float right() const { return left + width; }
};

/// The shortest and the tallest block of a row.
auto ends_of(std::vector<PlacedBlock>& row) {
    return std::minmax_element(row.begin(), row.end(), [](const PlacedBlock& a, const PlacedBlock& b) {
        return a.bottom < b.bottom;
    });
}

/// True if a plot fits, or nearly so, below the shortest block of a row.
bool fits_under(std::vector<PlacedBlock>& row, const Block& block, float wanted) {
    constexpr float kPlotAbout = 330, kMayReachBeyond = 100;
    const auto [shortest, tallest] = ends_of(row);
    return std::holds_alternative<Curves>(block) && wanted <= shortest->width &&
           shortest->bottom + kBelowGap + kPlotAbout <= tallest->bottom + kMayReachBeyond;
}

}  // namespace

float draw_blocks(BlockPen& pen, std::span<const Block> blocks, float x, float y, float width,
                  int first_index) {
    const std::string path = pen.path;
    std::vector<float> wanted;
    for (const Block& block : blocks) wanted.push_back(std::visit(WantedWidth{pen.ui, width}, block));
    const auto draw = [&](int i, ImVec2 at, float wide) {
        pen.path = path + "/" + std::to_string(first_index + i);
        return PlacedBlock{at.x, wide, at.y + std::visit(DrawOne{pen, at, wide}, blocks[i])};
    };
    for (int first = 0; first < isize(blocks);) {
        int end = first + 1;
        float sum = wanted[first];
        while (end < isize(blocks) && sum + kBesideGap + wanted[end] <= width)
            sum += kBesideGap + wanted[end++];
        const float gaps = kBesideGap * float(end - first - 1), grown = (width - gaps) / (sum - gaps);
        std::vector<PlacedBlock> row;
        for (int i = first; i < end; ++i)
            row.push_back(draw(i, {row.empty() ? x : row.back().right() + kBesideGap, y}, wanted[i] * grown));
        for (; end < isize(blocks) && fits_under(row, blocks[end], wanted[end]); ++end) {
            PlacedBlock& above = *ends_of(row).first;
            above = draw(end, {above.left, above.bottom + kBelowGap}, above.width);
        }
        y = ends_of(row).second->bottom + (end < isize(blocks) ? kBelowGap : 0);
        first = end;
    }
    pen.path = path;
    return y;
}

float draw_block_title(BlockPen& pen, ImVec2 at, float width, const std::string& title) {
    if (title.empty()) return 0;
    Ui& ui = pen.ui;
    const float wide =
        ui.text.draw(at.x, at.y + 10, kBody, ui.colors->t1, ui.text.fitted(kBody, title, width));
    explain(pen, {at.x, at.y, wide, 20}, title);
    return 30;
}

void explain(BlockPen& pen, Rect place, const std::string& text) {
    const Hit hit = pen.ui.over(place);
    if (!hit.hovered) return;
    if (const std::string all = explained(pen.symbols, text); !all.empty())
        pen.ui.tooltip(pen.path + "/" + text, hit, all);
}

std::string short_number(double value) {
    const double size = std::abs(value);
    return number(value, size >= 99.5 ? 0 : size >= 9.95 ? 1 : 2);
}

namespace {

/// Names are slanted before any is omitted; numbers are thinned out instead.
bool fits_level(float widest, float step, const std::vector<std::string>& labels) {
    const bool numbers = std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
        return label.find_first_not_of("0123456789") == std::string::npos;
    });
    return numbers ? widest + 4 <= std::max(step, kLevelNumber) : widest + 6 <= step;
}

}  // namespace

float column_labels_height(Ui& ui, const std::vector<std::string>& labels, float step) {
    const float widest = widest_of(ui, kCaptionMono, labels);
    return fits_level(widest, step, labels) ? 24 : names_height(Lean::slanted, widest);
}

void draw_column_labels(Ui& ui, float left, float bottom, float step,
                        const std::vector<std::string>& labels) {
    const float widest = widest_of(ui, kCaptionMono, labels);
    const bool level = fits_level(widest, step, labels);
    const int every = label_step(double(step), level ? double(widest) + 6 : 16);
    for (int i = 0; i < isize(labels); i += every) {
        const float middle = left + step * (float(i) + 0.5f);
        if (level)
            ui.text.draw_centered(middle, bottom - 12, kCaptionMono, ui.colors->t2, labels[i]);
        else
            draw_leaning(ui, {{middle - 2, bottom - 10}}, ui.colors->t2, labels[i]);
    }
}

namespace {

constexpr float kStepPad = 2, kLeastWorked = 120;

struct StepColumns {
    float what = 0;  // width
    float worked = 0, room = 0;
    float result = 0;
};

StepColumns step_columns(Ui& ui, float left, float width, const Steps& steps) {
    StepColumns c;
    float worked = 0, result = 0;
    for (const auto& line : steps.lines) {
        c.what = std::max(c.what, ui.text.width(kBody, line.what));
        worked = std::max(worked, ui.text.width(kBodyMono, line.worked));
        result = std::max(result, ui.text.width(kBodyMono, line.result));
    }
    c.what = std::min(c.what, width * 0.4f);
    c.worked = left + c.what + gap::wide;
    c.room = std::min(worked + 1, std::max(kLeastWorked, left + width - result - gap::wide - c.worked));
    c.result = c.worked + c.room + gap::wide;
    return c;
}

}  // namespace

float draw_written_steps(BlockPen& pen, ImVec2 at, float width, const Steps& steps) {
    Ui& ui = pen.ui;
    const StepColumns c = step_columns(ui, at.x, width, steps);
    float y = at.y + draw_block_title(pen, at, width, steps.title);
    for (const auto& line : steps.lines) {
        const Rect first{at.x, y, c.what, kLine};
        write(ui, first, kBody, ui.colors->t2, line.what);
        const float high = std::max(kLine, ui.text.draw_wrapped(c.worked, y + kStepPad, c.room, kBodyMono,
                                                                ui.colors->t1, line.worked) +
                                               2 * kStepPad);
        const Rect last{c.result, y + high - kLine, at.x + width - c.result, kLine};
        write(ui, last, kBodyMono, ui.colors->accent_text, line.result);
        explain(pen, {at.x, y, c.result - at.x, high}, line.what + ": " + line.worked);
        y += high;
    }
    return y - at.y;
}

namespace {

constexpr float kHeadLine = 18;  // line pitch of a table's head

/// A column of a table; its title wraps if the table is too wide.
struct TableColumn {
    std::vector<std::string> title, cells;
    bool right = false;  // numbers are right-aligned
    float wide = 0;
};

bool is_number(const Table& table, int row, int column) {
    return row < isize(table.values) && column < isize(table.values[row]) &&
           !std::isnan(table.values[row][column]);
}

/// Wraps a title into lines as narrow as possible.
std::vector<std::string> title_lines(Ui& ui, const std::string& title, float room) {
    std::vector<std::string> out;
    std::istringstream words(title);
    for (std::string word; words >> word;) {
        const std::string joined = out.empty() ? word : out.back() + " " + word;
        if (!out.empty() && ui.text.width(kCaption, joined) <= room)
            out.back() = joined;
        else
            out.push_back(word);
    }
    return out;
}

TableColumn table_column(Ui& ui, const Table& table, int column) {
    TableColumn out{{table.columns[column]}, {}, !table.rows.empty() && is_number(table, 0, column)};
    for (const auto& row : table.rows) out.cells.push_back(column < isize(row) ? row[column] : "");
    out.wide = std::max(widest_of(ui, out.right ? kCaptionMono : kCaption, out.cells),
                        ui.text.width(kCaption, out.title[0]));
    return out;
}

/// Fits columns to their content; if too wide, wraps the titles, then truncates the widest text column.
std::vector<TableColumn> table_columns(Ui& ui, const Table& table, float width) {
    std::vector<TableColumn> out;
    float beyond = -width;
    for (int c = 0; c < isize(table.columns); ++c) {
        out.push_back(table_column(ui, table, c));
        beyond += out.back().wide + (c ? kColumnGap : 0);
    }
    if (beyond <= 0) return out;
    for (TableColumn& c : out) {
        const float cells = widest_of(ui, c.right ? kCaptionMono : kCaption, c.cells);
        c.title = title_lines(ui, c.title[0], cells);
        const float wide = std::max(cells, widest_of(ui, kCaption, c.title));
        beyond -= c.wide - wide;
        c.wide = wide;
    }
    const auto words = std::max_element(out.begin(), out.end(), [](const auto& a, const auto& b) {
        return (a.right ? 0 : a.wide) < (b.right ? 0 : b.wide);
    });
    if (beyond > 0 && !words->right) words->wide = std::max(kLeastWords, words->wide - beyond);
    return out;
}

}  // namespace

float draw_number_table(BlockPen& pen, ImVec2 at, float width, const Table& table) {
    Ui& ui = pen.ui;
    const std::vector<TableColumn> columns = table_columns(ui, table, width);
    int lines = 1;
    for (const TableColumn& c : columns) lines = std::max(lines, isize(c.title));
    const float top = at.y + draw_block_title(pen, at, width, table.title),
                line = top + kLine + kHeadLine * float(lines - 1);
    Rect rest{at.x, top, width, line - top};
    for (int i = 0; i < isize(columns); ++i) {
        const TableColumn& c = columns[i];
        const Flush flush = c.right ? Flush::right : Flush::left;
        const Rect head = take_left(rest, c.wide, kColumnGap);
        for (int l = 0; l < isize(c.title); ++l)
            write(ui,
                  {head.x, head.bottom() - kLine - kHeadLine * float(isize(c.title) - 1 - l), c.wide, kLine},
                  kCaption, ui.colors->t3, c.title[l], flush);
        explain(pen, head, table.columns[i]);
        for (int r = 0; r < isize(c.cells); ++r)
            write(ui, {head.x, line + gap::tight + kLine * float(r), c.wide, kLine},
                  is_number(table, r, i) ? kCaptionMono : kCaption, ui.colors->t1, c.cells[r], flush);
    }
    ui.hairline(at.x, line + 1, std::min(rest.x - kColumnGap, at.x + width), line + 1);
    return line + kLine * float(table.rows.size()) + gap::tight - at.y;
}

float draw_symbols(Ui& ui, ImVec2 at, float width, const std::vector<Symbol>& symbols) {
    std::vector<std::string> signs;
    for (const Symbol& symbol : symbols) signs.push_back(symbol.sign);
    const float wide = std::min(widest_of(ui, kCaptionMono, signs), width * 0.4f),
                meanings = at.x + wide + gap::large;
    float y = at.y;
    for (const Symbol& symbol : symbols) {
        ui.text.draw(at.x, y + 10, kCaptionMono, ui.colors->t1,
                     ui.text.fitted(kCaptionMono, symbol.sign, wide));
        y += gap::tight + ui.text.draw_wrapped(meanings, y + 2, at.x + width - meanings, kCaption,
                                               ui.colors->t2, symbol.meaning);
    }
    return y - at.y;
}

float draw_words(BlockPen& pen, ImVec2 at, float width, const Words& words) {
    return pen.ui.text.draw_wrapped(at.x, at.y, std::min(width, 640.0f), kBody, pen.ui.colors->t1,
                                    words.text);
}

}  // namespace headlight::learn

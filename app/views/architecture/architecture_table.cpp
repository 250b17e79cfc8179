// Draws the parameter counts of a model, and a row for each kind of tensor.
#include <algorithm>
#include <cstring>

#include "base/cast.h"
#include "views/architecture/architecture.h"

namespace headlight {

/// Matches whole words of the prefix: "attention norm" does not match "attention norms of q and k".
bool contains_row(const Block& b, const ParameterRow& row) {
    return std::any_of(b.rows.begin(), b.rows.end(), [&](const std::string& begin) {
        return !begin.empty() && row.block.rfind(begin, 0) == 0 &&
               (row.block.size() == begin.size() || row.block[begin.size()] == ' ' ||
                row.block[begin.size()] == ',');
    });
}

namespace {

constexpr float kCountRow = 22, kTableHead = 28;

/// A table with columns as wide as their texts; the first takes the rest, the second only if it fits.
struct TextTable {
    std::vector<std::string> head;
    std::vector<std::vector<std::string>> rows;
};

struct TableColumns {
    std::vector<float> widths;  // of all but the first
    bool second = true;         // the second column fits
    bool cuts = false;          // names are truncated even without it
};

TableColumns columns_of(Ui& ui, const TextTable& t, float width) {
    TableColumns out;
    float left = width;
    std::vector<std::string> names;
    for (const auto& row : t.rows) names.push_back(row[0]);
    left -= widest_of(ui, kCaption, names);
    for (size_t c = 1; c < t.head.size(); ++c) {
        float w = ui.text.width(kCaption, t.head[c]);
        for (const auto& row : t.rows) w = std::max(w, ui.text.width(kCaptionMono, row[c]));
        out.widths.push_back(w + gap::medium);
        left -= w + gap::medium;
    }
    out.second = left >= 0;
    out.cuts = left + out.widths[0] < 0;
    return out;
}

/// Draws a line, with numbers right-aligned.
void draw_line(Ui& ui, Rect line, const TableColumns& columns, const std::vector<std::string>& texts,
               bool head, ImU32 ink) {
    for (size_t c = texts.size() - 1; c > 1; --c) {
        const Rect cell = take_right(line, columns.widths[c - 1]);
        write(ui, cell, head ? kCaption : kCaptionMono, head ? ui.colors->t2 : ui.colors->t1, texts[c],
              Flush::right);
    }
    if (columns.second)
        write(ui, take_right(line, columns.widths[0]), kCaption, ui.colors->t3, texts[1], Flush::right);
    write(ui, line, kCaption, ink, texts[0]);
}

void draw_head(Ui& ui, Rect& rest, const TextTable& t, const TableColumns& columns) {
    const Rect line = take_top(rest, kTableHead, gap::tight);
    draw_line(ui, line, columns, t.head, true, ui.colors->t2);
    ui.fill({line.x, line.bottom(), line.w, ui.line()}, ui.colors->l2);
    Rect cells = line;
    for (size_t c = t.head.size() - 1; c > 0; --c)
        if (c > 1 || columns.second)
            ui.explain("number/column " + t.head[c], take_right(cells, columns.widths[c - 1]));
}

}  // namespace

float draw_counts(Scene& s, Rect place, const ModelConfig& c) {
    Ui& ui = s.ui;
    const auto counts = named_counts(c);
    const auto table = [&](auto written) {
        TextTable t{{"count", "of", "matrices", "all", "share"}, {}};
        for (const NamedCount& count : counts)
            t.rows.push_back({count.name, count.of, count.matrices ? written(count.matrices) : "",
                              written(count.all),
                              count.shares || count.whole ? percent(share_of(count, c)) : ""});
        return t;
    };
    TextTable t = table(with_commas);
    TableColumns columns = columns_of(ui, t, place.w);
    if (columns.cuts) columns = columns_of(ui, t = table(short_count), place.w);
    Rect rest = place;
    draw_head(ui, rest, t, columns);
    for (int i = 0; i < isize(t.rows); ++i) {
        const Rect line = take_top(rest, kCountRow);
        const std::string path = "model/count/" + std::to_string(i);
        const Hit hit = ui.hit(path, line);
        const bool whole = counts[i].name.rfind("the whole", 0) == 0;
        if (hit.hovered) ui.fill(inset(line, -gap::small, 0), ui.colors->bg3, size::corner);
        draw_line(ui, line, columns, t.rows[i], false,
                  whole         ? ui.colors->accent_text
                  : hit.hovered ? ui.colors->t1
                                : ui.colors->t2);
        const std::string of = counts[i].of.empty() ? "" : counts[i].of + ": ";
        ui.tooltip(path, hit,
                   of + with_commas(counts[i].matrices) + " in matrices, " + with_commas(counts[i].all) +
                       " in total. " + counts[i].help);
    }
    return rest.y - place.y;
}

float draw_parameters(Scene& s, Rect place, const ModelConfig& c, const std::vector<ParameterRow>& table,
                      const Block* pointed) {
    Ui& ui = s.ui;
    const auto written_by = [&](auto written) {
        TextTable t{{"parameters of", "shape", "each", "times", "total"}, {}};
        for (const ParameterRow& row : table)
            t.rows.push_back({row.block, row.shape, written(row.each), std::to_string(row.count),
                              written(row.each * row.count)});
        t.rows.push_back({"total", "", "", "", written(parameter_count(c))});
        return t;
    };
    TextTable t = written_by(with_commas);
    TableColumns columns = columns_of(ui, t, place.w);
    if (columns.cuts) columns = columns_of(ui, t = written_by(short_count), place.w);
    if (columns.cuts)
        for (auto& row : t.rows)  // only a decoder has it
            if (row[0].starts_with("decoder cross-attention")) row[0].erase(0, std::strlen("decoder "));
    Rect rest = place;
    draw_head(ui, rest, t, columns);
    for (int i = 0; i < isize(t.rows); ++i) {
        const bool last = i == isize(table), on = !last && pointed && contains_row(*pointed, table[i]);
        if (last) ui.fill({rest.x, take_top(rest, gap::small).middle_y(), rest.w, ui.line()}, ui.colors->l2);
        const Rect line = take_top(rest, kCountRow);
        const std::string path = "model/parameters/" + std::to_string(i);
        if (!last)
            ui.tooltip(path, ui.hit(path, line),
                       t.rows[i][0] + ": " + t.rows[i][1] + ", " + t.rows[i][3] + " of them");
        if (on) ui.fill(inset(line, -gap::small, 0), ui.colors->bg3, size::corner);
        draw_line(ui, line, columns, t.rows[i], false,
                  last ? ui.colors->accent_text
                  : on ? ui.colors->t1
                       : ui.colors->t2);
    }
    return rest.y - place.y;
}

}  // namespace headlight

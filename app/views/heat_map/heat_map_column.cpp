// Draws the column beside the heat map of a narrow window, while the inspector is shut.
#include <algorithm>

#include "parts/head_tags.h"
#include "parts/result.h"
#include "views/heat_map/heat_map.h"

namespace headlight {

namespace {

constexpr float kButton = 28, kFoot = 12, kStep = 24, kWideColumn = 112;

/// Draws "red → ball" and its weight.
void draw_cell_of_column(Scene& s, Column& c, std::pair<int, int> cell) {
    Ui& ui = s.ui;
    Rect line = c.line();
    const std::string &query = s.query_labels()[cell.first], &key = s.key_labels()[cell.second];
    const float room = line.w - ui.text.width(kBody, " → "),
                half = std::max(room / 2, room - ui.text.width(kBodyMono, key));
    take_left(line, write(ui, {line.x, line.y, half, line.h}, kBodyMono, ui.colors->accent_text, query));
    take_left(line, write(ui, line, kBody, ui.colors->t3, " → "));
    write(ui, line, kBodyMono, ui.colors->t1, key);
    c.skip(kStep);
    c.pair(s.is_mixing() ? "mixing" : "weight", s.weight_text(cell.first, cell.second), true);
}

/// Lists where the query looks, down to `bottom`.
void draw_row_of_column(Scene& s, Column& c, float bottom) {
    const CellReport* r = s.answer->cell.get();
    if (!r || s.answer->picture->group || !s.holds({r->cell.query, r->cell.key})) return;
    c.pair("rank", r->allowed ? std::to_string(r->rank) + "/" + std::to_string(r->ranked) : "—");
    c.rule();
    c.heading(first_that_fits(s.ui, kCaption, {s.query_labels()[r->cell.query] + " attends to", "attends to"},
                              c.at.w));
    for (const Prediction& p : r->row) {
        if (c.y + kStep / 2 > bottom) return;
        Rect line = c.line();
        const std::string weight = s.pattern_number(p.probability, 3);
        const ImU32 ink = p.id == r->cell.key ? s.ui.colors->accent_text : s.ui.colors->t1;
        const Rect value = take_right(line, s.ui.text.width(kCaptionMono, weight), gap::small);
        write(s.ui, line, kCaptionMono, ink, s.key_labels()[p.id]);
        write(s.ui, value, kCaptionMono, ink, weight, Flush::right);
        c.skip(kStep);
    }
}

/// Takes the sentence about the head off the lower end.
void draw_sentence_of_column(Scene& s, Rect& rest) {
    Ui& ui = s.ui;
    const std::string sentence = s.answer->picture->group ? "" : tag_sentence(s, {s.block(), s.head()});
    if (sentence.empty()) return;
    const Rect at = take_bottom(rest, ui.text.wrapped_height(rest.w, kCaption, sentence), gap::medium);
    ui.name("map/tag", at);
    ui.text.draw_wrapped(at.x, at.y, at.w, kCaption, ui.colors->t2, sentence);
}

}  // namespace

void draw_map_column(Scene& s, const MapLayout& l, std::optional<std::pair<int, int>> cell) {
    if (l.column.w <= 0) return;
    Ui& ui = s.ui;
    ui.hairline(l.column.x, l.column.y, l.column.x, l.column.bottom());
    ui.name("map/column", l.column);
    Rect rest = inset(l.column, gap::medium, kFoot);
    const char* save = rest.w < kWideColumn ? "Save…" : "Save figure…";
    if (ui.button("save", take_bottom(rest, kButton, gap::medium), save)) s.send("save figure");
    if (l.column.h < kRoomForTag && !has_result(s)) draw_sentence_of_column(s, rest);
    Column c(ui, rest, rest.y + kStep / 2);
    c.small = true;
    if (cell && s.holds(*cell)) draw_cell_of_column(s, c, *cell);
    if (has_result(s)) return draw_short_result(s, c, rest.bottom());
    draw_row_of_column(s, c, rest.bottom());
}

}  // namespace headlight

// The tokens under the sentence: what was read, and what is being written.
#include "views/chips.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/generation.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Which tokens a row of chips shows, and on which side of the shown head they stand.
struct ChipRow {
    int stack = 0;
    bool queries = true, keys = true;
    const char* path = "chip/";
};

ChipRow chip_row(const Scene& s, int stack) {
    const AttentionBlock block = s.model()->config.block(s.block());
    const bool decoder = stack > 0;
    return {stack, block.stack == stack, block.key_stack() == stack, decoder ? "target/" : "chip/"};
}

/// The cell that pointing at a token means: its row, or, for a key alone, the query that looks at it most.
std::optional<std::pair<int, int>> cell_of_token(const Scene& s, const ChipRow& row, int i) {
    if (row.queries) return std::pair{i, s.heaviest_key(i)};
    if (row.keys) return std::pair{s.heaviest_query(i), i};
    return std::nullopt;
}

/// How heavily the hovered query looks at a key, of its heaviest.
float share_of_row(const Scene& s, std::pair<int, int> cell, int key) {
    return s.weight(cell.first, key) / std::max(s.answer->picture->largest_of_row(cell.first), 1e-9f);
}

/// How heavily a query looks at the hovered token, of the one that looks most; only where queries and keys
/// are the same tokens.
float share_of_column(const Scene& s, std::pair<int, int> cell, int query) {
    if (s.queries() != s.keys() || cell.first >= s.keys()) return 0;
    return s.weight(query, cell.first) / std::max(s.weight(s.heaviest_query(cell.first), cell.first), 1e-9f);
}

/// One token; while something is hovered, chips take the color of what its query looks at, and a bar under
/// them says how heavily they look back at it. Hovering it previews its row, a click locks it.
float draw_chip(Scene& s, const ChipRow& row, int i, float x, float y, float high) {
    Ui& ui = s.ui;
    const std::string& label = s.sentence()->labels[row.stack][i];
    const std::string path = row.path + std::to_string(i);
    const Rect r{x, y, ui.text.width(kCaptionMono, label) + 14, high};
    const Hit h = ui.hit(path, r);
    const auto cell = s.shown_cell();
    const bool query = cell && row.queries && cell->first == i, key = cell && row.keys && cell->second == i;
    const ImU32 back = query ? ui.colors->accent_fill : key ? ui.colors->bg3 : ui.colors->bg2;
    const std::optional<float> looked_at = s.session.selection.hovered.cell && cell && row.keys && !query
                                               ? std::optional(share_of_row(s, *cell, i))
                                               : std::nullopt;
    const ImU32 color =
        looked_at ? color_at(colormap(s.session.preferences.colormap, ui.colors->dark), *looked_at) : back;
    ui.fill(r, looked_at && *looked_at > 0.02f ? color : back, size::corner);
    if (const float looks =
            s.session.selection.hovered.cell && cell && row.queries ? share_of_column(s, *cell, i) : 0;
        looks > 0.02f)
        ui.fill({r.x, r.bottom() + 2, r.w * looks, 3}, ui.colors->t2);
    const SentenceResult& sentence = *s.sentence();
    const bool written =
        sentence.written && row.stack + 1 == isize(sentence.labels) && i >= sentence.written->given;
    if (written) ui.fill({r.x, r.bottom() - 2, r.w, 2}, faded(ui.colors->accent, 0.6f));
    if (key) ui.frame(r, ui.colors->t2, 1, size::corner);
    if (query) ui.frame(r, ui.colors->accent, 1, size::corner);
    if (h.hovered) ui.frame(r, ui.colors->hover, 1, size::corner);
    ui.text.draw(r.x + 7, r.middle_y(), kCaptionMono,
                 query                             ? ui.colors->accent_text
                 : looked_at && *looked_at > 0.02f ? ink_on(color)
                                                   : ui.colors->t1,
                 label);
    const Sequence& sequence = s.sentence()->trace->request.inputs[row.stack];
    const size_t at = i;
    const std::string type =
        sequence.types.empty() ? "" : ", token type " + std::to_string(sequence.types[at]);
    ui.tooltip(path, h,
               "“" + sequence.tokens[at] + "”, id " + std::to_string(sequence.ids[at]) + ", position " +
                   std::to_string(i) + type);
    if (h.hovered && s.answer->picture) s.point_at(cell_of_token(s, row, i));
    if (h.clicked && s.answer->picture) s.lock(s.session.selection.hovered.cell);
    return r.w;
}

/// Tokens from `left` on, those that do not fit as "45 more"; returns where they end.
float draw_chips(Scene& s, const ChipRow& row, int& first, float left, float right, float y, float high) {
    Ui& ui = s.ui;
    const auto& labels = s.sentence()->labels[row.stack];
    const auto n = isize(labels);
    const float gap = 4, more = 78;
    const std::string path = row.stack ? "targets" : "chips";
    first = std::clamp(first, 0, n - 1);
    float x = left;
    if (first > 0) {
        const std::string back = std::to_string(first) + " before";
        if (ui.link(path + "/back", x + ui.text.width(kCaption, back), y + high / 2, back))
            first = std::max(0, first - 12);
        x += ui.text.width(kCaption, back) + 12;
    }
    int i = first;
    for (; i < n; ++i) {
        const float w = ui.text.width(kCaptionMono, labels[i]) + 14;
        if (x + w > right - (i + 1 < n ? more : 0)) break;
        x += draw_chip(s, row, i, x, y, high) + gap;
    }
    if (i == n) return x;
    const std::string rest = std::to_string(n - i) + " more";
    if (ui.link(path + "/more", x + 8 + ui.text.width(kCaption, rest), y + high / 2, rest)) first = i;
    return right;
}

/// One token that the model wrote; a click goes to the step that chose it. What is not read yet is pale.
float draw_written_chip(Scene& s, int i, float x, float y, float high) {
    Ui& ui = s.ui;
    const SentenceResult& sentence = *s.sentence();
    const WrittenText& w = *sentence.written;
    const std::string& label = w.labels[i];
    const std::string path = "written/" + std::to_string(i);
    const Rect r{x, y, ui.text.width(kCaptionMono, label) + 14, high};
    const Hit h = ui.control(path, r);
    const auto cell = s.shown_cell();
    const int query = w.given - 1 + i;
    const bool to_come = i > sentence.step, now = cell && cell->first == query;
    if (!to_come) ui.fill(r, now ? ui.colors->accent_fill : ui.colors->bg2, size::corner);
    ui.frame(r,
             h.hovered ? ui.colors->hover
             : now     ? ui.colors->accent
             : to_come ? ui.colors->l1
                       : ui.colors->bg2,
             1, size::corner);
    ui.text.draw(r.x + 7, r.middle_y(), kCaptionMono,
                 now       ? ui.colors->accent_text
                 : to_come ? ui.colors->t3
                           : ui.colors->t1,
                 label);
    ui.tooltip(path, h,
               "“" + label + "”, p = " + decimals(w.generation.tokens[i].probability, 3) +
                   ". Click goes to the step that chose it.");
    if (h.hovered && s.answer->picture && !to_come && query < s.queries())
        s.point_at(std::pair{query, s.heaviest_key(query)});
    if (h.clicked) s.send("step", std::to_string(i));
    return r.w;
}

void draw_written_chips(Scene& s, float left, float right, float y, float high) {
    const auto n = isize(s.sentence()->written->labels);
    int first = 0;
    for (float width = 0; first < s.sentence()->step; ++first) {  // so much that the step is in sight
        width = 0;
        for (int i = first; i <= std::min(s.sentence()->step, n - 1); ++i)
            width += s.ui.text.width(kCaptionMono, s.sentence()->written->labels[i]) + 18;
        if (width <= right - left) break;
    }
    float x = left;
    for (int i = first;
         i < n && x + s.ui.text.width(kCaptionMono, s.sentence()->written->labels[i]) + 14 <= right; ++i)
        x += draw_written_chip(s, i, x, y, high) + 4;
}

}  // namespace

bool shows_written(const Scene& s) {
    return s.sentence()->written && s.sentence()->labels.size() > 1 &&
           views()[view_for(s.session, *s.model())].lists_choices;
}

float draw_tokens(Scene& s, float left, float right, float y, float high) {
    if (s.sentence()->labels.size() == 1)
        return draw_chips(s, chip_row(s, 0), s.of<ChipsState>().first, left, right, y, high);
    Ui& ui = s.ui;
    const float middle = left + (right - left) / 2;
    draw_chips(s, chip_row(s, 0), s.of<ChipsState>().first, left, middle - 16, y, high);
    ui.hairline(middle - 6, y, middle - 6, y + high);
    if (!shows_written(s))
        return draw_chips(s, chip_row(s, 1), s.of<ChipsState>().first_target, middle, right, y, high);
    draw_written_chips(s, middle, right, y, high);
    return right;
}

}  // namespace headlight

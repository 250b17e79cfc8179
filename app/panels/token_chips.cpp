// Draws the tokens under the sentence: those read, and those generated.
#include "panels/token_chips.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cast.h"
#include "io/json.h"
#include "panels/token_menu.h"
#include "parts/generation.h"
#include "session/lesson.h"
#include "views/views.h"

namespace headlight {

void ChipsState::visit(FieldVisitor& v) { v.report("counted", counted); }

namespace {

constexpr float kMinShare = 0.02f;  // of a weight that is still drawn

/// The tokens in a row of chips, and whether they are queries or keys of the selected head.
struct ChipRow {
    int stack = 0;
    bool queries = true, keys = true;
    const char* path = "chip/";
};

ChipRow chip_row(const Scene& s, int stack) {
    const AttentionBlock block = s.model()->config.block(s.block());
    const bool decoder = stack > 0;
    return {stack, block.stack == stack, block.key_stack == stack, decoder ? "target/" : "chip/"};
}

/// The cell of a hovered token: its row, or, for a key only, the query with the largest weight on it.
std::optional<std::pair<int, int>> cell_of_token(const Scene& s, const ChipRow& row, int i) {
    if (row.queries) return std::pair{i, s.strongest_key(i)};
    if (row.keys) return std::pair{s.strongest_query(i), i};
    return std::nullopt;
}

/// Weight of the hovered query on a key, relative to its largest weight.
float share_of_row(const Scene& s, std::pair<int, int> cell, int key) {
    return std::abs(s.weight(cell.first, key)) /
           std::max(s.answer->picture->largest_of_row(cell.first), 1e-9f);
}

/// Weight of a query on the hovered token, relative to the largest; only if queries and keys are the same
/// tokens.
float share_of_column(const Scene& s, std::pair<int, int> cell, int query) {
    if (s.queries() != s.keys() || cell.first >= s.keys()) return 0;
    return std::abs(s.weight(query, cell.first)) /
           std::max(std::abs(s.weight(s.strongest_query(cell.first), cell.first)), 1e-9f);
}

/// Draws a token's chip, colored by the hovered query's weight on it.
Chip chip_of(const Scene& s, const ChipRow& row, int i) {
    const Ui& ui = s.ui;
    const LessonState* lesson = open_lesson_of(s.session);
    const bool guesses = lesson && covers_view(*lesson);  // the key would be the answer
    const auto cell = guesses ? std::nullopt : s.shown_cell();
    const bool query = cell && row.queries && cell->first == i, key = cell && row.keys && cell->second == i;
    Chip chip = token_chip(ui, s.sentence()->labels[row.stack][i],
                           query ? ChipRole::query
                           : key ? ChipRole::key
                                 : ChipRole::token);
    if (!s.session.selection.hovered.cell || !cell || !row.keys || query) return chip;
    const float share = share_of_row(s, *cell, i);
    if (share <= kMinShare) return chip;
    chip.back = color_at(colormap(s.session.preferences.colormap, ui.colors->dark), share);
    chip.ink = ink_on(chip.back);
    return chip;
}

/// Draws lines under a chip: its weight on the hovered token, and that it was generated.
void underline(Scene& s, const ChipRow& row, int i, Rect r) {
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    if (s.session.selection.hovered.cell && cell && row.queries)
        if (const float looks = share_of_column(s, *cell, i); looks > kMinShare)
            ui.fill({r.x, r.bottom() + 2, r.w * looks, 3}, ui.colors->t2);
    const SentenceResult& sentence = *s.sentence();
    if (sentence.written && row.stack + 1 == isize(sentence.labels) && i >= sentence.written->given)
        ui.fill(take_bottom(r, 2), faded(ui.colors->accent, 0.6f));
}

bool is_counted(const Scene& s, const ChipRow& row, int i) {
    const auto& state = s.session.of<ChipsState>();
    return state.counted_stack == row.stack &&
           std::binary_search(state.counted.begin(), state.counted.end(), i);
}

/// Draws one token. Hovering previews its row, a click locks it, a right click opens its menu.
void draw_token_chip(Scene& s, const ChipRow& row, int i, Rect r) {
    Ui& ui = s.ui;
    const std::string path = row.path + std::to_string(i);
    const Hit h = ui.hit(path, r);
    Chip chip = chip_of(s, row, i);
    if (is_counted(s, row, i)) chip.edge = ui.colors->accent;
    if (h.hovered) chip.edge = ui.colors->hover;
    draw_chip(ui, r, chip);
    underline(s, row, i, r);
    const Sequence& sequence = s.sentence()->trace->request.inputs[row.stack];
    const std::string type =
        sequence.types.empty() ? "" : ", token type " + std::to_string(sequence.types[i]);
    ui.tooltip(path, h,
               "“" + sequence.tokens[i] + "”, id " + std::to_string(sequence.ids[i]) + ", position " +
                   std::to_string(i) + type);
    if (h.hovered && s.answer->picture) s.point_at(cell_of_token(s, row, i));
    if (h.clicked && s.answer->picture) s.lock(s.session.selection.hovered.cell);
    offer_token_menu(s, h.hovered, {row.stack, i});
}

/// Width of "45 more" or "251 before".
float more_width(Ui& ui, size_t tokens) {
    return ui.text.width(kCaption, std::to_string(tokens) + " before") + gap::medium + gap::small;
}

/// Whether all tokens from one on fit.
bool rest_fits(const Scene& s, const std::vector<std::string>& labels, int first, float room) {
    float width = -gap::tight;
    for (int i = first; i < isize(labels) && width <= room; ++i)
        width += chip_width(s.ui, labels[i]) + gap::tight;
    return width <= room;
}

/// The token to scroll into view: typed last or locked; −1: none.
int token_to_show(const Scene& s, const ChipRow& row, ChipsState::Row& state) {
    const auto& lock = s.session.selection.locked;
    const int count = isize(s.sentence()->labels[row.stack]),
              locked = !lock         ? -1
                       : row.queries ? lock->first
                                     : lock->second,
              before = std::exchange(state.count, count), lock_before = std::exchange(state.locked, locked);
    if (count > before) return count - 1;
    return locked != lock_before && locked < count ? locked : -1;
}

/// Scrolls just enough to show that token, or to the beginning if all fit.
void bring_into_sight(const Scene& s, const ChipRow& row, ChipsState::Row& state, float room) {
    const auto& labels = s.sentence()->labels[row.stack];
    const int wanted = token_to_show(s, row, state);
    if (rest_fits(s, labels, 0, room)) {
        state.first = 0;
        return;
    }
    if (wanted < 0) return;
    const float more = more_width(s.ui, labels.size());
    int min = wanted;
    float width = (wanted + 1 < isize(labels) ? more : 0) + chip_width(s.ui, labels[wanted]);
    while (min > 0) {
        width += gap::tight + chip_width(s.ui, labels[min - 1]);
        if (width + (min > 1 ? more : 0) > room) break;
        --min;
    }
    state.first = std::clamp(state.first, min, wanted);
}

/// Draws tokens from the left, the rest as "45 more"; returns where they end.
float draw_chips(Scene& s, const ChipRow& row, ChipsState::Row& state, Rect line) {
    constexpr int kBack = 12;
    Ui& ui = s.ui;
    const auto& labels = s.sentence()->labels[row.stack];
    const auto n = isize(labels);
    const std::string path = row.stack ? "targets" : "chips";
    const auto link = [&](const char* end, const std::string& text) {
        const Rect at = take_left(line, ui.text.width(kCaption, text), gap::medium);
        return ui.link(path + end, at.right(), at.middle_y(), text);
    };
    if (line.w < 2 * more_width(ui, labels.size())) return line.x;  // not even the count of the rest fits
    bring_into_sight(s, row, state, line.w);
    int& first = state.first;
    first = std::clamp(first, 0, n - 1);
    if (first > 0 && link("/back", std::to_string(first) + " before")) first = std::max(0, first - kBack);
    const float more = more_width(ui, labels.size());
    int i = first;
    for (; i < n; ++i) {
        const float w = chip_width(ui, labels[i]);
        if (w + more > line.w && !rest_fits(s, labels, i, line.w)) break;
        draw_token_chip(s, row, i, take_left(line, w, gap::tight));
    }
    if (i == n) return line.x;
    take_left(line, 0, gap::small);
    const float right = line.right();
    if (link("/more", std::to_string(n - i) + " more")) first = i;
    return right;
}

/// Draws a generated token; a click selects its step. Tokens not read yet are pale.
void draw_written_chip(Scene& s, int i, Rect r) {
    Ui& ui = s.ui;
    const SentenceResult& sentence = *s.sentence();
    const WrittenText& w = *sentence.written;
    const std::string path = "written/" + std::to_string(i);
    const Hit h = ui.control(path, r);
    const auto cell = s.shown_cell();
    const int query = w.given - 1 + i;
    const bool to_come = i > sentence.step, now = cell && cell->first == query;
    Chip chip = token_chip(ui, w.labels[i], now ? ChipRole::query : ChipRole::token);
    if (to_come) chip = {w.labels[i], now ? chip.ink : ui.colors->t3, 0, now ? chip.edge : ui.colors->l1};
    if (h.hovered) chip.edge = ui.colors->hover;
    draw_chip(ui, r, chip);
    ui.tooltip(path, h,
               "“" + w.labels[i] + "”, p = " + decimals(w.generation.tokens[i].probability, 3) +
                   ". Click goes to the step that chose it.");
    if (h.hovered && s.answer->picture && !to_come && query < s.queries())
        s.point_at(std::pair{query, s.strongest_key(query)});
    if (h.clicked) s.send("step", std::to_string(i));
}

void draw_written_chips(Scene& s, Rect line) {
    const auto& labels = s.sentence()->written->labels;
    const auto n = isize(labels);
    int first = 0;
    for (float width = 0; first < s.sentence()->step; ++first) {  // scrolls the step into view
        width = 0;
        for (int i = first; i <= std::min(s.sentence()->step, n - 1); ++i)
            width += chip_width(s.ui, labels[i]) + gap::tight;
        if (width <= line.w) break;
    }
    for (int i = first; i < n && chip_width(s.ui, labels[i]) <= line.w; ++i)
        draw_written_chip(s, i, take_left(line, chip_width(s.ui, labels[i]), gap::tight));
}

}  // namespace

bool shows_written(const Scene& s) {
    return s.sentence()->written && s.sentence()->labels.size() > 1 &&
           shown_view(s.session, *s.model()).of_target;
}

float draw_tokens(Scene& s, Rect line) {
    auto& state = s.of<ChipsState>();
    if (s.sentence()->labels.size() == 1) return draw_chips(s, chip_row(s, 0), state.source, line);
    const Rect source = nth_column(line, 0, 2, gap::large), target = nth_column(line, 1, 2, gap::large);
    const float between = (source.right() + target.x) / 2;
    draw_chips(s, chip_row(s, 0), state.source, source);
    s.ui.hairline(between, line.y, between, line.bottom());
    if (!shows_written(s)) return draw_chips(s, chip_row(s, 1), state.target, target);
    draw_written_chips(s, target);
    return line.right();
}

}  // namespace headlight

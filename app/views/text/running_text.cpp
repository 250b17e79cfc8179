#include "views/text/running_text.h"

#include <algorithm>
#include <tuple>

#include "io/json.h"
#include "parts/controls.h"
#include "parts/map_parts.h"
#include "parts/unseen.h"
#include "views/combined_heads.h"
#include "views/interactive_page.h"
#include "views/page.h"
#include "views/tables.h"
#include "views/turn_pair.h"
#include "views/views.h"

namespace headlight {

void RunningTextState::visit(FieldVisitor& v) { v.report("text_first", first_in_sight); }

namespace {

constexpr float kWidestText = 820, kLegend = 52, kPageFoot = 40, kLegendBar = 200, kHighestPage = 16000;

int token_at_place(const TextLayout& l, const TextFlow& flow, ImVec2 place) {
    const auto [first, last] = tokens_in_sight(l, flow);
    for (int i = first; i < last; ++i)
        if (l.place(flow, i).contains(place)) return i;
    return -1;
}

/// Returns the query whose weights are read: the locked one, or the one shown when the pointer came.
int query_to_read(Scene& s, int shown) {
    const Selection& selection = s.session.selection;
    int& kept = s.of<RunningTextState>().query;
    if (selection.locked && s.holds(*selection.locked))
        kept = selection.locked->first;
    else if (!selection.hovered.cell || kept < 0 || kept >= s.queries())
        kept = shown;
    return kept;
}

/// Reads a hovered token's weight; a click or the arrow keys change the query.
void answer_text(Scene& s, const TextLayout& l, int query) {
    Ui& ui = s.ui;
    if (ui.on_page()) return;
    const Hit h = ui.control("text", l.view);
    if (const int step = ui.take_step("text"); step != 0)
        lock_token(s, std::clamp(query + step, 0, s.queries() - 1));
    if (!h.hovered) return void(query_to_read(s, query));
    const int key = token_at_place(l, *l.keys, h.mouse);
    const int asked = l.queries ? token_at_place(l, *l.queries, h.mouse) : key;
    if (key >= 0) {
        query = query_to_read(s, query);
        s.point_at(std::pair{query, key});
        ui.tooltip("text/" + std::to_string(key), h,
                   token_at(s.query_labels(), query) + " → " + token_at(s.key_labels(), key) + ": " +
                       s.weight_text(query, key));
    }
    if (h.clicked && asked >= 0) lock_token(s, asked);
    if (h.clicked) s.leave_text();
}

/// Draws a word: as a whole, or each token's part of it in the ink of its background.
void draw_word(Ui& ui, const TextLayout& l, const TextFlow& flow, const TextWord& word,
               const std::function<ImU32(int)>& ink) {
    const auto draw = [&](int token) {
        const Rect r = l.place(flow, word.first);
        ui.text.draw(r.x - flow.places[word.first].x + word.x, r.middle_y(), flow.font, ink(token),
                     word.text);
    };
    bool one_ink = true;
    for (int i = 1; i < word.count; ++i) one_ink &= ink(word.first + i) == ink(word.first);
    if (one_ink) return draw(word.first);
    ui.text.may_cut(TextPainter::MayCut::words);
    for (int i = word.first; i < word.first + word.count; ++i) {
        ui.clip(inset(l.place(flow, i), 0, -gap::tight));
        draw(i);
        ui.unclip();
    }
    ui.text.may_cut(TextPainter::MayCut::lines);
}

/// A token with the sides of its word; a hairline parts it from the next.
Rect back_of(const Ui& ui, const TextLayout& l, const TextFlow& flow, const TextWord& word, int token) {
    Rect r = l.place(flow, token);
    const bool left = token == (word.leftward ? word.first + word.count - 1 : word.first),
               right = token == (word.leftward ? word.first : word.first + word.count - 1);
    if (left) r = {r.x - kTokenSides, r.y, r.w + kTokenSides, r.h};
    r.w += right ? kTokenSides - ui.line() : -ui.line();
    return r;
}

void draw_keys(Scene& s, const TextLayout& l, int query, int lit) {
    Ui& ui = s.ui;
    const HeadPicture& p = *s.answer->picture;
    const Colormap& map = shown_colormap(s);
    const Shades shades = row_shades(s, query);
    const auto seen = tokens_in_sight(l, *l.keys);
    s.of<RunningTextState>().first_in_sight = seen.first;
    const auto back = [&](int i) { return color_at(map, shades.place(p.at(query, i), shades.largest)); };
    const auto pair = chosen_turns(s);
    const auto is_shaded = [&](int i) { return !is_masked(p.at(query, i)) && (!pair || pair->answers(i)); };
    const auto ink = [&](int i) { return is_shaded(i) ? ink_on(back(i)) : ui.colors->t3; };
    const auto [first, last] = words_of_range(*l.keys, seen);
    for (size_t w = first; w < last; ++w) {
        const TextWord& word = l.keys->words[w];
        for (int i = word.first; i < word.first + word.count; ++i) {
            const Rect r = back_of(ui, l, *l.keys, word, i);
            if (is_shaded(i)) ui.fill(r, back(i), 2);
            ui.name("text/" + std::to_string(i), r);
        }
    }
    // After all backgrounds: words without a space between them touch.
    for (size_t w = first; w < last; ++w) {
        const TextWord& word = l.keys->words[w];
        for (int i = word.first; i < word.first + word.count; ++i) {
            const Rect r = back_of(ui, l, *l.keys, word, i);
            if (!l.queries && i == query) ui.frame(r, ui.colors->accent, 2, 2);
            if (i == lit && i != query) ui.frame(r, ui.colors->hover, 2, 2);
        }
        draw_word(ui, l, *l.keys, word, ink);
    }
}

void draw_queries(Scene& s, const TextLayout& l, int query) {
    if (!l.queries) return;
    const auto [first, last] = words_of_range(*l.queries, tokens_in_sight(l, *l.queries));
    for (size_t w = first; w < last; ++w) {
        const TextWord& word = l.queries->words[w];
        draw_word(s.ui, l, *l.queries, word, [&](int) { return s.ui.colors->t1; });
        for (int i = word.first; i < word.first + word.count; ++i) {
            const Rect r = back_of(s.ui, l, *l.queries, word, i);
            if (i == query) s.ui.frame(r, s.ui.colors->accent, 2, 2);
            s.ui.name("text/query/" + std::to_string(i), r);
        }
    }
}

void draw_legend(Scene& s, Rect line, int query) {
    Ui& ui = s.ui;
    const HeadPicture& p = *s.answer->picture;
    const float largest = row_shades(s, query).brightest(p.largest_of_row(query));
    Rect bar = take_right(line, std::min(kLegendBar, line.w / 3), gap::large);
    draw_color_bar(ui, range_bar(shown_colormap(s), double(largest), s.is_mixing()),
                   {bar.x, line.middle_y() - gap::medium, bar.w, gap::medium});
    const auto cell = s.session.selection.hovered.cell;
    std::string pointed;
    if (cell && s.holds(*cell) && !is_masked(p.at(cell->first, cell->second)))
        pointed = " → " + token_at(s.key_labels(), cell->second) + "  " +
                  s.pattern_number(s.weight(cell->first, cell->second), 3);
    const float wide = write(ui, line, kBodyMono, ui.colors->accent_text, token_at(s.query_labels(), query));
    take_left(line, wide);
    write(ui, line, kBodyMono, ui.colors->t1, pointed.empty() ? " attends to" : pointed);
}

std::string about_text(const Scene& s, const TextLayout& l) {
    const int shown = tokens_in_sight(l, *l.keys).second;
    const bool cut = s.ui.on_page() && shown < s.keys();
    return std::string("Token color: weight from the query; contrast: ") + shown_shades(s).row().label + "." +
           (cut ? " The first " + std::to_string(shown) + " of " + std::to_string(s.keys()) + " tokens."
            : s.ui.on_page() ? ""
                             : " Click a token to make it the query.");
}

/// Names the strongest keys above and below what is seen; a click scrolls to one.
void mark_unseen(Scene& s, const TextLayout& l, int query, Rect above, Rect below) {
    const auto [first, last] = tokens_in_sight(l, *l.keys);
    const auto pair = chosen_turns(s);
    const auto weight = [&](int key) { return pair && !pair->answers(key) ? 0 : s.weight(query, key); };
    for (const auto& [line, arrow, begin, end] :
         {std::tuple{above, "↑", 0, first}, std::tuple{below, "↓", last, s.keys()}}) {
        const int chosen = draw_unseen(s, line, arrow, strongest_keys(weight, begin, end));
        if (chosen >= 0)
            s.of<RunningTextState>().seen.y = l.keys_from + l.keys->places[chosen].y - l.view.h / 2;
    }
}

/// Returns a centered column of readable width.
Rect text_room(Rect area) {
    Rect room = inset(area, size::center_pad, 0);
    return inset(room, std::max(0.0f, (room.w - kWidestText) / 2), 0);
}

void draw_text_toolbar(Scene& s, Toolbar bar) {
    choose_combination(s, bar);
    const Preferences& now = s.session.preferences;
    choose_contrast(s, bar);
    const std::vector<std::string> maps(colormap_names().begin(), colormap_names().end());
    const int current = narrow<int>(std::find(maps.begin(), maps.end(), now.colormap) - maps.begin());
    if (const int c = bar.choice("Colors", "colors", maps, current); c >= 0) s.send("colormap", maps[c]);
    offer_all_turns(s, bar);
}

}  // namespace

void draw_running_text(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    if (!s.answer->picture || !cell) return;
    const int query = cell->first;
    Rect rest = area;
    if (!ui.on_page()) draw_text_toolbar(s, view_toolbar(ui, rest));
    Rect room = text_room(rest);
    const Rect legend = take_top(room, kLegend), foot = take_bottom(room, kPageFoot);
    TextLayout l = arrange_text(s, room);
    Rect above{}, below{};  // marks of what is out of sight
    if (!ui.on_page() && l.height() > room.h && room.h > kLeastMarked) {
        above = take_top(room, kUnseenLine);
        below = take_bottom(room, kUnseenLine);
        l = arrange_text(s, room);
    }
    auto& seen = s.of<RunningTextState>().seen;
    seen.wide = room.w;
    seen.high = room.h;
    follow_query(s, l, query);
    if (ui.on_page()) seen.y = 0;
    scrolled(ui, room, l.height(), seen);
    l.offset = seen.y;
    answer_text(s, l, query);
    draw_legend(s, legend, query);
    ui.clip(room);
    ui.text.may_cut(TextPainter::MayCut::lines);
    draw_queries(s, l, query);
    if (l.queries && l.keys_from > l.offset)
        ui.hairline(room.x, room.y + l.keys_from - gap::section - l.offset, room.right(),
                    room.y + l.keys_from - gap::section - l.offset);
    const auto hovered = s.session.selection.hovered.cell;
    draw_keys(s, l, query, hovered ? hovered->second : s.session.selection.locked ? cell->second : -1);
    ui.text.may_cut(TextPainter::MayCut::nothing);
    ui.unclip();
    if (above.h > 0) mark_unseen(s, l, query, above, below);
    caption(ui, foot, about_text(s, l));
}

namespace {

/// Draws the whole text: the page grows to its height.
std::optional<Result<Drawing>> text_page_figure(const ViewPage& asked, ThreadPool&) {
    ViewPage page = asked;
    if (!page.style.height())
        with_scene(page, [&](Scene& s) {
            const Rect room = text_room({0, 0, page.width, page.height});
            page.height =
                std::min(kHighestPage, arrange_text(s, room).height() + kLegend + kPageFoot + gap::large);
        });
    return draw_view_page(page);
}

std::vector<NumberTable> text_numbers(const Scene& s) {
    const auto cell = s.shown_cell();
    if (!s.answer->picture || !cell) return {};
    const Matrix row = picture_rows(*s.sentence()->trace, *s.answer->picture, cell->first, 1);
    return {{"weights of " + token_at(s.query_labels(), cell->first),
             "query",
             "key",
             {token_at(s.query_labels(), cell->first)},
             s.key_labels(),
             shown_only(row)}};
}

}  // namespace

View running_text_view() {
    return {.key = "text",
            .name = "Text",
            .answers = ViewGroup::look,
            .synonyms = "highlighted words",
            .letter = 'U',
            .draw = draw_running_text,
            .offered = reads_text,
            .group = combined_heads,
            .figure = text_page_figure,
            .figure_of_answer = true,
            .page = "text",
            .numbers = text_numbers,
            .visit = visit_state<RunningTextState>,
            .seen = seen_of<RunningTextState>};
}

}  // namespace headlight

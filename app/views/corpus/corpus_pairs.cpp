// Draws a head's strongest pairs of tokens over many texts, in context.
#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "views/corpus/corpus.h"

namespace headlight {

namespace {

constexpr float kPairRow = 58, kPairHead = 30, kPairBar = 64, kPairWeight = 56;

size_t byte_at(const std::string& text, int code_point) {
    size_t at = 0;
    for (int i = 0; i < code_point && at < text.size(); ++i) at += decode_utf8(text, at).length;
    return at;
}

/// A sentence in five pieces: before, first token, between, second token, after.
struct MarkedText {
    std::array<std::string, 5> pieces;
    bool query_first = false;
};

/// Excludes leading spaces.
Span without_blanks(const std::string& text, Span place) {
    while (place.begin < place.end && text[byte_at(text, place.begin)] == ' ') ++place.begin;
    return place;
}

std::optional<MarkedText> marked_text(const CorpusLink& link) {
    const std::string& text = link.text->text;
    const Span query = without_blanks(text, link.query_place), key = without_blanks(text, link.key_place);
    const bool query_first = query.begin <= key.begin;
    const Span first = query_first ? query : key, second = query_first ? key : query;
    const bool itself = query == key;  // marked once
    if (!link.text->whole || first.begin >= first.end || second.begin >= second.end ||
        (!itself && second.begin < first.end))
        return std::nullopt;
    const size_t a = byte_at(text, first.begin), b = byte_at(text, first.end),
                 c = byte_at(text, second.begin), d = byte_at(text, second.end);
    if (itself) return MarkedText{{text.substr(0, a), text.substr(a, b - a), "", "", text.substr(b)}, true};
    return MarkedText{{text.substr(0, a), text.substr(a, b - a), text.substr(b, c - b), text.substr(c, d - c),
                       text.substr(d)},
                      query_first};
}

/// Truncates the beginning of a text to fit, with "…".
std::string fitted_end(Ui& ui, Font font, const std::string& text, float room) {
    if (ui.text.width(font, text) <= room) return text;
    std::vector<size_t> starts;
    for (size_t at = 0; at < text.size(); at += decode_utf8(text, at).length) starts.push_back(at);
    const auto fits = std::partition_point(starts.begin(), starts.end(), [&](size_t at) {
        return ui.text.width(font, "…" + text.substr(at)) > room;
    });
    return "…" + (fits == starts.end() ? std::string() : text.substr(*fits));
}

/// Truncates the text before the pair at its start, between at its middle, after at its end.
void fit_pieces(Ui& ui, MarkedText& m, float room) {
    constexpr float kBetween = 0.5f;
    const Font font = kBody;
    auto& p = m.pieces;
    room -= ui.text.width(font, p[1]) + ui.text.width(font, p[3]) + 2 * gap::small;
    if (ui.text.width(font, p[2]) > room * kBetween) {
        const float half = room * kBetween / 2;
        p[2] = ui.text.fitted(font, p[2], half) +
               fitted_end(ui, font, p[2], half).substr(std::string("…").size());
    }
    room -= ui.text.width(font, p[2]);
    const float before = ui.text.width(font, p[0]), after = ui.text.width(font, p[4]);
    const float for_before = std::max(room / 2, room - after);
    p[0] = fitted_end(ui, font, p[0], for_before);
    p[4] = ui.text.fitted(font, p[4], room - std::min(before, for_before));
}

/// Draws the sentence on one line, with the query and the key as chips.
void draw_marked(Scene& s, Rect line, const CorpusLink& link) {
    Ui& ui = s.ui;
    auto marked = marked_text(link);
    if (!marked) {
        write(ui, line, kBody, ui.colors->t2, link.text->text);
        return;
    }
    fit_pieces(ui, *marked, line.w);
    for (int i = 0; i < 5; ++i) {
        const std::string& piece = marked->pieces[i];
        if (piece.empty()) continue;
        const float wide = ui.text.width(kBody, piece);
        if (i % 2) {
            const Chip look =
                token_chip(ui, "", (i == 1) == marked->query_first ? ChipRole::query : ChipRole::key);
            const Rect box{line.x, line.middle_y() - 11, wide + gap::small, 22};
            ui.fill(box, look.back, size::corner);
            ui.frame(box, look.edge, ui.line(), size::corner);
            ui.text.draw(line.x + gap::tight, line.middle_y(), kBody, look.ink, piece);
            take_left(line, wide + gap::small);
        } else {
            ui.text.draw(line.x, line.middle_y(), kBody, ui.colors->t2, piece);
            take_left(line, wide);
        }
    }
}

void draw_corpus_pair(Scene& s, Rect r, int number_of_pair, const CorpusLink& link) {
    Ui& ui = s.ui;
    const std::string path = "corpus/pair/" + std::to_string(number_of_pair);
    const Rect box = inset(r, -gap::small, 2);
    const Hit hit = ui.control(path, box);
    if (hit.hovered) ui.fill(box, ui.colors->bg3, size::corner);
    Rect lines = inset(r, 0, gap::close), line = take_top(lines, lines.h / 2);
    Rect value = take_right(line, kPairWeight);
    write(ui, value, kCaptionMono, ui.colors->t1, fine_number(double(link.weight), 3), Flush::right);
    const Rect bar = take_right(line, kPairBar, gap::small);
    ui.bar(band(bar, size::bar), link.weight, ui.colors->t3);
    const std::string where = "line " + std::to_string(link.text->line);
    write(ui, take_right(line, ui.text.width(kCaption, where) + 1, gap::medium), kCaption, ui.colors->t3,
          where);
    const std::string query = link.query_token + " " + std::to_string(link.query),
                      key = link.key_token + " " + std::to_string(link.key);
    const float wide = write(ui, line, kBodyMono, ui.colors->accent_text, query);
    take_left(line, wide + gap::small);
    take_left(line, write(ui, line, kBody, ui.colors->t3, "→") + gap::small);
    write(ui, line, kBodyMono, ui.colors->t1, key);
    draw_marked(s, lines, link);
    ui.explain(path, box);
    if (hit.clicked) s.send("corpus pair", std::to_string(number_of_pair));
}

}  // namespace

void draw_corpus_pairs(Scene& s, Rect area, const Dossier& d) {
    Ui& ui = s.ui;
    const auto& pairs = d.heads[chosen_head(s)].strongest;
    Rect head = take_top(area, kPairHead);
    take_right(head, gap::medium);
    caption(ui, take_right(head, kPairWeight), "weight", Flush::right);
    caption(ui, head, "Strongest distinct pairs, query → key, in context");
    if (pairs.empty()) {
        write(ui, take_top(area, size::line), kBody, ui.colors->t2, "No pairs.");
        return;
    }
    Viewport& seen = s.of<CorpusState>().seen;
    scrolled(ui, area, kPairRow * float(pairs.size()), seen);
    ui.scroll_area(area);
    for (int i = 0; i < isize(pairs); ++i) {
        const Rect r{area.x, area.y - seen.y + kPairRow * float(i), area.w - gap::medium, kPairRow};
        if (r.bottom() > area.y && r.y < area.bottom()) draw_corpus_pair(s, r, i, pairs[i]);
    }
    ui.end_scroll_area();
}

}  // namespace headlight

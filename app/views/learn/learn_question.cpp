// Draws a station's questions: cards to guess from, what covers the page until then, and what follows it.
#include <algorithm>

#include "parts/controls.h"
#include "views/learn/learn.h"

namespace headlight {

namespace {

constexpr float kCardHigh = 88, kCardGap = 16, kCardCorner = 6, kLeastCard = 190, kCardKey = 20,
                kCoverHigh = 260, kBoxWide = 360;
constexpr size_t kMaxColumns = 128;  // beyond, the covered picture is one frame

/// Holds how one card is drawn.
struct CardLook {
    Rect place;
    int number = 0;
    bool covered = true, right = false, guessed = false;
};

void draw_tick_at(Ui& ui, ImVec2 c, ImU32 ink) {
    const ImVec2 tick[] = {{c.x - 6, c.y}, {c.x - 2, c.y + 5}, {c.x + 6, c.y - 5}};
    ui.polyline(tick, ink, 2);
}

/// Draws the key that chooses a card; after the answer a tick, a ring, or the number.
void draw_card_mark(Ui& ui, const CardLook& look) {
    const Rect key{look.place.x + gap::large, look.place.y + gap::large + 4, kCardKey, kCardKey};
    if (!look.covered && look.right) return draw_tick_at(ui, key.middle(), ui.colors->accent);
    if (!look.covered && look.guessed) return ui.ring(key.middle(), 6, ui.colors->t1, 2);
    if (look.covered) ui.frame(key, ui.colors->l2, 1, size::corner);
    ui.text.draw_centered(key.middle_x(), key.middle_y(), kCaptionMono,
                          look.covered ? ui.colors->t1 : ui.colors->t3, std::to_string(look.number + 1));
}

void draw_card_box(Ui& ui, const CardLook& look, bool hovered) {
    const bool right = !look.covered && look.right;
    ui.fill(look.place,
            right      ? ui.colors->accent_fill
            : !hovered ? ui.colors->bg2
                       : ui.colors->bg3,
            kCardCorner);
    const ImU32 edge = right ? ui.colors->accent : look.guessed ? ui.colors->t2 : ui.colors->l2;
    ui.frame(look.place, edge, 1, kCardCorner);
}

/// Draws the card's label, its number once it is known, and its reason.
void draw_card_words(Ui& ui, const CardLook& look, const learn::GuessCard& card) {
    Rect inside{look.place.x + gap::large + kCardKey + gap::medium, look.place.y + gap::medium,
                look.place.w - 2 * gap::large - kCardKey - gap::medium, look.place.h - 2 * gap::medium};
    const ImU32 quiet = look.covered || look.right || look.guessed ? ui.colors->t1 : ui.colors->t2;
    Rect line = take_top(inside, 28, gap::tight);
    if (!look.covered && !card.shown.empty())
        write(ui, take_right(line, ui.text.width(kBodyMono, card.shown), gap::small), kBodyMono,
              look.right ? ui.colors->accent_text : quiet, card.shown, Flush::right);
    if (!look.covered && look.guessed) {
        const std::string own = "your guess";
        Rect below = inside;
        write(ui, take_right(below, ui.text.width(kCaption, own), gap::small), kCaption, ui.colors->t1, own,
              Flush::right);
        inside.w = below.w;
    }
    const Font large = card.place.empty() ? kTitle : kTitleMono;
    const Font font = ui.text.width(large, card.label) + 24 <= line.w ? large : kBody;
    const ImU32 ink = !look.covered && look.right ? ui.colors->accent_text : quiet;
    const float wide = write(ui, line, font, ink, card.label);
    take_left(line, wide, gap::close);
    write(ui, {line.x, line.y + 3, line.w, line.h}, kCaptionMono, ui.colors->t3, card.place);
    ui.text.draw_wrapped(inside.x, inside.y, inside.w, kCaption, quiet, card.reason);
}

/// Returns the bottom.
float draw_cards(Scene& s, Rect area, const learn::PageQuestion& question, const Guess* guess, bool covered) {
    Ui& ui = s.ui;
    const int count = isize(question.cards),
              across =
                  float(count) * (kLeastCard + kCardGap) <= area.w + kCardGap ? count : std::min(2, count);
    for (int i = 0; i < count; ++i) {
        const Rect row{area.x, area.y + (kCardHigh + kCardGap) * float(i / across), area.w, kCardHigh};
        const CardLook look{nth_column(row, i % across, across, kCardGap), i, covered, i == question.right,
                            guess && guess->card == i};
        const std::string path = "learn/guess/" + std::to_string(i + 1);
        const Hit h = covered ? ui.control(path, look.place) : Hit{};
        if (!covered) ui.name(path, look.place);
        draw_card_box(ui, look, h.hovered);
        draw_card_mark(ui, look);
        draw_card_words(ui, look, question.cards[i]);
        if (!h.clicked) continue;
        s.leave_text();  // the keys answer from now on
        s.send("learn guess " + std::to_string(i + 1));
    }
    const auto rows = float((count + across - 1) / across);
    return area.y + rows * kCardHigh + (rows - 1) * kCardGap;
}

void dashed(Ui& ui, ImVec2 from, ImVec2 to) {
    constexpr float kDash = 4, kStep = 7;
    const bool across = from.y == to.y;
    const float length = across ? to.x - from.x : to.y - from.y;
    for (float at = 0; at < length; at += kStep) {
        const float end = std::min(at + kDash, length);
        ui.stroke(across ? ImVec2{from.x + at, from.y} : ImVec2{from.x, from.y + at},
                  across ? ImVec2{from.x + end, from.y} : ImVec2{from.x, from.y + end}, ui.colors->l2, 1);
    }
}

void dashed_frame(Ui& ui, Rect r) {
    dashed(ui, {r.x, r.y}, {r.right(), r.y});
    dashed(ui, {r.x, r.bottom()}, {r.right(), r.bottom()});
    dashed(ui, {r.x, r.y}, {r.x, r.bottom()});
    dashed(ui, {r.right(), r.y}, {r.right(), r.bottom()});
}

/// Marks the column of the word that asks, and its label between top and bottom.
void mark_asker(Ui& ui, Rect label, const std::string& word) {
    ui.fill(label, ui.colors->accent_fill, size::corner);
    write(ui, label, kCaptionMono, ui.colors->accent_text, word, Flush::center);
}

/// Returns the width of the covered picture.
float covered_width(float room, const learn::PageQuestion& question) {
    constexpr float kWidestColumn = 120;
    const size_t columns = question.columns.size();
    return columns == 0 || columns > kMaxColumns ? room : std::min(room, kWidestColumn * float(columns));
}

/// Draws the empty columns of the picture, and their labels; returns the bottom.
float draw_empty_columns(Ui& ui, Rect r, const learn::PageQuestion& question) {
    const std::vector<std::string>& columns = question.columns;
    if (columns.empty() || columns.size() > kMaxColumns) {
        dashed_frame(ui, {r.x, r.y, r.w, kCoverHigh});
        return r.y + kCoverHigh;
    }
    const float step = covered_width(r.w, question) / float(columns.size()),
                top = r.y + learn::column_labels_height(ui, columns, step);
    learn::draw_column_labels(ui, r.x, top, step, columns);
    constexpr float kLevelLabels = 24;  // slanted ones are higher
    if (question.asker >= 0 && question.asker < isize(columns) && top - r.y <= kLevelLabels)
        mark_asker(ui, {r.x + step * float(question.asker) + 2, top - 22, step - 4, 20},
                   columns[question.asker]);
    for (int i = 0; i < isize(columns); ++i)
        dashed_frame(ui, {r.x + step * float(i) + 1, top, std::max(1.0f, step - 2), kCoverHigh});
    return top + kCoverHigh;
}

/// Draws the link at the question's right end; returns its room.
float draw_question_link(Scene& s, Rect line, bool covered, bool stale) {
    Ui& ui = s.ui;
    if (!covered && !stale) return 0;
    const std::string label = covered ? "Show me without a guess" : "Ask me again";
    if (ui.link(covered ? "learn/show" : "learn/ask", line.right(), line.middle_y(), label)) {
        s.leave_text();
        s.send(covered ? "learn show" : "learn ask", covered ? "" : "1");
    }
    return ui.text.width(kBody, label) + gap::wide;
}

}  // namespace

float draw_question(Scene& s, float x, float y, float width, const std::string& station,
                    const learn::Page& page, int number) {
    Ui& ui = s.ui;
    const learn::PageQuestion& question = page.questions[number];
    const Guess* guess = guess_at(s.of<LearnState>(), question_name(station, number), question);
    const bool covered = asked(s.session, station, page, number) == Asked::covered;
    const std::string count = isize(page.questions) > 1 ? "Question " + std::to_string(number + 1) + " of " +
                                                              std::to_string(page.questions.size())
                                                        : "Guess first";
    caption(ui, {x, y, width, size::line}, count);
    y += size::line + gap::close;
    const float link = draw_question_link(s, {x, y, width, size::chip}, covered, number == 0 && !guess);
    y += ui.text.draw_wrapped(x, y, width - link, kTitle, ui.colors->t1, question.text) + gap::medium;
    return draw_cards(s, {x, y, width, 0}, question, guess, covered);
}

float draw_cover(Scene& s, float x, float y, float width, const learn::PageQuestion& question) {
    Ui& ui = s.ui;
    caption(ui, {x, y, width, size::line}, "What you will see");
    y += size::line + gap::tight;
    y += ui.text.draw_wrapped(x, y, width, kBody, ui.colors->t2, question.will_see) + gap::wide;
    const float bottom = draw_empty_columns(ui, {x, y, width, 0}, question),
                middle = std::max(covered_width(width, question), kBoxWide) / 2;
    const Rect box{x + middle - kBoxWide / 2, bottom - kCoverHigh / 2 - 36, std::min(kBoxWide, width), 72};
    ui.fill(box, ui.colors->bg2, kCardCorner);
    ui.frame(box, ui.colors->l2, 1, kCardCorner);
    write(ui, {box.x, box.y + 12, box.w, 24}, kBody, ui.colors->t1, "Covered until you answer",
          Flush::center);
    write(ui, {box.x, box.y + 38, box.w, 20}, kCaption, ui.colors->t2,
          (s.fields.typed() ? "click a card, or press Esc and 1 to " : "click a card, or press 1 to ") +
              std::to_string(question.cards.size()),
          Flush::center);
    ui.name("learn/cover", box);
    y = bottom + gap::large;
    write(ui, {x, y, width, size::line}, kCaption, ui.colors->t3,
          "The finding and the rest of the station open with the answer.");
    return y + size::line;
}

namespace {

constexpr float kFootButton = 112;

}  // namespace

float draw_second_offer(Scene& s, float x, float y, float width, const std::string& station,
                        const learn::Page& page) {
    Ui& ui = s.ui;
    if (isize(page.questions) < 2 || asked(s.session, station, page, 1) != Asked::not_asked) return y;
    y += gap::section;
    ui.hairline(x, y, x + width, y);
    Rect row{x, y + gap::medium, width, size::button};
    if (ui.button("learn/ask second", take_right(row, kFootButton, gap::large), "Ask me")) {
        s.leave_text();
        s.send("learn ask", "2");
    }
    const std::string count = "Question 2 of " + std::to_string(page.questions.size());
    write(ui, take_left(row, ui.text.width(kCaption, count), gap::wide), kCaption, ui.colors->t3, count);
    const float high =
        ui.text.draw_wrapped(row.x, row.y + gap::close, row.w, kBody, ui.colors->t1, page.questions[1].text);
    return row.y + std::max(row.h, high + gap::close);
}

float draw_foot(Scene& s, float x, float y, float width) {
    Ui& ui = s.ui;
    const LearnState& state = s.of<LearnState>();
    ui.hairline(x, y, x + width, y);
    Rect row{x, y + gap::medium, width, size::button};
    const auto stations = learn::stations();
    const auto go = [&](const char* command) {
        s.leave_text();  // the keys answer there
        s.send(command);
    };
    const bool first = state.station == stations.front().key, last = state.station == stations.back().key;
    const std::string onward = first ? "Next station ›" : "Next ›";  // the first has steps of its own
    const float wide = std::max(kFootButton, ui.text.width(kBody, onward) + 2 * gap::large);
    const Rect next = take_right(row, wide, gap::medium), back = take_right(row, kFootButton, gap::wide);
    const Ui::Look look = first ? Ui::Look::normal : Ui::Look::primary;
    if (!last && ui.button("learn/next", next, onward, look)) go("next station");
    if (!first && ui.button("learn/previous", last ? next : back, "‹ Back")) go("previous station");
    return row.bottom();
}

float draw_guesses(Scene& s, float x, float y, float width) {
    Ui& ui = s.ui;
    const GuessCount count = counted_guesses(s.session.preferences.guesses);
    const bool any = count.all > 0;
    caption(ui, {x, y, width, size::line}, any ? "Your guesses" : "Guess first");
    y += size::line + gap::tight;
    const std::string words =
        any ? std::to_string(count.right) + " of " + std::to_string(count.all) + " right on this path"
            : "Say what you expect, then look. The picture stays covered until you answer.";
    y += ui.text.draw_wrapped(x, y, width, kBody, any ? ui.colors->t1 : ui.colors->t2, words) + gap::small;
    ui.name("learn/guesses", {x, y - size::line, width, size::line});
    if (any) {
        ui.bar({x, y, width, size::bar}, float(count.right) / float(count.all), ui.colors->accent);
        y += size::bar + gap::small;
    }
    const bool over = any || !s.session.preferences.learned.empty();
    Rect line{x, y, width, size::line};
    Toolbar links(ui, line);
    const bool on = s.session.preferences.guess_first;
    if (links.link("learn/guessing", on ? "Do not cover pages" : "Cover pages again"))
        s.send("learn guessing", on ? "off" : "on");
    if (over && links.link("learn/over", "Start over")) s.send("learn start over");
    return line.bottom();
}

}  // namespace headlight

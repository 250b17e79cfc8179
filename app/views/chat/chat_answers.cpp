// Draws what masks change in the answer: the tokens before and now, and the first that differs.
#include <algorithm>

#include "base/cast.h"
#include "views/chat/chat.h"

namespace headlight {

namespace {

constexpr float kHeading = 52, kLabel = 132, kCard = 116, kCardHigh = 56, kCardApart = 8, kAfter = 84;

int cards_in_line(float room) { return std::max(1, int(room / (kCard + kCardApart))); }

/// Returns which tokens to show: up to the first that differs, and some after it.
int first_card(const OwnAnswer& own, int in_line) {
    return own.differs < 0 ? 0 : std::max(0, own.differs - std::max(0, in_line - 3));
}

void draw_card(Ui& ui, Rect r, const std::string& label, float p, bool on) {
    ui.fill(r, on ? ui.colors->accent_fill : ui.colors->bg2, size::corner);
    if (on) ui.frame(r, ui.colors->accent, 1, size::corner);
    Rect inside = inset(r, gap::small, gap::small);
    Rect line = take_top(inside, size::line);
    write(ui, take_right(line, 54), kCaptionMono, on ? ui.colors->accent_text : ui.colors->t2, percent(p),
          Flush::right);
    write(ui, line, kBodyMono, on ? ui.colors->accent_text : ui.colors->t1, label);
    ui.bar(band(take_bottom(inside, size::bar), size::bar), p, on ? ui.colors->accent : ui.colors->t3);
}

void draw_cards(Scene& s, Rect line, const char* title, const std::vector<GeneratedToken>& tokens,
                const std::vector<std::string>& labels, const OwnAnswer& own) {
    Ui& ui = s.ui;
    write(ui, take_left(line, kLabel), kBody, ui.colors->t1, title);
    const int in_line = cards_in_line(line.w), first = first_card(own, in_line);
    for (int i = first; i < std::min(isize(tokens), first + in_line); ++i)
        draw_card(ui, take_left(line, kCard, kCardApart), labels[size_t(i)], tokens[size_t(i)].probability,
                  own.differs >= 0 && i >= own.differs);
}

/// "red   78.4 % → 0.2 %": both tokens that are written where the answers part.
void draw_there(Scene& s, Rect area, const OwnAnswer& own) {
    Ui& ui = s.ui;
    Rect rest = area;
    std::string before;
    for (int i = std::max(0, own.differs - 4); i < own.differs; ++i) before += " " + own.labels[size_t(i)];
    caption(ui, take_top(rest, size::line, gap::small),
            before.empty() ? "The first token" : "After “" + before.substr(1) + "”");
    Rect line = take_top(rest, size::row);
    for (const TokenBeforeAndNow& token : own.there) {
        const std::string was = percent(token.before) + "  →  ", now = percent(token.now);
        take_left(line, write(ui, line, kBodyMono, ui.colors->t1, token.label), gap::large);
        take_left(line, write(ui, line, kBodyMono, ui.colors->t2, was));
        take_left(line, write(ui, line, kBodyMono, ui.colors->accent_text, now), gap::section);
    }
}

}  // namespace

std::optional<OwnAnswerRequest> own_answer_request(const Scene& s) {
    const SentenceResult* shown = s.sentence();
    if (!shown || !shown->complete || !shown->unchanged || !shown->written ||
        shown->step < shown->written->steps())
        return std::nullopt;
    return OwnAnswerRequest{shown->written->request, shown->written->given};
}

float draw_own_answer(Scene& s, Rect area, bool draw) {
    const auto asked = own_answer_request(s);
    if (!asked) return 0;
    const OwnAnswer own = measured(s, *asked);
    if (own.labels.empty()) return 0;
    const bool parts = own.differs >= 0;
    const float height =
        kHeading + 2 * (kCardHigh + gap::medium) + (parts && !own.there.empty() ? kAfter : 0) + gap::wide;
    if (!draw) return height;
    Ui& ui = s.ui;
    Rect rest = inset(area, gap::large, 0);
    Rect heading = take_top(rest, kHeading);
    const float wide = write(ui, heading, kBody, ui.colors->t1, "What the interventions change");
    ui.name("chat/changes", {heading.x, heading.y, wide, heading.h});
    write(ui, heading, kCaption, ui.colors->t3,
          parts ? "p of each token where it was chosen" : "The answer is the same; p of each token",
          Flush::right);
    const WrittenText& written = *s.sentence()->written;
    draw_cards(s, take_top(rest, kCardHigh, gap::medium), "before", own.generation.tokens, own.labels, own);
    draw_cards(s, take_top(rest, kCardHigh, gap::medium), "now", written.generation.tokens, written.labels,
               own);
    if (parts && !own.there.empty()) draw_there(s, take_top(rest, kAfter), own);
    return height;
}

}  // namespace headlight

// Draws a slide: its title, the sentence with what it predicts, and room for the view.
#include "paint/chip.h"
#include "paint/layout.h"
#include "panels/panels.h"
#include "panels/present.h"
#include "parts/controls.h"
#include "views/page.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kPresentHead = 56, kHintLine = 36, kSentenceLine = 40;

/// "red 16 → ball 10", and its weight in amber.
void draw_pointed(Scene& s, Rect line) {
    Ui& ui = s.ui;
    const auto cell = s.shown_cell();
    if (!cell || !s.answer->picture) return;
    const std::string weight = s.weight_text(cell->first, cell->second);
    const float wide = write(ui, line, kTitleMono, ui.colors->accent_text, weight, Flush::right);
    take_right(line, wide, gap::wide);
    write(ui, line, kTitleMono, ui.colors->t1,
          token_at(s.query_labels(), cell->first) + " → " + token_at(s.key_labels(), cell->second),
          Flush::right);
    ui.name("present/value", line);
}

std::string slide_title(const Scene& s, const View& view) {
    const auto& slides = s.session.document.slides;
    const auto& known = s.of<SlideStrip>().known;
    const int at = s.session.slide;
    if (at >= 0 && at < isize(slides) && at < isize(known) && known[size_t(at)].slide == slides[size_t(at)])
        return known[size_t(at)].card.title;
    return view.fills_window() ? "" : view_title(s, view);
}

/// "→ ball 98.9 %", at the right.
void draw_predicted(Scene& s, Rect& line) {
    Ui& ui = s.ui;
    const PredictedTokens* p = shown_predictions(s);
    if (!p || p->tokens.empty()) return;
    const NextToken& next = p->tokens.front();
    const std::string share = percent(next.probability), word = "→ " + next.label;
    const float wide = ui.text.width(kTitleMono, word) + gap::small + ui.text.width(kTitleMono, share);
    Rect at = take_right(line, wide, gap::large);
    ui.name("present/next", at);
    take_left(at, write(ui, at, kTitleMono, ui.colors->t1, word), gap::small);
    write(ui, at, kTitleMono, ui.colors->accent_text, share);
}

Chip slide_chip(const Scene& s, int stack, int i, Font font) {
    const auto cell = s.shown_cell();
    const AttentionBlock block = s.model()->config.block(s.block());
    const bool query = cell && block.stack == stack && cell->first == i,
               key = cell && block.key_stack == stack && cell->second == i;
    Chip chip = token_chip(s.ui, s.sentence()->labels[size_t(stack)][size_t(i)],
                           query ? ChipRole::query
                           : key ? ChipRole::key
                                 : ChipRole::token);
    chip.font = font;
    return chip;
}

float width_of_tokens(const Scene& s, Font font) {
    float out = 0;
    for (int stack = 0; stack < isize(s.sentence()->labels); ++stack)
        for (int i = 0; i < isize(s.sentence()->labels[size_t(stack)]); ++i)
            out += chip_width(s.ui, slide_chip(s, stack, i, font)) + gap::tight;
    return out + gap::large * float(s.sentence()->labels.size() - 1);
}

/// Draws the tokens; of a long text its end, which the model continues. The query and key of the cell are
/// marked.
void draw_sentence(Scene& s, Rect line) {
    constexpr float kBefore = 20;
    Ui& ui = s.ui;
    const Font font = width_of_tokens(s, kBodyMono) <= line.w ? kBodyMono : kCaptionMono;
    float hidden = width_of_tokens(s, font) - line.w;
    if (hidden > 0) {
        write(ui, take_left(line, kBefore), kBodyMono, ui.colors->t3, "…");
        hidden += kBefore;
    }
    for (int stack = 0; stack < isize(s.sentence()->labels); ++stack) {
        for (int i = 0; i < isize(s.sentence()->labels[size_t(stack)]); ++i) {
            const Chip chip = slide_chip(s, stack, i, font);
            const float wide = chip_width(ui, chip);
            if (hidden > 0)
                hidden -= wide + gap::tight;
            else
                draw_chip(ui, band(take_left(line, wide, gap::tight), size::chip), chip);
        }
        if (hidden <= 0) take_left(line, gap::large);
    }
}

/// Draws the slide's number, and the keys.
void draw_hint(Scene& s, Rect line) {
    Ui& ui = s.ui;
    const Session& session = s.session;
    const auto count = session.document.slides.size();
    const std::string slides =
        count == 0          ? "Shift+F5 adds a view as a slide"
        : session.slide < 0 ? std::to_string(count) + (count == 1 ? " slide" : " slides") + ", → begins"
                            : "Slide " + std::to_string(session.slide + 1) + " of " + std::to_string(count) +
                                  (session.revealed < kReveals ? ", Space reveals" : ", ← → move");
    write(ui, line, kCaption, ui.colors->t2, slides);
    if (ui.link("present/leave", line.right(), line.middle_y(), "Esc exits")) s.send("present");
}

}  // namespace

std::optional<Rect> draw_slide(Scene& s, Rect area, const View& view, int revealed) {
    Ui& ui = s.ui;
    ui.name("slide", area);
    Rect head = inset(take_top(area, kPresentHead), size::center_pad, 0);
    take_left(head, write(ui, head, kTitle, ui.colors->t1, slide_title(s, view)), gap::wide);
    if (view.shows == View::Shows::head && revealed > 0) draw_pointed(s, head);
    if (!view.fills_window() && !s.model()->config.can.read_image) {
        Rect line = inset(take_top(area, kSentenceLine, gap::small), size::center_pad, 0);
        if (revealed > 1) draw_predicted(s, line);
        draw_sentence(s, line);
    }
    if (revealed > 0) return area;
    write(ui, {area.x, area.middle_y() - kHintLine / 2, area.w, kHintLine}, kBody, ui.colors->t3,
          "Space reveals", Flush::center);
    return std::nullopt;
}

Drawing draw_slide_page(ViewPage page) {
    constexpr float kWide = 1280, kHigh = 720;
    page.width = kWide;
    page.height = kHigh;
    page.zoom = 1;
    return draw_page_by(std::move(page), [](Scene& s, const ViewPage& of, Canvas& canvas) {
        note_cards(s);
        Rect area{0, 0, kWide, kHigh};
        const Rect foot = inset(take_bottom(area, kHintLine), size::center_pad, 0);
        write(s.ui, foot, kCaption, s.ui.colors->t3,
              std::to_string(s.session.slide + 1) + " of " + std::to_string(s.session.document.slides.size()),
              Flush::right);
        if (const auto rest = draw_slide(s, area, views()[of.view], kReveals))
            draw_view_in(s, of, canvas, *rest);
    });
}

std::optional<Rect> draw_presentation(Scene& s, Rect window, const View& view) {
    if (s.session.blank) {
        s.ui.name("present/blank", window);
        s.ui.fill(window, IM_COL32_BLACK);
        return std::nullopt;
    }
    note_cards(s);
    draw_hint(s, inset(take_bottom(window, kHintLine), size::center_pad, 0));
    return draw_slide(s, window, view, s.session.revealed);
}

}  // namespace headlight

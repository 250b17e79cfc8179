// Draws the slides in a strip, to arrange them, beside the one that is shown.
#include <array>
#include <cmath>

#include "paint/layout.h"
#include "panels/panels.h"
#include "panels/present.h"
#include "parts/controls.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kStripWide = 264, kStripNarrow = 160, kNarrowSlides = 1180, kHighSlides = 760,
                kStripHead = 56, kStripPad = 16, kSlideNumber = 20, kTitleUnder = 28, kBetweenSlides = 22,
                kEditor = 104, kNoteLine = 44, kSlideHints = 36;

struct StripPlan {
    Rect area;
    float wide, high, pitch;  // of a thumbnail

    Rect thumb(int i, float scroll) const {
        return {area.x + kStripPad + kSlideNumber, area.y + kStripPad + pitch * float(i) - scroll, wide,
                high};
    }
};

StripPlan plan_strip(Rect area) {
    const float wide = area.w - 2 * kStripPad - kSlideNumber - 4,
                high = std::round(wide * kThumbHigh / kThumbWide);
    return {area, wide, high, high + kTitleUnder + kBetweenSlides};
}

/// Draws the picture of a slide; lines in place of one until it was shown once.
void draw_thumb(Scene& s, Rect r, const SlideCard& card, bool on) {
    Ui& ui = s.ui;
    ui.fill(r, ui.colors->bg0, size::corner);
    const auto picture = s.pictures.slides.find(card.picture);
    if (picture != s.pictures.slides.end()) {
        ui.picture(inset(r, 1, 1), picture->second.id(), 0, 0, nullptr);
    } else {
        Rect rest = inset(r, gap::medium, gap::medium);
        Rect line = take_top(rest, 6, gap::small);
        ui.fill(take_left(line, r.w * 0.4f), ui.colors->bg4, 2);
        line = take_top(rest, 5, gap::medium);
        for (int i = 0; i < 7; ++i) ui.fill(take_left(line, r.w * 0.08f, gap::tight), ui.colors->bg3, 2);
        ui.fill({rest.x, rest.y, std::min(rest.w, rest.h), rest.h}, ui.colors->bg2, 2);
    }
    ui.frame(r, on ? ui.colors->accent : ui.colors->l2, on ? 2.0f : 1.0f, size::corner);
}

/// The place to which the dragged slide would move.
int dropped_at(const Scene& s, const StripPlan& plan) {
    const auto& strip = s.of<SlideStrip>();
    const float y = s.ui.mouse.y - plan.thumb(0, strip.scroll).y;
    return between(int_of(double(y / plan.pitch)), 0, isize(s.session.document.slides) - 1);
}

/// A click shows the slide; a drag moves it when the button is released.
void answer_slide(Scene& s, const StripPlan& plan, int i, Rect r) {
    constexpr float kBegins = 6;
    auto& strip = s.of<SlideStrip>();
    const Hit h = s.ui.control("slides/" + std::to_string(i), r);
    const bool moved = std::abs(ImGui::GetMouseDragDelta(0, kBegins).y) > 0;
    if (h.pressed && moved) strip.dragged = i;
    if (strip.dragged == i && !ImGui::IsMouseDown(0)) {
        strip.dragged.reset();
        const int to = dropped_at(s, plan);
        if (to != i) s.send("slide move", std::to_string(i + 1) + " " + std::to_string(to + 1));
    } else if (h.clicked && i != s.session.slide) {
        s.send("slide go", std::to_string(i + 1));
    }
}

void draw_card(Scene& s, const StripPlan& plan, int i) {
    Ui& ui = s.ui;
    auto& strip = s.of<SlideStrip>();
    Rect r = plan.thumb(i, strip.scroll);
    const bool on = i == s.session.slide;
    if (strip.dragged == i) r.y = ui.mouse.y - r.h / 2;
    const SlideCard& card = strip.known[size_t(i)].card;
    const ImU32 ink = on ? ui.colors->accent_text : ui.colors->t2;
    write(ui, {plan.area.x + kStripPad - gap::tight, r.y, kSlideNumber, size::line}, kCaptionMono, ink,
          std::to_string(i + 1));
    draw_thumb(s, r, card, on);
    write(ui, {r.x, r.bottom(), r.w, kTitleUnder}, kCaption, ink, card.title);
    answer_slide(s, plan, i, plan.thumb(i, strip.scroll));
}

void draw_strip(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const int count = isize(s.session.document.slides);
    ui.hairline(area.right(), area.y, area.right(), area.bottom());
    if (count == 0) {
        const Rect button{area.x + kStripPad, area.y + kStripPad, area.w - 2 * kStripPad, size::button};
        if (ui.button("slides/add", button, "Add this view", Ui::Look::primary)) s.send("slide add");
        return;
    }
    auto& strip = s.of<SlideStrip>();
    const StripPlan plan = plan_strip(area);
    const float content = 2 * kStripPad + plan.pitch * float(count);
    if (strip.seen != s.session.slide) {
        strip.seen = s.session.slide;
        const float top = plan.pitch * float(std::max(0, strip.seen));
        strip.scroll = scrolled_to(strip.scroll, top, top + plan.pitch + kStripPad, area.h);
    }
    strip.scroll = scrolled(ui, area, content, strip.scroll, plan.pitch / 2);
    ui.scroll_area(area);
    for (int i = 0; i < count; ++i)
        if (i != strip.dragged) draw_card(s, plan, i);
    if (strip.dragged) {
        const float y = plan.thumb(dropped_at(s, plan), strip.scroll).y - kBetweenSlides / 2;
        ui.fill({area.x + kStripPad, y, area.w - 2 * kStripPad, 2}, ui.colors->accent);
        draw_card(s, plan, *strip.dragged);
    }
    ui.end_scroll_area();
}

void draw_slides_head(Scene& s, Rect line) {
    constexpr float kButton = 128, kChevron = 24;
    Ui& ui = s.ui;
    ui.hairline(line.x, line.bottom(), line.right(), line.bottom());
    line = inset(line, kStripPad, 0);
    const auto count = s.session.document.slides.size();
    const float title = ui.text.width(kTitle, "Slides");
    const Rect back = take_left(line, kChevron + title, gap::large);
    const Hit h = ui.control("slides/back", back);
    const ImU32 ink = h.hovered ? ui.colors->accent_text : ui.colors->t1;
    const float x = back.x + 3, y = back.middle_y();
    ui.polyline(std::array<ImVec2, 3>{{{x + 5, y - 5}, {x, y}, {x + 5, y + 5}}}, ink, 1.5f);
    ui.text.draw(back.x + kChevron, y, kTitle, ink, "Slides");
    if (h.clicked) s.send("slides");
    if (ui.button("slides/present", band(take_right(line, kButton, gap::medium), size::button), "Present",
                  Ui::Look::primary))
        s.send("present");
    write(ui, take_right(line, ui.text.width(kCaption, "F5"), gap::large), kCaption, ui.colors->t3, "F5");
    if (count > 0) {
        const bool saves = !s.of<SlidesPdf>().path.empty();
        if (ui.button("slides/pdf", band(take_right(line, kButton, gap::medium), size::button),
                      saves ? "Saving…" : "Save as PDF", saves ? Ui::Look::off : Ui::Look::normal) &&
            !saves)
            s.send("slide save");
        if (ui.button("slides/save", band(take_right(line, kButton, gap::medium), size::button), "Save…"))
            s.send("save workspace");
        if (ui.button("slides/add", band(take_right(line, kButton, gap::large), size::button),
                      "Add this view"))
            s.send("slide add");
        caption(ui, line,
                std::to_string(count) + (count == 1 ? " slide" : " slides") + ", saved in the workspace");
    }
}

/// A text that is edited in place, in lines that fit its box.
std::optional<std::string> edit_line(Ui& ui, const char* path, Rect field, const std::string& value,
                                     const char* hint) {
    const Ui::Entry entry = ui.entry(path, field, value);
    if (entry.open) return entry.typed;
    ui.fill(field, ui.colors->bg2, size::corner);
    ui.frame(field, ui.colors->l2, 1, size::corner);
    const Rect inside = inset(field, gap::small, 2);
    const std::string& text = value.empty() ? hint : value;
    const ImU32 ink = value.empty() ? ui.colors->t3 : ui.colors->t1;
    if (ui.text.width(kBody, text) <= inside.w || field.h < kNoteLine) {
        write(ui, inside, kBody, ink, text);
    } else {
        ui.clip(field);
        ui.text.draw_wrapped(inside.x, inside.y, inside.w, kCaption, ink, text);
        ui.unclip();
    }
    return entry.typed;
}

/// Draws title and note, how the slide is revealed, and its place among the others.
void draw_slide_editor(Scene& s, Rect area, int at) {
    constexpr float kNames = 64, kField = 420, kSmall = 88;
    Ui& ui = s.ui;
    const SlideCard& card = s.of<SlideStrip>().known[size_t(at)].card;
    ui.hairline(area.x, area.y, area.right(), area.y);
    Rect rest = inset(area, size::center_pad, gap::medium);
    Rect first = take_top(rest, size::button, gap::medium),
         note = take_top(rest, rest.h - size::button - gap::medium, gap::medium),
         second = take_top(rest, size::button);
    caption(ui, take_left(first, kNames), "Title");
    const Rect field = take_left(first, std::min(kField, first.w), gap::wide);
    const auto title = edit_line(ui, "slides/title", field, card.title, "");
    if (title && !title->empty()) s.send("slide title", *title);
    caption(ui, first, "Only you see the note, here.");
    caption(ui, take_left(note, kNames), "Note");
    if (const auto typed = edit_line(ui, "slides/note", note, card.note, "What to say"))
        s.send("slide note", *typed);
    caption(ui, take_left(second, kNames), "Reveal");
    const Ui::Segments ways{{"all at once", "step by step"}, {}, card.by_steps ? 1 : 0};
    const float wide = ui.segments_width(ways.labels);
    if (const int way = ui.segments("slides/steps", second.x, second.middle_y(), ways); way >= 0)
        s.send("slide steps", way ? "on" : "off");
    take_left(second, wide, gap::wide);
    const int count = isize(s.session.document.slides);
    const std::string from = std::to_string(at + 1);
    const auto button = [&](const char* path, const char* label, bool can) {
        return ui.button(path, take_left(second, kSmall, gap::small), label,
                         can ? Ui::Look::normal : Ui::Look::off) &&
               can;
    };
    if (button("slides/earlier", "Earlier", at > 0)) s.send("slide move", from + " " + std::to_string(at));
    if (button("slides/later", "Later", at + 1 < count))
        s.send("slide move", from + " " + std::to_string(at + 2));
    if (button("slides/delete", "Delete", true)) s.send("slide remove");
}

void draw_slides_foot(Scene& s, Rect line, int at) {
    Ui& ui = s.ui;
    ui.hairline(line.x, line.y, line.right(), line.y);
    line = inset(line, size::center_pad, 0);
    const auto count = s.session.document.slides.size();
    if (at >= 0) caption(ui, line, std::to_string(at + 1) + " of " + std::to_string(count), Flush::right);
    const std::string notice = shown_notice(s);
    caption(ui, line,
            !notice.empty() ? notice
            : count == 0    ? "A slide keeps the view, the text and all that is chosen."
                         : "← → slides   Drag to reorder   Presenting: Space reveals, B blanks, Esc leaves");
}

}  // namespace

void note_cards(Scene& s) {
    const auto& slides = s.session.document.slides;
    auto& known = s.of<SlideStrip>().known;
    known.resize(slides.size());
    for (size_t i = 0; i < slides.size(); ++i)
        if (known[i].slide != slides[i]) known[i] = {slides[i], card_of(slides[i])};
}

std::optional<Rect> draw_slides(Scene& s, Rect window, const View& view) {
    note_cards(s);
    const bool narrow = window.w < kNarrowSlides;
    const int count = isize(s.session.document.slides),
              at = s.session.slide < count ? s.session.slide : count - 1;
    draw_slides_head(s, take_top(window, kStripHead));
    draw_strip(s, take_left(window, narrow ? kStripNarrow : kStripWide, 1));
    draw_slides_foot(s, take_bottom(window, kSlideHints), at);
    const float note = window.h >= kHighSlides ? kNoteLine : size::button;
    if (at >= 0) draw_slide_editor(s, take_bottom(window, kEditor + note + gap::medium), at);
    const Rect frame = inset(window, narrow ? gap::large : gap::section, gap::wide);
    s.ui.frame(frame, s.ui.colors->l1, 1, size::corner);
    return draw_slide(s, inset(frame, 2, 2), view, kReveals);
}

}  // namespace headlight

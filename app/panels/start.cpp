// Fills the center while there is no sentence.
#include "base/cast.h"
#include "paint/layout.h"
#include "panels/panels.h"
#include "session/examples.h"
#include "session/samples.h"
#include "views/doors.h"
#include "views/views.h"

namespace headlight {

namespace {

/// Draws a sentence and what it shows; returns whether it was clicked.
bool draw_choice(Scene& s, const std::string& path, Rect r, const std::string& text, const std::string& why) {
    constexpr float kAbove = 6;
    Ui& ui = s.ui;
    const Hit h = ui.control(path, r);
    ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    if (h.hovered) ui.frame(r, ui.colors->l2, 1, size::corner);
    const Rect inside = inset(r, gap::large, why.empty() ? 0 : kAbove);
    const int lines = why.empty() ? 1 : 2;
    write(ui, nth_row(inside, 0, lines), kBody, ui.colors->t1, text);
    if (lines == 2) caption(ui, nth_row(inside, 1, lines), why);
    return h.clicked;
}

/// Draws an image and its name; a click opens it.
void draw_sample_picture(Scene& s, Rect column, int i, const SamplePicture& sample) {
    Ui& ui = s.ui;
    const std::string path = "picture/" + std::to_string(i);
    const Rect r = take_top(column, column.w + size::row);
    const Hit h = ui.control(path, r);
    ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    Rect inside = inset(r, gap::tight, gap::tight);
    const Rect photo = take_top(inside, inside.w);
    if (const auto& image = s.pictures.samples[i].image)
        ui.picture(photo, s.pictures.samples[i].texture.id(), image->width, image->height, image->rgb.data());
    if (h.hovered) ui.frame(r, ui.colors->l2, 1, size::corner);
    write(ui, inside, kCaption, ui.colors->t1, sample.title, Flush::center);
    if (h.clicked) s.send("text", sample.path);
}

/// Explains what to do while a vision model has no image.
void draw_start_picture(Scene& s, Rect area) {
    constexpr float kWide = 560, kHigh = 150, kTop = 80, kLine = 32, kAbove = 36, kSample = 168;
    Ui& ui = s.ui;
    Rect rest = inset(area, std::max(size::center_pad, (area.w - kWide) / 2), 0);
    take_top(rest, kTop);
    const Rect r = take_top(rest, kHigh, gap::large);
    ui.frame(r, ui.colors->l2, 1, size::popup_corner);
    Rect inside = inset(r, gap::large, kAbove);
    write(ui, take_top(inside, kLine), kTitle, ui.colors->t1, "Drop an image here", Flush::center);
    write(ui, take_top(inside, kLine), kBody, ui.colors->t2, "or type its path above (PNG or JPEG).",
          Flush::center);
    ui.name("start picture", r);
    if (!s.answer->text_error.empty())
        take_top(
            rest,
            ui.text.draw_wrapped(rest.x, rest.y, rest.w, kBody, ui.colors->warning, s.answer->text_error),
            gap::large);
    write(ui, take_top(rest, kLine), kBody, ui.colors->t1, "Sample images");
    const auto samples = sample_pictures();
    for (int i = 0; i < isize(samples); ++i)
        draw_sample_picture(s, take_left(rest, kSample, gap::large), i, samples[i]);
}

/// Draws as many example sentences as fit; returns the rest of the area.
Rect draw_samples(Scene& s, Rect rest) {
    constexpr float kHigh = 56, kHeading = 26, kUnder = 13, kRecent = 40;
    write(s.ui, take_top(rest, kHeading, kUnder), kBody, s.ui.colors->t1, "Example sentences");
    const auto offered = s.model() ? examples_for(*s.model()) : std::vector<Example>{};
    for (int i = 0; i < isize(offered) && rest.h >= kHigh + kRecent; ++i) {
        const Rect place = take_top(rest, kHigh, gap::small);
        const std::string number = std::to_string(i);
        if (draw_choice(s, "sample/" + number, place, offered[i].text, offered[i].why))
            s.send("example", number);
    }
    return rest;
}

void draw_recent(Scene& s, Rect rest) {
    constexpr float kHigh = 36, kHeading = 36;
    Ui& ui = s.ui;
    const auto& recent = s.session.preferences.recent_texts;
    Rect line = take_top(rest, kHeading);
    take_left(line, write(ui, line, kCaption, ui.colors->t3, "Recent"), gap::large);
    if (recent.empty()) write(ui, line, kCaption, ui.colors->t2, "none yet");
    for (size_t i = 0; i < recent.size() && rest.h > kHigh; ++i)
        if (draw_choice(s, "recent/" + std::to_string(i), take_top(rest, kHigh, gap::close), recent[i], ""))
            s.send("text", recent[i]);
}

}  // namespace

void draw_first_opening(Scene& s, Rect area) {
    constexpr float kWide = 560, kTop = 41, kTitleLine = 32, kRow = 30, kNumber = 24;
    Ui& ui = s.ui;
    Rect rest = inset(area, std::max(size::center_pad, (area.w - kWide) / 2), kTop);
    write(ui, take_top(rest, kTitleLine), kTitle, ui.colors->t1, "Opening " + s.opening->name + "…");
    write(ui, take_top(rest, kRow, gap::large), kBody, ui.colors->accent_text,
          std::string(s.opening->progress.step.load()) + "…");
    ui.name("opening/first", rest);
    ui.hairline(rest.x, rest.y, rest.right(), rest.y);
    take_top(rest, gap::medium);
    caption(ui, take_top(rest, kRow), "Then ask, of any sentence:");
    int digit = 1;
    for (const GroupRow& group : view_groups()) {
        if (rest.h < kRow) return;
        Rect line = take_top(rest, kRow);
        write(ui, take_left(line, kNumber), kCaptionMono, ui.colors->t3, std::to_string(digit++));
        write(ui, take_left(line, line.w / 4), kBody, ui.colors->t1, group.name);
        write(ui, line, kBody, ui.colors->t2, group.question);
    }
}

void draw_start_sentences(Scene& s, Rect area) {
    constexpr float kWide = 680, kMaxLeft = 192, kTop = 41;
    if (s.model() && s.model()->config.can.read_image) return draw_start_picture(s, area);
    Rect rest = area;
    take_top(rest, kTop);
    rest.w = std::min(kWide, area.w - 2 * gap::wide);
    rest.x += std::min(kMaxLeft, (area.w - rest.w) / 2);
    rest = draw_samples(s, rest);
    if (rest.h > 0) draw_recent(s, rest);
}

}  // namespace headlight

// Model, sentence, tokens, next tokens: always there, at the top.
#include <algorithm>
#include <cmath>

#include "views/chips.h"
#include "views/panels.h"
#include "views/parts.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kFieldPad = 14;

/// How many bytes of a field the model reads: all while another text is shown yet.
size_t read_of(const Scene& s, const TextField& field) {
    const SentenceResult* sentence = s.sentence();
    const bool first = sentence && &field == &s.fields.sentence && field.text() == sentence->text,
               second = sentence && &field == &s.fields.second && field.text() == sentence->second;
    return first ? sentence->bytes_read : second ? sentence->second_read : std::string::npos;
}

}  // namespace

void draw_text_field(Scene& s, TextField& field, const char* path, Rect r, const char* placeholder) {
    Ui& ui = s.ui;
    const Hit h = ui.hit(path, r);
    ui.fill(r, ui.colors->bg2, size::corner);
    ui.frame(r,
             field.focused ? ui.colors->accent
             : h.hovered   ? ui.colors->t3
                           : ui.colors->l2,
             1, size::corner);
    const Rect inner = ui.pixels(inset(r, kFieldPad, gap::tight));
    const float local = ui.pixels(h.mouse).x - inner.x;
    if (h.hovered && ImGui::IsMouseClicked(0)) s.fields.leave();
    if (h.hovered && ImGui::IsMouseDoubleClicked(0))
        field.select_word(local);
    else if (h.hovered && ImGui::IsMouseClicked(0))
        field.press(local, ImGui::GetIO().KeyShift);
    else if (h.pressed && ImGui::IsMouseDragging(0))
        field.drag(local);
    if (h.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
    field.draw(*ui.list, inner.min(), {inner.w, inner.h}, ui.scale, *ui.colors, placeholder,
               read_of(s, field));
}

namespace {

/// A dot that looks to the right: the mark of the program, before a model's name.
void draw_mark(Ui& ui, Rect at) {
    const float y = at.middle_y(), radius = 5, reach = 14;
    const float x = at.x + radius;
    ui.disc({x, y}, radius, ui.colors->accent);
    ui.polygon(std::array<ImVec2, 3>{{{x + radius + 2, y}, {x + reach, y - 6}, {x + reach, y + 6}}},
               faded(ui.colors->accent, 0.5f));
}

/// What is being done to open a model.
void draw_opening(Scene& s, Rect inside) {
    Ui& ui = s.ui;
    const Rect lines = band(inside, 2 * gap::large);
    write(ui, nth_row(lines, 0, 2), kCaption, ui.colors->t1, "opening " + s.opening->name);
    write(ui, nth_row(lines, 1, 2), kCaption, ui.colors->t3, s.opening->progress.step.load());
}

void draw_cancel(Scene& s, Rect r) {
    if (!s.ui.link("opening/cancel", r.right(), r.middle_y(), "Cancel")) return;
    const Comparison& compared = s.session.document.comparison;
    const bool of_b = s.opening->path == compared.model && s.opening->attempt == compared.attempt;
    s.send("cancel opening", of_b ? "b" : "");
}

/// The model's name; while another one is being opened, that one's, with what is being done and a way out.
void draw_model_button(Scene& s, Rect r) {
    constexpr float kCancel = 64, kMark = 20, kLeastMarked = 120;
    Ui& ui = s.ui;
    const bool opening = s.opening && s.model();
    const Rect cancel = opening ? take_right(r, kCancel) : Rect{};
    const Hit h = ui.hit("model", r);
    ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(r, s.session.shows(Sheet::models) ? ui.colors->accent : ui.colors->l2, 1, size::corner);
    if (h.clicked) s.send("open");
    if (opening) ui.name("opening", r);
    Rect inside = inset(r, gap::small, 0);
    take_left(inside, 0, gap::tight);
    if (inside.w >= kLeastMarked) draw_mark(ui, take_left(inside, kMark, gap::medium));
    if (opening) {
        draw_opening(s, inside);
        draw_cancel(s, cancel);
        return;
    }
    ui.chevron(take_right(inside, gap::large, gap::small).middle(), 4, ui.colors->t3);
    write(ui, inside, kBody, ui.colors->t1, s.model() ? s.model()->name : "opening…");
}

void draw_recorded(Scene& s, Rect r) {
    Ui& ui = s.ui;
    ui.fill(r, ui.colors->bg2, size::corner);
    ui.frame(r, ui.colors->l2, 1, size::corner);
    ui.name("recorded", r);
    write(ui, inset(r, kFieldPad, 0), kBody, ui.colors->t2,
          "Trace (read-only): open its model to edit the text. " + s.model()->name);
}

/// What is read, and what the decoder reads: written by the model, or typed.
void draw_source_and_target(Scene& s, Rect r) {
    constexpr float kArrow = 30, kGenerate = 88;
    Ui& ui = s.ui;
    const bool typed = s.sentence() && !s.sentence()->second.empty(),
               writes = s.sentence() && s.sentence()->written;
    const Rect generate = typed ? take_right(r, kGenerate, gap::small) : Rect{};
    const float half = ui.whole((r.w - kArrow) / 2);
    draw_text_field(s, s.fields.sentence, "sentence", take_left(r, half), "Type a sentence");
    write(ui, take_left(r, kArrow), kBody, ui.colors->t3, "→", Flush::center);
    draw_text_field(s, s.fields.second, "second", r, "What the decoder reads");
    if (writes)
        ui.tooltip("second", ui.hit("second/written", take_bottom(r, gap::close)),
                   "Generated by the model. Type here to force a target of your own.");
    if (typed && ui.button("write", generate, "Generate")) s.send("second", "");
}

/// One field, or two where the model reads two texts.
void draw_fields(Scene& s, Rect r) {
    const Capabilities can = s.model() ? s.model()->config.can : Capabilities{};
    if (s.sentence() && !s.sentence()->trace->has_weights()) return draw_recorded(s, r);
    if (can.write_target) return draw_source_and_target(s, r);
    if (can.read_pair) {
        const Rect first = take_left(r, s.ui.whole((r.w - gap::small) * 0.6f), gap::small);
        draw_text_field(s, s.fields.sentence, "sentence", first, "Type a sentence");
        return draw_text_field(s, s.fields.second, "second", r, "Second sentence");
    }
    draw_text_field(s, s.fields.sentence, "sentence", r,
                    can.read_image ? "Path of an image, or drop one on the window" : "Type a sentence");
}

void draw_live(Scene& s, Rect r) {
    constexpr float kDot = 9;
    Ui& ui = s.ui;
    const ImVec2 dot = take_left(r, kDot, gap::small).middle();
    if (s.dim > 0)
        ui.ring(dot, 3.5f, ui.colors->accent, 1.5f);
    else
        ui.disc(dot, 4, ui.colors->accent);
    write(ui, r, kCaption, ui.colors->t2, s.sentence() ? "live" : "ready");
    if (!s.sentence()) return;
    const double took = s.answer->sentence->milliseconds;
    write(ui, r, kCaptionMono, ui.colors->t2, decimals(took, took < 10 ? 1 : 0) + " ms", Flush::right);
}

constexpr size_t kShownNext = 3;

/// The predictions to show: of the focused position, else the first.
const PredictedTokens* shown_predictions(const Scene& s) {
    const auto& all = s.sentence()->predictions;
    if (all.empty()) return nullptr;
    const auto cell = s.shown_cell();
    const auto it = std::find_if(all.begin(), all.end(),
                                 [&](const PredictedTokens& p) { return cell && p.position == cell->first; });
    return it == all.end() ? &all[0] : &*it;
}

constexpr float kArrow = 30, kLeastNext = 84, kApart = 18, kAtPosition = 40, kHintWide = 200;

float next_width(Ui& ui, const NextToken& t) {
    return std::max(ui.text.width(kCaptionMono, t.label + percent(t.probability)) + gap::small, kLeastNext);
}

float next_room(Scene& s, size_t count) {
    const PredictedTokens* p = shown_predictions(s);
    float width = kArrow;
    for (size_t i = 0; p && i < std::min(count, p->tokens.size()); ++i)
        width += next_width(s.ui, p->tokens[i]) + kApart;
    if (s.model()->config.can.fill_masks) width += kAtPosition;
    return p ? width : kHintWide;
}

/// How many of the next tokens stand beside the sentence's, which keep some room: the likeliest leaves them
/// less than the others do.
size_t next_count(Scene& s, float room) {
    constexpr float kLeast = 110, kLeastBesideMore = 300;
    size_t count = kShownNext;
    while (count > 1 && room - next_room(s, count) < kLeastBesideMore) --count;
    return count == 1 && room - next_room(s, count) < kLeast ? 0 : count;
}

/// A token that may be next, its probability, and a bar of it.
void draw_next_token(Ui& ui, Rect r, const NextToken& t, bool top) {
    Rect line = r;
    const Rect track = take_bottom(r, 2);
    take_left(line, write(ui, line, kCaptionMono, top ? ui.colors->t1 : ui.colors->t2, t.label), gap::close);
    write(ui, line, kCaptionMono, top ? ui.colors->accent_text : ui.colors->t2, percent(t.probability));
    ui.fill(track, ui.colors->dark ? ui.colors->bg2 : ui.colors->bg3);
    ui.fill({track.x, track.y, std::max(1.0f, track.w * t.probability), track.h},
            top ? ui.colors->accent : ui.colors->t3);
}

void draw_next(Scene& s, Rect line, size_t count) {
    Ui& ui = s.ui;
    const PredictedTokens* p = shown_predictions(s);
    if (!p) {
        if (s.model()->config.can.fill_masks && s.model()->has_logits())
            caption(ui, line, "type " + s.sentence()->mask + " for a prediction");
        return;
    }
    if (s.model()->config.can.fill_masks) {
        const std::string at = "at " + std::to_string(p->position);
        caption(ui, take_left(line, ui.text.width(kCaption, at), gap::small), at);
    }
    write(ui, take_left(line, kArrow), kBody, ui.colors->t3, "→");
    for (size_t i = 0; i < std::min(count, p->tokens.size()); ++i) {
        const Rect r = band(take_left(line, next_width(ui, p->tokens[i]), kApart), size::chip);
        draw_next_token(ui, r, p->tokens[i], i == 0);
        ui.name("next/" + std::to_string(i), r);
    }
}

/// Learn and the settings, at the right end of a line; returns where they begin.
float draw_places(Scene& s, Rect line) {
    Ui& ui = s.ui;
    const float settings = ui.text.width(kCaption, "Settings"), learn = ui.text.width(kCaption, "Learn");
    if (ui.link("settings", line.right(), line.middle_y(), "Settings", s.session.shows(Sheet::settings)))
        s.send("settings");
    take_right(line, settings, gap::large);
    if (!s.sentence() || !s.sentence()->trace || !s.sentence()->trace->has_weights())
        return line.right() + gap::large;
    const bool learns = std::string_view(shown_view(s.session, *s.model()).key) == "learn";
    if (ui.link("learn", line.right(), line.middle_y(), "Learn", learns))
        s.send(learns ? "back" : "view learn");
    const Rect word = take_right(line, learn);
    if (learns) ui.fill({word.x - 2, word.middle_y() + 13, word.w + 4, 2}, ui.colors->accent);
    return word.x;
}

std::string count_text(const Scene& s) {
    if (!s.sentence()) return s.model() && s.model()->config.can.read_image ? "no image" : "0 tokens";
    const auto& labels = s.sentence()->labels;
    if (labels.size() > 1)
        return std::to_string(labels[0].size()) + " and " + counted_tokens(isize(labels[1]));
    if (s.model()->config.can.read_image) return std::to_string(labels[0].size() - 1) + " patches";
    return counted_tokens(isize(labels[0]));
}

/// The second line: the tokens, what comes next, settings.
void draw_tokens_line(Scene& s, Rect line) {
    Ui& ui = s.ui;
    take_right(line, line.right() - draw_places(s, line), gap::large);
    if (s.sentence()) {
        const bool writes = shows_written(s);  // the next tokens stand in the inspector then
        Rect tokens = line;
        const size_t count = writes ? 0 : next_count(s, line.w);
        const Rect next = count ? take_right(tokens, next_room(s, count)) : take_right(tokens, 0);
        take_right(tokens, 0, gap::medium);
        const float end = draw_tokens(s, tokens) + gap::medium;
        if (count) draw_next(s, {std::min(end, next.x), line.y, next.w, line.h}, count);
    } else if (!s.model() || !s.model()->config.can.read_image) {
        const bool failed = s.answer && !s.answer->text_error.empty();
        write(ui, line, kCaption, ui.colors->t2, failed ? s.answer->text_error : "or choose one below");
    }
}

}  // namespace

void draw_sentence_bar(Scene& s, Rect area) {
    constexpr float kLive = 164, kLeastModel = 272, kMostModel = 400, kNarrow = 592, kShareOfNarrow = 0.36f;
    const bool low = area.h < size::top_bar, narrow = area.w < kNarrow;
    s.ui.hairline(area.x, area.bottom() - 1, area.right(), area.bottom() - 1);
    Rect inside = inset(area, size::panel_pad, gap::small);
    Rect first = take_top(inside, low ? 36 : 40, low ? 10 : 14),
         second = take_top(inside, low ? size::row_low : size::chip);
    const float model =
        (narrow ? area.w * kShareOfNarrow : std::clamp(area.w * 0.2f, kLeastModel, kMostModel)) -
        2 * size::panel_pad;
    draw_model_button(s, take_left(first, model, narrow ? gap::small : size::panel_pad));
    if (!narrow) draw_live(s, take_right(first, kLive - gap::section, gap::section));
    draw_fields(s, first);
    if (area.h < size::top_bar_low) return;
    const float count = narrow ? s.ui.text.width(kCaption, count_text(s)) : model;
    write(s.ui, take_left(second, count, size::panel_pad), kCaption, s.ui.colors->t2, count_text(s));
    draw_tokens_line(s, second);
}

}  // namespace headlight

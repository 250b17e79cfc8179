// Model, sentence, tokens, next tokens: always there, at the top.
#include <algorithm>
#include <cmath>

#include "views/chips.h"
#include "views/panels.h"
#include "views/views.h"

namespace headlight {

namespace {

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
    const Rect inner = ui.pixels(Rect{r.x + 14, r.y + 4, r.w - 28, r.h - 8});
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

/// The model's name; while another one is being opened, that one's, with what is being done and a way out.
void draw_model_button(Scene& s, Rect r) {
    Ui& ui = s.ui;
    const float y = r.middle_y();
    const bool opening = s.opening && s.model();
    const Rect button = opening ? Rect{r.x, r.y, r.w - 64, r.h} : r;
    const Hit h = ui.hit("model", button);
    ui.fill(button, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(button, s.session.shows(Sheet::models) ? ui.colors->accent : ui.colors->l2, 1, size::corner);
    const float x = r.x + 18;
    ui.disc({x, y}, 5, ui.colors->accent);
    ui.polygon(std::array<ImVec2, 3>{{{x + 7, y}, {x + 14, y - 6}, {x + 14, y + 6}}},
               (ui.colors->accent & 0x00FFFFFF) | 0x80000000);
    if (h.clicked) s.send("open");
    if (opening) {
        ui.text.draw(r.x + 44, y - 8, kCaption, ui.colors->t1,
                     ui.text.fitted(kCaption, "opening " + s.opening->name, button.w - 52));
        ui.text.draw(r.x + 44, y + 8, kCaption, ui.colors->t3,
                     ui.text.fitted(kCaption, s.opening->progress.step.load(), button.w - 52));
        ui.name("opening", button);
        if (ui.link("opening/cancel", r.right(), y, "Cancel")) {
            const Comparison& compared = s.session.document.comparison;
            const bool of_b = s.opening->path == compared.model && s.opening->attempt == compared.attempt;
            s.send("cancel opening", of_b ? "b" : "");
        }
        return;
    }
    const std::string name = s.model() ? s.model()->name : "opening…";
    ui.text.draw(r.x + 44, y, kBody, ui.colors->t1, ui.text.fitted(kBody, name, r.w - 76));
    const float cx = r.right() - 16;
    const ImVec2 chevron[] = {{cx - 4, y - 2}, {cx, y + 2.5f}, {cx + 4, y - 2}};
    ui.polyline(chevron, ui.colors->t3, 1.5f);
}

/// One field, or two where the model reads two texts.
void draw_fields(Scene& s, Rect r) {
    Ui& ui = s.ui;
    const Capabilities can = s.model() ? s.model()->config.can : Capabilities{};
    const float gap = 8;
    if (s.sentence() && !s.sentence()->trace->has_weights()) {
        ui.fill(r, ui.colors->bg2, size::corner);
        ui.frame(r, ui.colors->l2, 1, size::corner);
        ui.name("recorded", r);
        ui.text.draw(
            r.x + 14, r.middle_y(), kBody, ui.colors->t2,
            ui.text.fitted(kBody, "Trace (read-only): open its model to edit the text. " + s.model()->name,
                           r.w - 28));
    } else if (can.read_pair) {
        const float first = ui.whole((r.w - gap) * 0.6f);
        draw_text_field(s, s.fields.sentence, "sentence", {r.x, r.y, first, r.h}, "Type a sentence");
        draw_text_field(s, s.fields.second, "second", {r.x + first + gap, r.y, r.w - first - gap, r.h},
                        "Second sentence");
    } else if (can.write_target) {
        const bool typed = s.sentence() && !s.sentence()->second.empty(),
                   writes = s.sentence() && s.sentence()->written;
        const float between = 30, write = typed ? 88 : 0,
                    half = ui.whole((r.w - between - (typed ? write + gap : 0)) / 2);
        draw_text_field(s, s.fields.sentence, "sentence", {r.x, r.y, half, r.h}, "Type a sentence");
        ui.text.draw_centred(r.x + half + between / 2, r.middle_y(), kBody, ui.colors->t3, "→");
        const Rect target{r.x + half + between, r.y, half, r.h};
        draw_text_field(s, s.fields.second, "second", target, "What the decoder reads");
        if (writes)
            ui.tooltip("second", ui.hit("second/written", {target.x, target.bottom() - 6, target.w, 6}),
                       "Generated by the model. Type here to force a target of your own.");
        if (typed && ui.button("write", {r.right() - write, r.y, write, r.h}, "Generate")) {
            s.send("second", "");
        }
    } else {
        draw_text_field(s, s.fields.sentence, "sentence", r,
                        can.read_image ? "Path of an image, or drop one on the window" : "Type a sentence");
    }
}

void draw_live(Scene& s, float left, float right, float y) {
    Ui& ui = s.ui;
    const bool waiting = s.dim > 0;
    const ImVec2 dot{left + 5, y};
    if (waiting)
        ui.ring(dot, 3.5f, ui.colors->accent, 1.5f);
    else
        ui.disc(dot, 4, ui.colors->accent);
    ui.text.draw(left + 17, y, kCaption, ui.colors->t2, s.sentence() ? "live" : "ready");
    if (s.sentence())
        ui.text.draw_right(
            right, y, kCaptionMono, ui.colors->t2,
            decimals(s.answer->sentence->milliseconds, s.answer->sentence->milliseconds < 10 ? 1 : 0) +
                " ms");
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

float next_width(Ui& ui, const NextToken& t) {
    return std::max(ui.text.width(kCaptionMono, t.label + percent(t.probability)) + 8, 84.0f);
}

float next_room(Scene& s, size_t count) {
    const PredictedTokens* p = shown_predictions(s);
    float width = 30;
    for (size_t i = 0; p && i < std::min(count, p->tokens.size()); ++i)
        width += next_width(s.ui, p->tokens[i]) + 18;
    if (s.model()->config.can.fill_masks) width += 40;
    return p ? width : 200;
}

/// How many of the next tokens stand beside the sentence's, which keep some room.
size_t next_count(Scene& s, float room) {
    constexpr float kLeast = 110;
    size_t count = kShownNext;
    while (count > 0 && room - next_room(s, count) < kLeast) --count;
    return count;
}

void draw_next(Scene& s, float x, float y, size_t count) {
    Ui& ui = s.ui;
    const PredictedTokens* p = shown_predictions(s);
    if (!p) {
        const bool could = s.model()->config.can.fill_masks && s.model()->has_logits();
        if (could)
            ui.text.draw(x, y, kCaption, ui.colors->t3, "type " + s.sentence()->mask + " for a prediction");
        return;
    }
    if (s.model()->config.can.fill_masks)
        x += ui.text.draw(x, y, kCaption, ui.colors->t3, "at " + std::to_string(p->position)) + 8;
    ui.text.draw(x, y, kBody, ui.colors->t3, "→");
    x += 30;
    for (size_t i = 0; i < std::min(count, p->tokens.size()); ++i) {
        const bool top = i == 0;
        const NextToken& t = p->tokens[i];
        const float w = next_width(ui, t);
        const float at = ui.text.draw(x, y, kCaptionMono, top ? ui.colors->t1 : ui.colors->t2, t.label);
        ui.text.draw(x + at + 6, y, kCaptionMono, top ? ui.colors->accent_text : ui.colors->t2,
                     percent(t.probability));
        const Rect track{x, y + 12, w, 2};
        ui.fill(track, ui.colors->dark ? ui.colors->bg2 : ui.colors->bg3);
        ui.fill({x, track.y, std::max(1.0f, w * t.probability), track.h},
                top ? ui.colors->accent : ui.colors->t3);
        ui.name("next/" + std::to_string(i), {x, y - 10, w, 24});
        x += w + 18;
    }
}

/// Learn and the settings; returns where they begin.
float draw_places(Scene& s, float right, float middle) {
    Ui& ui = s.ui;
    if (ui.link("settings", right, middle, "Settings", s.session.shows(Sheet::settings))) s.send("settings");
    right -= ui.text.width(kCaption, "Settings") + 20;
    if (!s.sentence() || !s.sentence()->trace || !s.sentence()->trace->has_weights()) return right + 20;
    const bool learns = std::string_view(views()[view_for(s.session, *s.model())].key) == "learn";
    const float wide = ui.text.width(kCaption, "Learn");
    if (ui.link("learn", right, middle, "Learn", learns)) s.send(learns ? "back" : "view learn");
    if (learns) ui.fill({right - wide - 2, middle + 13, wide + 4, 2}, ui.colors->accent);
    return right - wide;
}

std::string count_text(const Scene& s) {
    if (!s.sentence()) return s.model() && s.model()->config.can.read_image ? "no image" : "0 tokens";
    const auto count = [](size_t n) { return std::to_string(n) + (n == 1 ? " token" : " tokens"); };
    const auto& labels = s.sentence()->labels;
    if (labels.size() > 1) return std::to_string(labels[0].size()) + " and " + count(labels[1].size());
    if (s.model()->config.can.read_image) return std::to_string(labels[0].size() - 1) + " patches";
    return count(labels[0].size());
}

}  // namespace

void draw_sentence_bar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const bool low = area.h < size::top_bar;
    const float left = std::clamp(area.w * 0.2f, 272.0f, 400.0f), field_h = low ? 36 : 40,
                chip_h = low ? 24 : 28;
    const float chips_y = area.y + (low ? 54 : 62), chips_mid = chips_y + chip_h / 2, pad = 16;
    const Rect field{area.x + left, area.y + 8, area.w - left - 180, field_h};
    draw_model_button(s, {area.x + pad, field.y, left - 2 * pad, field_h});
    draw_fields(s, field);
    draw_live(s, field.right() + 32, area.right() - pad, field.middle_y());
    ui.text.draw(area.x + pad, chips_mid, kCaption, ui.colors->t2, count_text(s));
    const float links = draw_places(s, area.right() - pad, chips_mid);
    if (s.sentence()) {
        const bool writes = shows_written(s);  // the next tokens stand in the inspector then
        const size_t next = next_count(s, links - 20 - area.x - left);
        const float next_left = links - 20 - (writes || next == 0 ? 0 : next_room(s, next));
        const float end = draw_tokens(s, area.x + left, next_left - 12, chips_y, chip_h);
        if (!writes && next > 0) draw_next(s, std::min(end + 12, next_left), chips_mid, next);
    } else {
        const bool picture = s.model() && s.model()->config.can.read_image;
        if (!picture)
            ui.text.draw(area.x + left, chips_mid, kCaption, ui.colors->t2,
                         s.answer && !s.answer->text_error.empty()
                             ? ui.text.fitted(kCaption, s.answer->text_error, links - area.x - left - 20)
                             : "or choose one below");
    }
    ui.hairline(area.x, area.bottom() - 1, area.right(), area.bottom() - 1);
}

}  // namespace headlight

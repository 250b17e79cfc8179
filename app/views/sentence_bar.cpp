// Model, sentence, tokens, next tokens: always there, at the top.
#include <algorithm>
#include <cmath>

#include "views/views.h"

namespace headlight {

namespace {

void draw_model_button(Scene& s, Rect r) {
    Ui& ui = s.ui;
    const Hit h = ui.hit("model", r);
    ui.fill(r, h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(r, s.state.model_menu ? ui.colors->accent : ui.colors->l2, 1, size::corner);
    const float x = r.x + ui.px(18), y = r.middle_y();
    ui.list->AddCircleFilled({x, y}, ui.px(5), ui.colors->accent);
    ui.list->AddTriangleFilled({x + ui.px(7), y}, {x + ui.px(14), y - ui.px(6)}, {x + ui.px(14), y + ui.px(6)}, (ui.colors->accent & 0x00FFFFFF) | 0x80000000);
    const std::string name = s.model() ? s.model()->name : "opening…";
    ui.text.draw(r.x + ui.px(44), y, kBody, ui.colors->t1, ui.text.fitted(kBody, name, r.w - ui.px(76)));
    const float cx = r.right() - ui.px(16);
    const ImVec2 chevron[] = {{cx - ui.px(4), y - ui.px(2)}, {cx, y + ui.px(2.5f)}, {cx + ui.px(4), y - ui.px(2)}};
    ui.list->AddPolyline(chevron, 3, ui.colors->t3, 0, ui.px(1.5f));
    if (h.clicked) s.state.model_menu = !s.state.model_menu;
}

void draw_field(Scene& s, Rect r) {
    Ui& ui = s.ui;
    const Hit h = ui.hit("sentence", r);
    ui.fill(r, ui.colors->bg2, size::corner);
    ui.frame(r, s.field.focused ? ui.colors->accent : h.hovered ? ui.colors->t3 : ui.colors->l2, 1, size::corner);
    const float pad = ui.px(14), local = h.mouse.x - r.x - pad;
    if (h.hovered && ImGui::IsMouseDoubleClicked(0)) s.field.select_word(local);
    else if (h.hovered && ImGui::IsMouseClicked(0)) s.field.press(local, ImGui::GetIO().KeyShift);
    else if (h.pressed && ImGui::IsMouseDragging(0)) s.field.drag(local);
    if (h.hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
    s.field.draw(*ui.list, {r.x + pad, r.y + ui.px(4)}, {r.w - 2 * pad, r.h - ui.px(8)}, ui.scale, *ui.colors, "Type a sentence");
}

void draw_live(Scene& s, float left, float right, float y) {
    Ui& ui = s.ui;
    const bool waiting = s.dim > 0;
    const ImVec2 dot{left + ui.px(5), y};
    if (waiting) ui.list->AddCircle(dot, ui.px(3.5f), ui.colors->accent, 0, ui.px(1.5f));
    else ui.list->AddCircleFilled(dot, ui.px(4), ui.colors->accent);
    ui.text.draw(left + ui.px(17), y, kCaption, ui.colors->t2, s.sentence() ? "live" : "ready");
    if (s.sentence()) ui.text.draw_right(right, y, kCaptionMono, ui.colors->t2, decimals(s.answer->sentence->milliseconds, s.answer->sentence->milliseconds < 10 ? 1 : 0) + " ms");
}

/// One token; hovering it previews its row, a click locks it.
float draw_chip(Scene& s, int i, float x, float y, float high) {
    Ui& ui = s.ui;
    const std::string& label = s.sentence()->labels[static_cast<size_t>(i)];
    const Rect r{x, y, ui.text.width(kCaptionMono, label) + ui.px(14), high};
    const Hit h = ui.hit("chip/" + std::to_string(i), r);
    const auto cell = s.shown_cell();
    const bool query = cell && cell->first == i, key = cell && cell->second == i;
    ui.fill(r, query ? ui.colors->accent_fill : key ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    if (key) ui.frame(r, ui.colors->t2, 1, size::corner);
    if (query) ui.frame(r, ui.colors->accent, 1, size::corner);
    if (h.hovered) ui.frame(r, ui.colors->hover, 1, size::corner);
    ui.text.draw(r.x + ui.px(7), r.middle_y(), kCaptionMono, query ? ui.colors->accent_text : ui.colors->t1, label);
    const Trace& trace = *s.sentence()->trace;
    ui.tooltip("chip/" + std::to_string(i), h, "“" + trace.request.tokens[static_cast<size_t>(i)] + "”, id " + std::to_string(trace.request.ids[static_cast<size_t>(i)]) + ", position " + std::to_string(i));
    if (h.hovered && s.answer->picture) s.state.hovered = std::pair{i, s.heaviest_key(i)};
    if (h.clicked && s.answer->picture) s.state.locked = s.state.hovered;
    return r.w;
}

constexpr size_t kShownNext = 3;

float next_width(Ui& ui, const NextToken& t) { return std::max(ui.text.width(kCaptionMono, t.label + percent(t.probability)) + ui.px(8), ui.px(84)); }

float next_room(Scene& s) {
    float width = s.ui.px(30);
    const auto& next = s.sentence()->next;
    for (size_t i = 0; i < std::min(kShownNext, next.size()); ++i) width += next_width(s.ui, next[i]) + s.ui.px(18);
    return width;
}

void draw_next(Scene& s, float x, float y) {
    Ui& ui = s.ui;
    const auto& next = s.sentence()->next;
    ui.text.draw(x, y, kBody, ui.colors->t3, "→");
    x += ui.px(30);
    for (size_t i = 0; i < std::min(kShownNext, next.size()); ++i) {
        const bool top = i == 0;
        const float w = next_width(ui, next[i]);
        const float at = ui.text.draw(x, y, kCaptionMono, top ? ui.colors->t1 : ui.colors->t2, next[i].label);
        ui.text.draw(x + at + ui.px(6), y, kCaptionMono, top ? ui.colors->accent_text : ui.colors->t2, percent(next[i].probability));
        const Rect track{x, y + ui.px(12), w, ui.px(2)};
        ui.fill(track, ui.colors->dark ? ui.colors->bg2 : ui.colors->bg3);
        ui.fill({x, track.y, std::max(ui.px(1), w * next[i].probability), track.h}, top ? ui.colors->accent : ui.colors->t3);
        ui.name("next/" + std::to_string(i), {x, y - ui.px(10), w, ui.px(24)});
        x += w + ui.px(18);
    }
}

/// Tokens from `left` on, those that do not fit as "45 more"; returns where they end.
float draw_chips(Scene& s, float left, float right, float y, float high) {
    Ui& ui = s.ui;
    const int n = s.sentence()->trace->size();
    const float gap = ui.px(4), more = ui.px(78);
    s.state.first_chip = std::clamp(s.state.first_chip, 0, n - 1);
    float x = left;
    if (s.state.first_chip > 0) {
        const std::string back = std::to_string(s.state.first_chip) + " before";
        if (ui.link("chips/back", x + ui.text.width(kCaption, back), y + high / 2, back)) s.state.first_chip = std::max(0, s.state.first_chip - 12);
        x += ui.text.width(kCaption, back) + ui.px(12);
    }
    int i = s.state.first_chip;
    for (; i < n; ++i) {
        const float w = ui.text.width(kCaptionMono, s.sentence()->labels[static_cast<size_t>(i)]) + ui.px(14);
        if (x + w > right - (i + 1 < n ? more : 0)) break;
        x += draw_chip(s, i, x, y, high) + gap;
    }
    if (i == n) return x;
    const std::string rest = std::to_string(n - i) + " more";
    if (ui.link("chips/more", x + ui.px(8) + ui.text.width(kCaption, rest), y + high / 2, rest)) s.state.first_chip = i;
    return right;
}

}  // namespace

void draw_sentence_bar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const bool low = area.h < ui.px(size::top_bar);
    const float left = std::clamp(area.w * 0.2f, ui.px(272), ui.px(400)), field_h = ui.px(low ? 36 : 40), chip_h = ui.px(low ? 24 : 28);
    const float chips_y = area.y + ui.px(low ? 54 : 62), chips_mid = chips_y + chip_h / 2, pad = ui.px(16);
    const Rect field{area.x + left, area.y + ui.px(8), area.w - left - ui.px(180), field_h};
    draw_model_button(s, {area.x + pad, field.y, left - 2 * pad, field_h});
    draw_field(s, field);
    draw_live(s, field.right() + ui.px(32), area.right() - pad, field.middle_y());
    const int n = s.sentence() ? s.sentence()->trace->size() : 0;
    ui.text.draw(area.x + pad, chips_mid, kCaption, ui.colors->t2, std::to_string(n) + (n == 1 ? " token" : " tokens"));
    if (ui.link("settings", area.right() - pad, chips_mid, "Settings", s.state.settings_menu)) s.state.settings_menu = !s.state.settings_menu;
    if (s.sentence()) {
        const float next_left = area.right() - ui.px(92) - next_room(s);
        const float end = draw_chips(s, area.x + left, next_left - ui.px(12), chips_y, chip_h);
        draw_next(s, std::min(end + ui.px(12), next_left), chips_mid);
    } else {
        ui.text.draw(area.x + left, chips_mid, kCaption, ui.colors->t2, s.answer && !s.answer->text_error.empty() ? s.answer->text_error : "or choose one below");
    }
    ui.hairline(area.x, area.bottom() - 1, area.right(), area.bottom() - 1);
}

}  // namespace headlight

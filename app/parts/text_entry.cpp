#include "parts/text_entry.h"

#include "paint/layout.h"

namespace headlight {

namespace {

constexpr float kFieldPad = 14;

/// The number of bytes that the model reads; all if the answer is of another text.
size_t bytes_read_of(const Scene& s, const TextField& field) {
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
               bytes_read_of(s, field));
}

}  // namespace headlight

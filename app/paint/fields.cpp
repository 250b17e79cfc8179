// Widgets whose values are typed or dragged.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <utility>

#include "paint/curve_picture.h"
#include "paint/ui.h"

namespace headlight {

/// The field of Ui::entry that is open.
struct Ui::Typing {
    enum class End { not_yet, taken, left } end = End::not_yet;
    std::string path, before;
    TextField field{TextName::sentence};
    History history;  // of this field only
    bool drawn = true;
};

Ui::Ui(TextPainter& text, HeatmapRenderer* heat) : text(text), heat(heat) {}
Ui::~Ui() = default;

bool Ui::typing() const { return typing_ != nullptr; }
bool Ui::changes_field() const {
    return !pressed_.empty() || opens_next_ > 0 || (typing_ && typing_->end != Typing::End::not_yet);
}

void Ui::type(Input& input, const std::function<std::string()>& clipboard,
              const std::function<void(const std::string&)>& copy) {
    const auto end = [&](bool taken) { typing_->end = taken ? Typing::End::taken : Typing::End::left; };
    if (input.take(GLFW_KEY_ESCAPE)) return end(false);
    if (input.take(GLFW_KEY_ENTER) || input.take(GLFW_KEY_KP_ENTER)) return end(true);
    for (const bool back : {false, true})
        if (input.take(GLFW_KEY_TAB, false, back)) {
            end(true);
            opens_next_ = move_focus(back ? -1 : 1) ? 3 : 0;
            return;
        }
    typing_->field.handle(input, typing_->history, clipboard, copy);
}

void Ui::open_typing(const std::string& path, const std::string& value) {
    typing_ = std::make_unique<Typing>();
    typing_->path = focus_ = path;
    typing_->before = value;
    typing_->field.set_text(value);
    typing_->field.select_all();
    opens_next_ = 0;
    wake_after = 0.01f;
}

/// Closes a field that is no longer drawn.
void Ui::forget_typing() {
    opens_next_ = std::max(0, opens_next_ - 1);
    if (typing_ && !std::exchange(typing_->drawn, false)) typing_.reset();
}

Ui::Entry Ui::entry(const std::string& path, Rect r, const std::string& value) {
    Entry out;
    if (on_page()) return out;
    out.hit = control(path, r);
    const bool opens = out.hit.clicked || (opens_next_ > 0 && focus_ == path);
    if (opens && !typing_) open_typing(path, value);
    if (!typing_ || typing_->path != path) return out;
    out.open = typing_->drawn = true;
    Typing& t = *typing_;
    const bool elsewhere = ImGui::IsMouseClicked(0) && !r.contains(mouse);
    if (elsewhere && t.end == Typing::End::not_yet) t.end = Typing::End::taken;
    if (t.end == Typing::End::taken && t.field.text() != t.before) out.typed = t.field.text();
    fill(r, colors->bg2, size::corner);
    frame(r, colors->accent, 1, size::corner);
    const Rect inner = pixels(Rect{r.x + 6, r.y + 1, r.w - 10, r.h - 2});
    if (out.hit.hovered && !opens && ImGui::IsMouseClicked(0))
        t.field.press(pixels(mouse).x - inner.x, shift);
    t.field.draw(*list, inner.min(), {inner.w, inner.h}, scale, *colors, "");
    if (t.end != Typing::End::not_yet) {
        typing_.reset();
        wake_after = 0.01f;
    }
    return out;
}

void Ui::scroll_area(Rect r) {
    clip(r);
    if (!on_page()) seen_ = r;
    text.may_cut(TextPainter::MayCut::lines);
}

void Ui::end_scroll_area() {
    seen_.reset();
    text.may_cut(TextPainter::MayCut::nothing);
    unclip();
}

std::optional<float> Ui::slider(const std::string& path, Rect r, float place, bool counts) {
    if (on_page()) return std::nullopt;
    const Hit h = control(path, r);
    const float knob = 6, run = r.w - 2 * knob, x = r.x + knob + run * std::clamp(place, 0.0f, 1.0f);
    fill({r.x + knob, r.middle_y() - 1.5f, run, 3}, colors->dark ? colors->bg4 : colors->l2, 1.5f);
    const ImU32 ink = counts ? colors->accent : colors->t3;
    fill({r.x + knob, r.middle_y() - 1.5f, x - r.x - knob, 3}, ink, 1.5f);
    disc({x, r.middle_y()}, h.hovered || h.pressed ? knob + 1 : knob, ink);
    if (!h.pressed) return std::nullopt;
    return std::clamp((mouse.x - r.x - knob) / run, 0.0f, 1.0f);
}

}  // namespace headlight

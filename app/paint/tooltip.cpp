// Shows a text while the mouse rests on a widget.
#include <GLFW/glfw3.h>

#include <algorithm>
#include <utility>

#include "paint/explanations.h"
#include "paint/probe.h"
#include "paint/ui.h"

namespace headlight {

void Ui::tooltip(const std::string& path, const Hit& h, const std::string& what, float after) {
    if (probe && h.hovered && !what.empty()) probe->said = what;
    if (on_page()) return;
    if (notes_unexplained) explained_.insert(path);
    if (h.hovered && !what.empty()) tip_ = Tip{path, what, h.mouse, after};
}

void Ui::explain(const std::string& path, Rect r) {
    if (on_page() && !probe) return;
    if (notes_unexplained) answering_.insert(path);
    if (const std::string* says = explanation_of(path)) tooltip(path, over(r), *says);
}

std::vector<std::string> Ui::unexplained() const {
    std::vector<std::string> out;
    for (const std::string& path : answering_)
        if (!explained_.count(path) && !explanation_of(path)) out.push_back(path);
    return out;
}

void Ui::draw_tooltip() {
    const std::string path = tip_ ? tip_->path : "";
    const double now = glfwGetTime();
    if (std::exchange(pointed_, path) != path) pointed_since_ = now;
    if (path != pressed_tip_) pressed_tip_.clear();
    if (ImGui::IsMouseClicked(0)) pressed_tip_ = path;
    const bool answered = tip_ && tip_->after > 0 && path == pressed_tip_;  // the click opened something
    if (!tip_ || answered) return;
    const auto waited = float(now - pointed_since_);
    if (waited >= tip_->after) return draw_tip(*tip_);
    const float rest = tip_->after - waited + 0.01f;
    wake_after = wake_after > 0 ? std::min(wake_after, rest) : rest;
}

void Ui::draw_tip(const Tip& tip) {
    const std::string& what = tip.text;
    const float wide = std::min(text.width(kCaption, what), 320.0f);
    ImDrawList* below = list;
    use_list(ImGui::GetForegroundDrawList());
    const float high = text.wrapped_height(wide + 2, kCaption, what) + 12;
    const ImVec2 screen = points(ImGui::GetIO().DisplaySize);
    const float x = std::min(tip.mouse.x + 12, screen.x - wide - 24),
                y = tip.mouse.y + 18 + high > screen.y ? tip.mouse.y - high - 6 : tip.mouse.y + 18;
    const Rect r{x, y, wide + 20, high};
    fill(r, colors->bg2, size::popup_corner);
    frame(r, colors->l2, 1, size::popup_corner);
    text.draw_wrapped(r.x + 10, r.y + 6, wide + 2, kCaption, colors->t1, what);
    use_list(below);
}

}  // namespace headlight

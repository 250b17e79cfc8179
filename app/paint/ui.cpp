#include "paint/ui.h"

#include <GLFW/glfw3.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "paint/explanations.h"
#include "paint/probe.h"

namespace headlight {

std::string number(double value, int digits) { return std::isnan(value) ? "—" : decimals(value, digits); }

std::string fine_number(double value, int digits) {
    return std::isnan(value) ? "—" : fine_decimals(value, digits);
}

std::string compact_number(double value, int digits) {
    constexpr double kLarge = 1e6, kRoundsUp = 9.995;  // two decimals would show 10.00
    if (!(std::abs(value) >= kLarge) || std::isinf(value)) return number(value, digits);
    int exponent = int(std::floor(std::log10(std::abs(value))));
    if (std::abs(value) * std::pow(10.0, -exponent) >= kRoundsUp) ++exponent;
    return decimals(value * std::pow(10.0, -exponent), 2) + "e" + std::to_string(exponent);
}

std::string signed_number(double value, int digits) {
    return (value >= kNoise ? "+" : "") + fine_number(value, digits);
}

void Ui::begin(const Theme& theme, float new_scale) {
    colors = &theme;
    scale = new_scale;
    wake_after = 0;
    without_toolbars = false;
    if (std::exchange(open_list_, "").empty()) {  // none was drawn, or it was closed
        if (!list_take_ && !list_close_) list_.clear();
    }
    if (!std::exchange(rested_, false)) resting_.clear();
    tip_.reset();
    answering_.clear();
    explained_.clear();
    widgets.clear();
    forget_typing();
    last_stops_ = std::exchange(stops_, {});
    covers_ = std::exchange(new_covers_, {});
    const ImGuiIO& io = ImGui::GetIO();
    mouse = points(io.MousePos);
    wheel = io.MouseWheel;
    wheel_x = io.MouseWheelH;
    shift = io.KeyShift;
    ctrl = io.KeyCtrl;
}

void Ui::use_list(ImDrawList* new_list) {
    list = new_list;
    text.set_list(new_list);
}

bool Ui::covered(ImVec2 point) const {
    return std::any_of(covers_.begin(), covers_.end(), [&](const Rect& r) { return r.contains(point); });
}

Hit Ui::probed(Rect r) const {
    if (!probe) return {};
    probe->areas.push_back(r);
    return {r.contains(probe->mouse), false, false, probe->mouse};
}

Hit Ui::hit(const std::string& path, Rect r) {
    if (on_page()) return probed(r);  // what a click would do is said nowhere: nothing can be clicked
    widgets[path] = r;
    if (seen_) r = r.common(*seen_);
    if (r.w <= 0 || r.h <= 0) return {false, false, false, mouse};
    const Rect at = pixels(r);
    ImGui::SetCursorScreenPos(at.min());
    const bool clicked = ImGui::InvisibleButton(path.c_str(), {std::max(1.0f, at.w), std::max(1.0f, at.h)});
    if (notes_unexplained && !drawing_list_) answering_.insert(path);
    if (covered(mouse)) return {false, false, false, mouse};
    const Hit h{ImGui::IsItemHovered(), ImGui::IsItemActive(), clicked, mouse};
    const std::string* says = drawing_list_ ? nullptr : explanation_of(path);
    if (says) tooltip(path, h, *says);
    return h;
}

Hit Ui::control(const std::string& path, Rect r) {
    Hit h = hit(path, r);
    stops_.push_back(path);
    if (!pressed_.empty() && pressed_ == path) {
        pressed_.clear();
        h.clicked = true;
    }
    if (h.clicked && h.hovered) focus_.clear();  // the mouse took over
    return h;
}

Hit Ui::over(Rect r) const {
    if (on_page()) return probed(r);
    if (seen_) r = r.common(*seen_);
    return {r.contains(mouse) && !covered(mouse) && ImGui::IsWindowHovered(), false, false, mouse};
}

int Ui::take_step(const std::string& path) { return focus_ == path ? std::exchange(step_, 0) : 0; }

bool Ui::move_focus(int by) {
    const auto& stops = stops_.empty() ? last_stops_ : stops_;
    const auto here = std::find(stops.begin(), stops.end(), focus_);
    const auto count = std::ssize(stops);
    const std::ptrdiff_t next = here == stops.end() ? (by > 0 ? 0 : count - 1) : here - stops.begin() + by;
    focus_ = next >= 0 && next < count ? stops[next] : "";
    return !focus_.empty();
}

void Ui::draw_focus() {
    if (std::find(stops_.begin(), stops_.end(), focus_) == stops_.end()) focus_.clear();
    step_ = list_step_ = 0;
    list_take_ = list_close_ = false;
    pressed_.clear();
    if (focus_.empty()) return;
    use_list(ImGui::GetForegroundDrawList());
    const Rect r = widgets[focus_];
    frame({r.x - 2, r.y - 2, r.w + 4, r.h + 4}, colors->accent, 2, size::corner);
}

float Ui::take_wheel(Rect r) {
    const bool ours = !on_page() && r.contains(mouse) && !covered(mouse) &&
                      ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    return ours ? std::exchange(wheel, 0.0f) : 0.0f;
}

bool Ui::button(const std::string& path, Rect r, const std::string& label, Look look) {
    if (on_page() || without_toolbars) return false;
    const Hit h = look == Look::off ? Hit{} : control(path, r);
    if (look == Look::off) name(path, r);
    ImU32 back = h.pressed   ? colors->bg4
                 : h.hovered ? colors->bg3
                             : colors->bg2,
          ink = colors->t1, edge = colors->l2;
    if (look == Look::primary) {
        back = colors->dark ? colors->accent : colors->accent_text;
        ink = colors->on_accent;
        edge = back;
    }
    if (look == Look::off) {
        back = colors->bg1;
        ink = colors->t3;
        edge = colors->l1;
    }
    fill(r, back, size::corner);
    frame(r, edge, 1, size::corner);
    text.draw_centered(r.middle_x(), r.middle_y(), kBody, ink, label);
    return h.clicked;
}

bool Ui::link(const std::string& path, float right, float middle, const std::string& label, bool on) {
    if (on_page()) return false;
    const float w = text.width(kCaption, label);
    const Rect r{right - w - 6, middle - 14, w + 12, 28};
    const Hit h = control(path, r);
    text.draw_right(right, middle, kCaption,
                    on          ? colors->accent_text
                    : h.hovered ? colors->t1
                                : colors->t2,
                    label);
    return h.clicked;
}

float Ui::choice_width(const char* label, const std::vector<std::string>& items) {
    float widest = 0;
    for (const auto& item : items) widest = std::max(widest, text.width(kCaption, item));
    return (*label ? text.width(kCaption, label) + 8 : 0) + widest + 38;
}

int Ui::choice(float& x, float middle, const char* label, const std::string& path,
               const std::vector<std::string>& items, int current) {
    if (on_page()) return -1;
    if (*label) x += text.draw(x, middle, kCaption, colors->t3, label) + 8;
    float width = 0;
    const int chosen = drop_down(path, x, middle, items, current, width);
    if (current < 0)
        text.draw(x + 10, middle, kCaption, colors->t3, text.fitted(kCaption, "choose…", width - 36));
    x += width;
    return chosen;
}

void Ui::toggle(const std::string& path, Rect r, const char* label, bool& on) {
    const Hit h = control(path, r);
    fill(r, on ? colors->accent_fill : h.hovered ? colors->bg3 : colors->bg2, size::corner);
    frame(r, on ? colors->accent : colors->l2, 1, size::corner);
    text.draw_centered(r.middle_x(), r.middle_y(), kCaption, on ? colors->accent_text : colors->t2, label);
    if (h.clicked) on = !on;
}

void Ui::text_input(const char* path, Rect r, const char* hint, std::string& value, bool first) {
    name(path, r);
    const Rect at = pixels(r);
    ImGui::SetCursorScreenPos(at.min());
    ImGui::PushItemWidth(at.w);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {10 * scale, (at.h - ImGui::GetFontSize()) / 2});
    if (first && !ImGui::IsAnyItemActive() &&
        !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel))
        ImGui::SetKeyboardFocusHere();
    ImGui::InputTextWithHint((std::string("##") + path).c_str(), hint, &value,
                             ImGuiInputTextFlags_AutoSelectAll);
    ImGui::PopStyleVar();
    ImGui::PopItemWidth();
}

void Ui::signed_bar(Rect r, float value, bool strong) {
    const float zero = snapped(r.middle_x()),
                length = snapped(r.w / 2 * std::clamp(std::abs(value), 0.0f, 1.0f));
    fill({value < 0 ? zero - length : zero, r.y, std::max(length, value != 0 ? line() : 0.0f), r.h},
         strong ? value < 0 ? colors->minus : colors->plus : colors->l2);
    fill({zero, r.y - 4, line(), r.h + 8}, colors->l2);
}

void Ui::bar(Rect r, float value, ImU32 color) {
    fill(r, colors->dark ? colors->bg2 : colors->bg3);
    const float w = snapped(r.w * std::clamp(value, 0.0f, 1.0f));
    if (value > 0) fill({r.x, r.y, std::max(w, line()), r.h}, color);
}

bool Ui::rests(const std::string& path, const Hit& h, float seconds) {
    if (on_page() || !h.hovered) return false;
    rested_ = true;
    const double now = glfwGetTime();
    if (resting_ != path) {
        resting_ = path;
        resting_since_ = now;
    }
    const auto waited = float(now - resting_since_);
    if (waited < seconds) wake_after = seconds - waited + 0.01f;
    return waited >= seconds;
}

}  // namespace headlight

// Lists, choices side by side, and pop-up panels.
#include <algorithm>
#include <utility>

#include "base/cast.h"
#include "paint/ui.h"

namespace headlight {

namespace {
constexpr float kSegmentPad = 8;
}

/// Draws the rows of an open list; returns the chosen one, or −1.
int Ui::draw_list(const std::string& path, const std::vector<std::string>& items, int current, float wide) {
    const bool begins = list_ != path;
    list_ = open_list_ = path;
    if (begins) list_at_ = current;
    const int step = std::exchange(list_step_, 0);
    if (step != 0) list_at_ = std::clamp(list_at_ + step, 0, isize(items) - 1);
    int taken = std::exchange(list_take_, false) ? list_at_ : -1;
    const ImVec2 at = points(ImGui::GetCursorScreenPos());
    drawing_list_ = true;  // its name explains an item
    for (int i = 0; i < isize(items); ++i) {
        const Rect row{at.x, at.y + size::row * float(i), wide - 8, size::row};
        const Hit h = hit(path + "/" + items[i], row);
        if (step != 0 && i == list_at_) ImGui::SetScrollHereY();
        if (h.hovered && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0)) list_at_ = i;
        const bool is_current = i == current;
        if (is_current || i == list_at_)
            fill(row, is_current ? colors->accent_fill : colors->bg3, size::corner);
        if (is_current && i == list_at_) frame(row, colors->accent, 1, size::corner);
        text.draw(row.x + 6, row.middle_y(), kCaption, is_current ? colors->accent_text : colors->t1,
                  text.fitted(kCaption, items[i], row.w - 8));
        if (h.clicked) taken = i;
    }
    drawing_list_ = false;
    if (taken >= 0 || std::exchange(list_close_, false)) close_list();
    return taken;
}

/// Returns the keys to the window.
void Ui::close_list() {
    ImGui::CloseCurrentPopup();
    open_list_.clear();
}

void Ui::press_in_list(ListKey key) {
    list_step_ += key == ListKey::down ? 1 : key == ListKey::up ? -1 : 0;
    list_take_ = list_take_ || key == ListKey::take;
    list_close_ = list_close_ || key == ListKey::close;
    if (list_take_ || list_close_) open_list_.clear();  // further keys belong to the window
}

int Ui::drop_down(const std::string& path, float x, float middle, const std::vector<std::string>& items,
                  int current, float& width, float max) {
    float widest = 0;
    for (const auto& item : items) widest = std::max(widest, text.width(kCaption, item));
    width = std::min(widest + 38, max);
    const Rect r{x, middle - (size::chip / 2), width, size::chip};
    const Hit h = control(path, r);
    const std::string popup = path + "/list";
    const bool open = ImGui::IsPopupOpen(popup.c_str());
    fill(r, h.pressed ? colors->bg4 : h.hovered ? colors->bg3 : colors->bg2, size::corner);
    frame(r, open ? colors->accent : colors->l2, 1, size::corner);
    if (current >= 0 && current < isize(items))
        text.draw(r.x + 10, r.middle_y(), kCaption, colors->t1,
                  text.fitted(kCaption, items[current], width - 36));
    chevron({r.right() - 14, r.middle_y()}, 3.5f, colors->t3);
    if (h.clicked) ImGui::OpenPopup(popup.c_str());
    int chosen = -1;
    if (const int step = take_step(path); step != 0) chosen = std::clamp(current + step, 0, isize(items) - 1);
    const float high = size::row * float(items.size()) + 8, below_it = r.bottom() + 4,
                window = points(ImGui::GetIO().DisplaySize).y;
    const bool fits = below_it + high <= window;
    ImGui::SetNextWindowPos(pixels(ImVec2{r.x, fits ? below_it : std::max(4.0f, r.y - 4 - high)}));
    ImGui::SetNextWindowSizeConstraints({0, 0}, {FLT_MAX, (window - 8) * scale});  // a longer one scrolls
    if (ImGui::BeginPopup(popup.c_str(), ImGuiWindowFlags_NoMove)) {
        ImDrawList* below = list;
        use_list(ImGui::GetWindowDrawList());
        if (const int taken = draw_list(path, items, current, width); taken >= 0) chosen = taken;
        ImGui::EndPopup();
        use_list(below);
    }
    return chosen;
}

float Ui::segments_width(const std::vector<std::string>& labels) {
    float all = 0;
    for (const auto& label : labels) all += text.width(kCaption, label) + 2 * kSegmentPad;
    return all;
}

int Ui::segments(const std::string& path, float x, float middle, const Segments& options) {
    if (on_page()) return -1;
    const auto& [labels, helps, current] = options;
    const Rect whole{x, middle - size::chip / 2, segments_width(labels), size::chip};
    const Hit h = control(path, whole);
    int pressed = -1;
    fill(whole, colors->bg2, size::corner);
    for (int i = 0; i < isize(labels); ++i) {
        const Rect r{x, whole.y, text.width(kCaption, labels[i]) + 2 * kSegmentPad, whole.h};
        const bool under = h.hovered && r.contains(h.mouse), on = i == current;
        name(path + "/" + labels[i], r);
        if (on || under) fill(r, on ? colors->bg4 : colors->bg3, size::corner);
        if (i > 0 && !on && i != current + 1) fill({r.x, r.y + 6, line(), r.h - 12}, colors->l2);
        text.draw_centered(r.middle_x(), middle, kCaption, on || under ? colors->t1 : colors->t2, labels[i]);
        if (i < isize(helps)) tooltip(path + "/" + labels[i], {under, false, false, h.mouse}, helps[i]);
        if (h.clicked && under) pressed = i;
        x = r.right();
    }
    frame(whole, colors->l2, 1, size::corner);
    const int step = h.clicked && !h.hovered ? 1 : take_step(path), count = isize(labels);
    return step ? std::clamp(current + step, 0, count - 1) : pressed;
}

void Ui::pop_up(const std::string& path, Rect under, bool pressed, ImVec2 size,
                const std::function<void(Rect inside)>& draw) {
    const std::string popup = path + "/panel";
    if (pressed) ImGui::OpenPopup(popup.c_str());
    const float max = points(ImGui::GetIO().DisplaySize).x - size.x - 4;
    ImGui::SetNextWindowPos(pixels(ImVec2{std::min(under.x, max), under.bottom() + 4}));
    ImGui::SetNextWindowSize(pixels(size));
    if (!ImGui::BeginPopup(popup.c_str(), ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoScrollbar)) return;
    ImDrawList* below = list;
    use_list(ImGui::GetWindowDrawList());
    const ImVec2 at = points(ImGui::GetWindowPos());
    open_list_ = path;
    draw({at.x, at.y, size.x, size.y});         // an open list in it takes the keys
    if (open_list_.empty()) open_list_ = path;  // a list in it was closed
    if (open_list_ == path) list_.clear();
    if (open_list_ == path && std::exchange(list_close_, false)) close_list();
    ImGui::EndPopup();
    use_list(below);
}

}  // namespace headlight

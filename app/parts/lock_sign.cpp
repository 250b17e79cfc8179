#include "parts/lock_sign.h"

#include <array>
#include <cmath>

#include "paint/layout.h"
#include "session/lesson.h"

namespace headlight {

void draw_padlock(Ui& ui, ImVec2 center, ImU32 ink) {
    constexpr float kHalf = 5, kBody = 8, kBow = 3, kLine = 1.25f;
    const Rect body{center.x - kHalf, center.y - 1, 2 * kHalf, kBody};
    ui.frame(body, ink, kLine, 1.5f);
    std::array<ImVec2, 11> bow;
    bow.front() = {center.x - kBow, body.y};
    bow.back() = {center.x + kBow, body.y};
    for (size_t i = 1; i + 1 < bow.size(); ++i) {
        const float turn = float(M_PI) * float(i - 1) / float(bow.size() - 3);
        bow[i] = {center.x - kBow * std::cos(turn), body.y - 2 - kBow * std::sin(turn)};
    }
    ui.polyline(bow, ink, kLine);
}

Rect draw_locked_box(Ui& ui, const std::string& path, Rect r) {
    constexpr float kRoom = 32;
    ui.fill(r, ui.colors->bg1, size::corner);
    ui.frame(r, ui.colors->l1, 1, size::corner);
    ui.tooltip(path, ui.hit(path, r), kLockedByLesson);
    draw_padlock(ui, take_right(r, kRoom).middle(), ui.colors->t3);
    return r;
}

}  // namespace headlight

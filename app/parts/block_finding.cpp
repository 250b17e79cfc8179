// Draws what a page found: one sentence made of its numbers, and why.
#include "paint/layout.h"
#include "parts/blocks.h"

namespace headlight::learn {

float draw_finding(Ui& ui, ImVec2 at, float width, const PageQuestion& question) {
    if (question.finding.empty()) return 0;
    constexpr float kBar = 4, kAside = 20, kWidest = 1000;
    const float room = std::min(width - kAside, kWidest);
    float y = at.y + ui.text.draw_wrapped(at.x + kAside, at.y, room, kTitle, ui.colors->t1, question.finding);
    if (!question.why.empty())
        y += gap::tight +
             ui.text.draw_wrapped(at.x + kAside, y + gap::tight, room, kBody, ui.colors->t2, question.why);
    ui.fill({at.x, at.y, kBar, y - at.y}, ui.colors->accent);
    return y - at.y;
}

}  // namespace headlight::learn

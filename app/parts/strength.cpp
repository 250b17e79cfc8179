#include "parts/strength.h"

#include <algorithm>
#include <cmath>

#include "analysis/comparison/strengths.h"
#include "hub/adapted.h"
#include "paint/layout.h"
#include "session/commands/commands.h"

namespace headlight {

namespace {

constexpr float kFrom = StrengthCurve::kFirst, kTo = StrengthCurve::kLast, kSnap = 0.06f,
                kSteps = 20;  // steps in 1

}  // namespace

float strength_place(float strength) { return std::clamp((strength - kFrom) / (kTo - kFrom), 0.0f, 1.0f); }

float strength_at(float place) {
    const float free = kFrom + (kTo - kFrom) * place;
    for (const float held : {0.0f, 1.0f})
        if (std::abs(free - held) < kSnap) return held;
    return std::round(free * kSteps) / kSteps;
}

void send_strength(const Scene& s, float wanted) {
    if (wanted != strength_of(s.session, *s.model())) s.send("adapter", strength_text(wanted));
}

void draw_strength_slider(Scene& s, const std::string& path, Rect r) {
    constexpr float kMark = 12;
    const float run = r.w - 2 * kStrengthKnob, strength = strength_of(s.session, *s.model());
    for (const float held : {0.0f, 1.0f}) {
        const float x = r.x + kStrengthKnob + run * strength_place(held);
        s.ui.fill({x, r.middle_y() - kMark / 2, s.ui.line(), kMark}, s.ui.colors->t3);
    }
    if (s.ui.on_page()) {  // which has no controls
        const float x = r.x + kStrengthKnob;
        s.ui.hairline(x, r.middle_y(), x + run, r.middle_y());
        s.ui.disc({x + run * strength_place(strength), r.middle_y()}, kStrengthKnob, s.ui.colors->accent);
        return;
    }
    const auto place = s.ui.slider(path, band(r, size::row), strength_place(strength), strength != 0);
    if (place) send_strength(s, strength_at(*place));
}

}  // namespace headlight

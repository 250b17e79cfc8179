#include "panels/adapter_bar.h"

#include <algorithm>
#include <cmath>

#include "base/quoted.h"
#include "hub/adapted.h"
#include "model/loading/adapter.h"
#include "paint/chip.h"
#include "paint/toolbar.h"
#include "session/commands/commands.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kFrom = -1, kTo = 2, kSnap = 0.06f, kSteps = 20;  // steps in 1

float place_of(float strength) { return (strength - kFrom) / (kTo - kFrom); }

/// The strength at a place of the slider: 0 and 1 hold it, else a multiple of 0.05.
float strength_at(float place) {
    const float free = kFrom + (kTo - kFrom) * place;
    for (const float held : {0.0f, 1.0f})
        if (std::abs(free - held) < kSnap) return held;
    return std::round(free * kSteps) / kSteps;
}

/// "[——|——|—o—] 1.50", with marks at 0 and 1.
void draw_strength(Scene& s, Rect r, float strength) {
    constexpr float kKnob = 6, kMark = 12;  // as Ui::slider draws it
    const float run = r.w - 2 * kKnob;
    for (const float held : {0.0f, 1.0f}) {
        const float x = r.x + kKnob + run * place_of(held);
        s.ui.fill({x, r.middle_y() - kMark / 2, s.ui.line(), kMark}, s.ui.colors->t3);
    }
    const auto place = s.ui.slider("adapter/strength", band(r, size::row),
                                   std::clamp(place_of(strength), 0.0f, 1.0f), strength != 0);
    if (!place) return;
    const float wanted = strength_at(*place);
    if (wanted != strength) s.send("adapter", strength_text(wanted));
}

void draw_presets(Scene& s, Toolbar& bar, float strength) {
    for (const auto& [label, value] : {std::pair{"0 base", 0.0f}, std::pair{"1 as trained", 1.0f}})
        if (bar.press(std::string("adapter/") + (value == 0 ? "base" : "trained"), label, strength == value)
                .clicked)
            s.send("adapter", value == 0 ? "0" : "1");
}

}  // namespace

float draw_adapter_bar(Scene& s, Rect area) {
    constexpr float kRoomy = 620, kSlider = 260, kNarrowSlider = 120, kNumber = 56;
    Ui& ui = s.ui;
    if (!s.model() || !s.model()->adapter || !s.sentence() || !s.sentence()->trace->has_weights()) return 0;
    ui.hairline(area.x, area.bottom(), area.right(), area.bottom());
    Toolbar bar(ui, inset(area, size::center_pad, 0));
    const bool roomy = bar.rest().w > kRoomy;
    const float strength = strength_of(s.session, *s.model());
    if (roomy) {
        bar.say(kCaption, ui.colors->t3, "Adapter", gap::small);
        const std::string name = adapter_name(s.model()->adapter->info().folder, 1);
        bar.say(kCaption, ui.colors->accent_text, ui.text.fitted(kCaption, name, kSlider / 2));
    }
    bar.say(kCaption, ui.colors->t3, "Strength", gap::small);
    draw_strength(s, bar.take(roomy ? kSlider : kNarrowSlider, gap::small), strength);
    write(ui, bar.take(kNumber), kBodyMono, ui.colors->accent_text, decimals(double(strength), 2),
          Flush::right);
    if (roomy) draw_presets(s, bar, strength);
    const bool compares = std::string_view(shown_view(s.session, *s.model()).key) == "compare" &&
                          s.session.document.comparison.what == Compared::base;
    const std::string compare = "Compare with base";
    if (!compares && bar.rest().w > ui.text.width(kCaption, compare) + gap::wide &&
        ui.link("adapter/compare", bar.rest().right(), area.middle_y(), compare))
        s.send("view compare base");
    return area.h;
}

float draw_adapter_chip(Scene& s, Rect right) {
    constexpr float kHigh = 24, kLeast = 48;
    Ui& ui = s.ui;
    if (!s.model() || !s.model()->adapter || right.w < kLeast) return 0;
    const AdapterInfo info = s.model()->adapter->info();
    const std::string whole = "+ " + adapter_name(info.folder, info.strength),
                      number = "× " + decimals(double(info.strength), 2);
    Chip chip{"", ui.colors->accent_text, ui.colors->accent_fill, ui.colors->accent};
    chip.font = kCaption;
    const float room = right.w - 2 * size::chip_pad;
    const bool cut = info.strength != 1 && ui.text.width(kCaption, whole) > room;
    chip.label = ui.text.fitted(kCaption, cut ? number : whole, room);
    const float width = chip_width(ui, chip);
    const Rect r = band(take_right(right, width), kHigh);
    draw_chip(ui, r, chip);
    ui.name("adapter/chip", r);
    return width;
}

}  // namespace headlight

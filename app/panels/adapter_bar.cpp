#include "panels/adapter_bar.h"

#include "base/quoted.h"
#include "model/loading/adapter.h"
#include "paint/chip.h"
#include "paint/toolbar.h"
#include "parts/strength.h"
#include "session/commands/commands.h"
#include "views/views.h"

namespace headlight {

namespace {

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
    draw_strength_slider(s, "adapter/strength", bar.take(roomy ? kSlider : kNarrowSlider, gap::small));
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

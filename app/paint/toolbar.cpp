#include "paint/toolbar.h"

#include "paint/chip.h"

namespace headlight {

namespace {
constexpr float kLineStep = 36;

/// Whether something so wide fits on the only line; if not, it remains a command.
bool fits(const Toolbar& bar, float width) { return width <= bar.rest().w + gap::large; }
}  // namespace

Toolbar::Toolbar(Ui& painter, Rect line, Lines lines)
    : ui(painter), line_(line), last_(line), x_(line.x), lines_(lines) {}

Rect Toolbar::take(float width, float apart) {
    if (lines_ == Lines::many && x_ + width > line_.right()) new_line();
    last_ = {x_, line_.y, width, line_.h};
    x_ += width + apart;
    return last_;
}

void Toolbar::new_line() {
    if (x_ > line_.x) line_.y += kLineStep;
    x_ = line_.x;
}

int Toolbar::choice(const std::string& label, const std::string& path, const std::vector<std::string>& items,
                    int current) {
    if (ui.on_page() || ui.without_toolbars) return -1;
    const char* shown = labels ? label.c_str() : "";
    const float width = ui.choice_width(shown, items);
    if (lines_ == Lines::one && !fits(*this, width)) return -1;
    const Rect at = take(width);
    float x = at.x;
    return ui.choice(x, at.middle_y(), shown, path, items, current);
}

float Toolbar::segments_width(const std::string& label, const std::vector<std::string>& options) const {
    return (label.empty() ? 0 : ui.text.width(kCaption, label) + gap::small) + ui.segments_width(options);
}

int Toolbar::segments(const std::string& label, const std::string& path, const Ui::Segments& options) {
    if (ui.without_toolbars) return -1;
    if (lines_ == Lines::one && !fits(*this, segments_width(label, options.labels))) return -1;
    if (!label.empty()) say(kCaption, ui.colors->t3, label, gap::small);
    const Rect at = take(ui.segments_width(options.labels), gap::medium);
    return ui.segments(path, at.x, at.middle_y(), options);
}

void Toolbar::say(Font font, ImU32 ink, const std::string& text, float apart) {
    const float wide = ui.text.width(font, text);
    write(ui, take(lines_ == Lines::one ? std::min(wide, rest().w) : wide, apart), font, ink, text);
}

float Toolbar::press_width(const std::string& label) const {
    Chip chip{label, ui.colors->t1};
    chip.font = kCaption;
    return chip_width(ui, chip) + 2 * gap::tight;
}

Hit Toolbar::press(const std::string& path, const std::string& label, bool on) {
    Chip chip{label, ui.colors->t1};
    chip.font = kCaption;
    const float wide = press_width(label);
    if (ui.without_toolbars) return {};
    if (lines_ == Lines::one && !fits(*this, wide)) return {};
    return press_chip(ui, path, band(take(wide), size::chip), chip, on);
}

bool Toolbar::link(const std::string& path, const std::string& label) {
    const float wide = ui.text.width(kCaption, label);
    if (ui.without_toolbars) return false;
    if (lines_ == Lines::one && !fits(*this, wide)) return false;
    const Rect at = take(wide);
    return ui.link(path, at.right(), at.middle_y(), label);
}

}  // namespace headlight

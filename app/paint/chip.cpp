#include "paint/chip.h"

#include "paint/layout.h"

namespace headlight {

float chip_width(Ui& ui, const Chip& chip) {
    const float detail = chip.detail.empty() ? 0 : gap::small + ui.text.width(kCaptionMono, chip.detail);
    return ui.text.width(chip.font, chip.label) + detail + 2 * size::chip_pad;
}

float chip_width(Ui& ui, const std::string& token) { return chip_width(ui, Chip{token, 0}); }

void draw_chip(Ui& ui, Rect r, const Chip& chip) {
    if (chip.back) ui.fill(r, chip.back, size::corner);
    if (chip.edge) ui.frame(r, chip.edge, 1, size::corner);
    if (chip.detail.empty()) {
        write(ui, inset(r, 1, 0), chip.font, chip.ink, chip.label, Flush::center);
        return;
    }
    const Rect inside = inset(r, size::chip_pad, 0);
    write(ui, inside, chip.font, chip.ink, chip.label);
    write(ui, inside, kCaptionMono, ui.colors->t3, chip.detail, Flush::right);
}

Chip token_chip(const Ui& ui, const std::string& label, ChipRole role) {
    const Theme& c = *ui.colors;
    switch (role) {
        case ChipRole::query:
            return {label, c.accent_text, c.accent_fill, c.accent};
        case ChipRole::key:
            return {label, c.t1, c.bg3, c.t2};
        case ChipRole::token:
            break;
    }
    return {label, c.t1, c.bg2};
}

Hit press_chip(Ui& ui, const std::string& path, Rect r, Chip chip, bool on) {
    const Theme& c = *ui.colors;
    const Hit h = ui.control(path, r);
    chip.ink = on ? c.accent_text : c.t1;
    chip.back = h.hovered ? c.bg3 : on ? c.accent_fill : c.bg2;
    chip.edge = on ? c.accent : c.l2;
    draw_chip(ui, r, chip);
    return h;
}

}  // namespace headlight

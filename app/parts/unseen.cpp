#include "parts/unseen.h"

#include <algorithm>

#include "base/utf8.h"
#include "parts/controls.h"

namespace headlight {

std::vector<UnseenKey> strongest_keys(const std::function<float(int)>& weight, int begin, int end) {
    constexpr size_t kMaxKeys = 3;
    constexpr float kLeast = 0.05f;
    std::vector<UnseenKey> out;
    for (int key = begin; key < end; ++key)
        if (const float w = std::abs(weight(key)); w >= kLeast) out.push_back({key, w});
    std::sort(out.begin(), out.end(), [](UnseenKey a, UnseenKey b) { return a.weight > b.weight; });
    out.resize(std::min(out.size(), kMaxKeys));
    return out;
}

int draw_unseen(Scene& s, Rect line, const std::string& arrow, const std::vector<UnseenKey>& keys) {
    constexpr size_t kMaxOfLabel = 14;
    constexpr float kHigh = 20;
    Ui& ui = s.ui;
    int clicked = -1;
    for (const UnseenKey& k : keys) {
        const Chip chip{arrow + " " + std::to_string(k.key) + " " +
                            shorten_middle(s.key_labels()[k.key], kMaxOfLabel) + " " + number(k.weight, 3),
                        ui.colors->t1, ui.colors->bg3};
        const float wide = chip_width(ui, chip);
        if (wide > line.w) break;
        const Rect r = band(take_left(line, wide, gap::close), kHigh);
        const std::string path = "unseen/" + std::to_string(k.key);
        const Hit h = ui.control(path, r);
        draw_chip(ui, r, chip);
        if (h.hovered) ui.frame(r, ui.colors->hover, 1, size::corner);
        if (h.clicked) clicked = k.key;
    }
    return clicked;
}

}  // namespace headlight

// The parameters of a model, a row for each kind.
#include <algorithm>

#include "base/cast.h"
#include "views/architecture.h"

namespace headlight {

/// Whole words from the beginning: "attention norm" is not "attention norms of q and k".
bool stands_for(const Block& b, const ParameterRow& row) {
    return std::any_of(b.rows.begin(), b.rows.end(), [&](const std::string& begin) {
        return !begin.empty() && row.block.rfind(begin, 0) == 0 &&
               (row.block.size() == begin.size() || row.block[begin.size()] == ' ' ||
                row.block[begin.size()] == ',');
    });
}

void draw_parameters(Scene& s, Rect area, const ModelConfig& c, const std::vector<ParameterRow>& table,
                     const Block* pointed) {
    Ui& ui = s.ui;
    float y = area.y + 16;
    const float each = area.right() - 176, times = area.right() - 116, total = area.right();
    ui.text.draw(area.x, y, kCaption, ui.colors->t2, "parameters of");
    if (each - 80 > area.x + 206) ui.text.draw(area.x + 206, y, kCaption, ui.colors->t2, "shape");
    ui.text.draw_right(each, y, kCaption, ui.colors->t2, "each");
    ui.text.draw_right(times, y, kCaption, ui.colors->t2, "times");
    ui.text.draw_right(total, y, kCaption, ui.colors->t2, "total");
    ui.fill({area.x, y + 16, area.w, ui.line()}, ui.colors->l2);
    y += 34;
    const float row_h = std::clamp((area.h - 100) / float(table.size()), 20.0f, 28.0f);
    for (const ParameterRow& row : table) {
        const bool on = pointed && stands_for(*pointed, row);
        if (on) ui.fill({area.x - 8, y - row_h / 2, area.w + 16, row_h}, ui.colors->bg3, size::corner);
        ui.text.draw(area.x, y, kCaption, on ? ui.colors->t1 : ui.colors->t2,
                     ui.text.fitted(kCaption, row.block, 198));
        const float room = each - 80 - area.x - 206;
        if (room > 40)
            ui.text.draw(area.x + 206, y, kCaptionMono, ui.colors->t3,
                         ui.text.fitted(kCaptionMono, row.shape, room));
        ui.text.draw_right(each, y, kCaptionMono, ui.colors->t2, short_count(row.each));
        ui.text.draw_right(times, y, kCaptionMono, ui.colors->t3, std::to_string(row.count));
        ui.text.draw_right(total, y, kCaptionMono, ui.colors->t1, short_count(row.each * row.count));
        y += row_h;
    }
    ui.fill({area.x, y - row_h / 2 + 6, area.w, ui.line()}, ui.colors->l2);
    y += 16;
    ui.text.draw(area.x, y, kBody, ui.colors->t2, "total");
    std::string exact = std::to_string(parameter_count(c));
    for (int at = isize(exact) - 3; at > 0; at -= 3) exact.insert(at, ",");
    ui.text.draw_right(total, y, kBodyMono, ui.colors->accent_text, exact);
}

}  // namespace headlight

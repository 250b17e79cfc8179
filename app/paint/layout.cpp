#include "paint/layout.h"

namespace headlight {

/// Clips the line by each pair of sides (Liang, Barsky 1984).
bool crosses(const Rect& r, ImVec2 from, ImVec2 to) {
    float begin = 0, end = 1;
    const auto cut = [&](float start, float step, float low, float high) {
        if (step == 0) return start > low && start < high;
        const float a = (low - start) / step, b = (high - start) / step;
        begin = std::max(begin, std::min(a, b));
        end = std::min(end, std::max(a, b));
        return begin < end;
    };
    return cut(from.x, to.x - from.x, r.x, r.right()) && cut(from.y, to.y - from.y, r.y, r.bottom());
}

float write(Ui& ui, Rect r, Font font, ImU32 ink, const std::string& text, Flush flush) {
    constexpr float kAlmost = 0.5f;  // rounding error of sums of widths
    if (r.w <= 0) return 0;
    TextPainter& painter = ui.text;
    TextPainter::Measured m = painter.measure(font, text);
    std::string cut;
    if (painter.points(m) > r.w + kAlmost) {
        cut = painter.fitted(font, text, r.w + kAlmost);
        m = painter.measure(font, cut);
    }
    const float wide = painter.points(m), x = flush == Flush::right    ? r.right() - wide
                                              : flush == Flush::center ? r.middle_x() - wide / 2
                                                                       : r.x;
    return painter.draw(x, r.middle_y(), font, ink, cut.empty() ? text : cut, m);
}

std::string first_that_fits(Ui& ui, Font font, const std::vector<std::string>& ways, float room) {
    for (const std::string& way : ways)
        if (ui.text.width(font, way) <= room) return way;
    return ways.back();
}

void caption(Ui& ui, Rect line, const std::string& text, Flush flush) {
    write(ui, line, kCaption, ui.colors->t3, text, flush);
}

float caption_lines(Ui& ui, Rect r, const std::string& text) {
    return ui.text.draw_wrapped(r.x, r.y, r.w, kCaption, ui.colors->t3, text);
}

float widest_of(Ui& ui, Font font, const std::vector<std::string>& texts, float max) {
    float widest = 0;
    for (const std::string& text : texts) widest = std::max(widest, ui.text.width(font, text));
    return std::min(widest, max);
}

void Column::heading(const std::string& text, const std::string& right) {
    const float room = at.w - (right.empty() ? 0 : ui.text.width(kCaption, right) + gap::medium);
    ui.text.draw(at.x, y, kCaption, ui.colors->t3, ui.text.fitted(kCaption, text, room));
    if (!right.empty()) {
        Rect named = line();
        ui.explain("number/" + right, take_right(named, ui.text.width(kCaption, right)));
        ui.text.draw_right(at.right(), y, kCaption, ui.colors->t3, right);
    }
    skip(26);
}

void Column::pair(const std::string& label, const std::string& value, Pair look) {
    const Font font = look == Pair::large ? kTitleMono
                      : small             ? kCaptionMono
                                          : kBodyMono,
               name = small ? kCaption : kBody;
    ui.explain("number/" + label, line());
    ui.text.draw(at.x, y, name, ui.colors->t2,
                 ui.text.fitted(name, label, at.w - ui.text.width(font, value) - gap::small));
    ui.text.draw_right(at.right(), y, font, look == Pair::plain ? ui.colors->t1 : ui.colors->accent_text,
                       value);
    skip(pair_step);
}

void Column::bar(const BarLine& line, float step) {
    constexpr float kThreeDigits = 24;
    const float index = std::max(kThreeDigits, ui.text.width(kCaptionMono, line.index)),
                label = line.index.empty() ? 0 : index + gap::small;
    const ImU32 ink = line.on ? ui.colors->accent_text : ui.colors->t2;
    if (!line.index.empty()) ui.text.draw_right(at.x + index, y, kCaptionMono, ui.colors->t3, line.index);
    const float value = ui.text.width(kBodyMono, line.value);
    ui.text.draw(at.x + label, y, kBodyMono, line.on ? ink : ui.colors->t1,
                 ui.text.fitted(kBodyMono, line.label, std::min(bars, at.w - value) - label - gap::tight));
    const Rect track{at.x + bars, y - 4, at.w - bars - values, 8};
    if (line.is_signed)
        ui.signed_bar(track, line.share);
    else
        ui.bar(track, line.share, line.on ? ui.colors->accent : ui.colors->t3);
    ui.text.draw_right(at.right(), y, kBodyMono, ink, line.value);
    skip(step);
}

void Column::note(const std::string& text) {
    y += ui.text.draw_wrapped(at.x, y - gap::small, at.w, kCaption, ui.colors->t3, text);
}

void Column::rule() {
    ui.hairline(at.x, y, at.right(), y);
    skip(22);
}

}  // namespace headlight

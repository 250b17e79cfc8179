#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/parts.h"
#include "views/steps.h"

namespace headlight {

namespace {

constexpr float kNumberRow = 18, kNumberGroup = 230;

Strip strip(std::string name, Vector values, const std::string& sign, bool query = false) {
    const double shown = sign == "Σ" ? values.sum() : values.norm();
    return {std::move(name), sign, decimals(shown, 2), std::move(values), query};
}

std::string heading(const Scene& s, const Found<StepsWanted>& found, int key) {
    const std::string query = token_at(s.query_labels(), found.asked.query),
                      at = token_at(s.key_labels(), key);
    if (s.of<StepsState>().column < StepColumn::weight) return "q·k of " + query + " and " + at;
    if (s.of<StepsState>().column == StepColumn::delta)
        return "ΔE of " + query + ": z through the output matrix";
    return "Weighted value of " + at + " for " + query;
}

/// The dimension under the mouse, lit in every strip.
void draw_strip(Scene& s, const Strip& strip, Rect r, const std::string& path, int& dimension) {
    Ui& ui = s.ui;
    const auto n = isize(strip.values);
    const float w = r.w / float(n), gap = w >= 6 ? 1 : 0,
                largest = std::max(strip.values.cwiseAbs().maxCoeff(), 1e-12f);
    for (int d = 0; d < n; ++d)
        ui.fill({r.x + w * float(d), r.y, std::max(w - gap, 0.5f), r.h},
                signed_color(ui.colors->dark, strip.values[d] / largest));
    const Hit h = ui.hit(path, r);
    if (h.hovered) dimension = std::clamp(int((h.mouse.x - r.x) / w), 0, n - 1);
    if (h.clicked) s.of<StepsState>().strips.open = !s.of<StepsState>().strips.open;
}

void draw_numbers(Scene& s, Rect area, const std::vector<Strip>& strips) {
    Ui& ui = s.ui;
    const auto n = isize(strips.back().values), groups = std::max(1, int(area.w / kNumberGroup)),
               rows = (n + groups - 1) / groups;
    const float wide = area.w / float(groups), pitch = kNumberRow,
                column = (wide - 40) / float(strips.size());
    ui.clip({area.x, area.y - 20, area.w, area.h + 20});
    s.of<StepsState>().strips.scroll =
        scrolled(ui, area, pitch * float(rows), s.of<StepsState>().strips.scroll);
    for (int g = 0; g < groups; ++g)
        for (size_t c = 0; c < strips.size(); ++c)
            ui.text.draw_right(area.x + wide * float(g) + 30 + column * float(c + 1), area.y - 12, kCaption,
                               ui.colors->t3, strips[c].name.substr(0, strips[c].name.find(' ')));
    ui.unclip();
    ui.clip(area);
    for (int d = 0; d < n; ++d) {
        const int group = d / rows;
        const float x = area.x + wide * float(group),
                    y = area.y + pitch * (float(d % rows) + 0.5f) - s.of<StepsState>().strips.scroll;
        if (y < area.y - pitch || y > area.bottom() + pitch) continue;
        ui.text.draw_right(x + 28, y, kCaptionMono, ui.colors->t3, std::to_string(d));
        for (size_t c = 0; c < strips.size(); ++c)
            if (d < strips[c].values.size())
                ui.text.draw_right(x + 30 + column * float(c + 1), y, kCaptionMono, ui.colors->t1,
                                   number(strips[c].values[d], 2));
    }
    ui.unclip();
}

std::string dimension_text(const std::vector<Strip>& strips, int d) {
    const auto at = [&](size_t i) { return decimals(strips[i].values[d], 2); };
    if (strips.size() == 3 && strips[2].name.rfind("q × k", 0) == 0)
        return "dimension " + std::to_string(d) + ":  " + at(0) + " × " + at(1) + " = " + at(2);
    std::string out = "dimension " + std::to_string(d) + ":";
    for (size_t i = 0; i < strips.size(); ++i)
        if (d < strips[i].values.size())
            out += "  " + strips[i].name.substr(0, strips[i].name.find(' ')) + " " + at(i);
    return out;
}

}  // namespace

std::vector<Strip> strips_of(const Scene& s, const Found<StepsWanted>& found, int key) {
    const Trace& trace = *s.sentence()->trace;
    const StepsWanted& w = found.asked;
    const std::string query = token_at(s.query_labels(), w.query), at = token_at(s.key_labels(), key);
    const Vector q = trace.q(w.block, w.head).row(w.query).transpose(),
                 k = trace.k(w.block, w.head).row(key).transpose();
    const Vector v = trace.v(w.block, w.head).row(key).transpose(), &z = found.answer.z;
    if (s.of<StepsState>().column == StepColumn::delta)
        return {strip("z " + query, z, "‖·‖", true), strip("ΔE " + query, found.answer.delta, "‖·‖", true)};
    if (s.of<StepsState>().column >= StepColumn::weight)
        return {strip("v " + at, v, "‖·‖"),
                strip("w·v × " + decimals(found.answer.keys[key].weight, 3),
                      v * found.answer.keys[key].weight, "‖·‖"),
                strip("z " + query, z, "‖·‖", true)};
    return {strip("q " + query, q, "‖·‖", true), strip("k " + at, k, "‖·‖"),
            strip("q × k", q.cwiseProduct(k), "Σ")};
}

void draw_vector_strips(Scene& s, Rect area, const Found<StepsWanted>& found, int key) {
    Ui& ui = s.ui;
    ui.fill(area, ui.colors->bg0);
    ui.hairline(area.x, area.y, area.right(), area.y);
    const auto strips = strips_of(s, found, key);
    const float pad = 24, left = area.x + 128, right = area.right() - 136;
    ui.text.draw(area.x + pad, area.y + 24, kBody, ui.colors->t1,
                 ui.text.fitted(kBody, heading(s, found, key), area.w - 320));
    if (ui.link("steps/numbers", area.right() - pad, area.y + 24,
                s.of<StepsState>().strips.open ? "Strips" : "Numbers", s.of<StepsState>().strips.open))
        s.of<StepsState>().strips.open = !s.of<StepsState>().strips.open;
    if (s.of<StepsState>().strips.open)
        return draw_numbers(s, {area.x + pad, area.y + 68, area.w - 2 * pad, area.h - 80}, strips);
    const float room = area.h - (42 + 32), pitch = room / float(strips.size()),
                high = std::min(36.0f, pitch - 8);
    int dimension = s.of<StepsState>().strips.dimension;
    Index steepest = 0;
    strips.back().values.cwiseAbs().maxCoeff(&steepest);
    for (int i = 0; i < isize(strips); ++i) {
        const Rect r{left, area.y + 44 + pitch * float(i), right - left, high};
        ui.text.draw(area.x + pad, r.middle_y(), kCaptionMono,
                     strips[i].query ? ui.colors->accent_text : ui.colors->t1,
                     ui.text.fitted(kCaptionMono, strips[i].name, left - area.x - pad - 8));
        draw_strip(s, strips[i], r, "steps/strip/" + std::to_string(i), dimension);
        const ImU32 ink = i + 1 == isize(strips) ? ui.colors->accent_text : ui.colors->t2;
        ui.text.draw_right(area.right() - pad, r.middle_y(), kCaptionMono, ink, strips[i].measure);
        ui.text.draw_right(area.right() - pad - ui.text.width(kCaptionMono, strips[i].measure) - 8,
                           r.middle_y(), kCaption, ink, strips[i].sign);
    }
    s.of<StepsState>().strips.dimension = dimension;
    const auto n = isize(strips[0].values);
    const int shown = dimension >= 0 && dimension < n ? dimension : std::min(narrow<int>(steepest), n - 1);
    const float w = (right - left) / float(n);
    for (int i = 0; i < isize(strips); ++i)
        if (strips[i].values.size() == n)
            ui.frame({left + w * float(shown) - 1, area.y + 43 + pitch * float(i), std::max(w, 3.0f) + 1,
                      high + 2},
                     ui.colors->hover, 1);
    const float y = area.bottom() - 18;
    const float said = ui.text.draw(left, y, kCaptionMono, ui.colors->t2, dimension_text(strips, shown));
    const std::string note = "each strip normalized";
    if (left + said + 300 > area.right()) return;
    const float note_x = area.right() - pad - ui.text.width(kCaption, note);
    ui.text.draw(note_x, y, kCaption, ui.colors->t3, note);
    ui.gradient({note_x - 92, y - 4, 60, 8}, signed_colormap(ui.colors->dark));
    ui.text.draw_right(note_x - 96, y, kCaptionMono, ui.colors->t2, "−");
    ui.text.draw(note_x - 28, y, kCaptionMono, ui.colors->t2, "+");
}

}  // namespace headlight

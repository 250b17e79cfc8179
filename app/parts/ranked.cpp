// Draws values of all heads: as ranked rows, and as a layer × head grid.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "paint/matrix.h"
#include "parts/controls.h"
#include "parts/head_tags.h"
#include "parts/token_axis.h"

namespace headlight {

namespace {

constexpr float kStackNames = 72, kBlockNumbers = 28, kWidestValue = 160, kHighestValue = 96, kValue = 52,
                kSignedValue = 72, kLeastHeadName = 36, kBeforeBar = 8;

struct RankedState {
    float scroll = 0;
};

float largest_of(const std::vector<float>& values) {
    float largest = 1e-6f;
    for (const float v : values) largest = std::isnan(v) ? largest : std::max(largest, std::abs(v));
    return largest;
}

std::string value_text(float v, bool is_signed, int digits) {
    return is_signed ? signed_number(v, digits) : fine_number(v, digits);
}

/// The number of decimals that fits numbers up to the largest.
int digits_up_to(float largest) { return largest >= 1000 ? 1 : largest >= 100 ? 2 : 3; }

/// The room for values: more for "11.412" and "1.4e−5".
float width_of_values(Ui& ui, const RankedHeads& heads, float largest) {
    if (heads.is_signed) return kSignedValue;
    const bool tiny = std::any_of(heads.values.begin(), heads.values.end(),
                                  [](float v) { return v > kNoise && v < 1e-3f; });
    return largest >= 10 || tiny ? std::max(kValue, ui.text.width(kBodyMono, "0.0e−0") + 1) : kValue;
}

void draw_row(Scene& s, Rect r, float names, const std::string& name, float wide, int number, float largest,
              const RankedHeads& heads, bool chosen, bool hovered) {
    const float value = heads.values[number];
    Ui& ui = s.ui;
    const bool amber = chosen && heads.amber;
    if (chosen || hovered) ui.fill(r, amber ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
    Rect rest = inset(r, gap::small, 0);
    const auto columns = heads.beside ? heads.beside(number) : std::vector<std::string>();
    for (auto text = columns.rbegin(); text != columns.rend(); ++text)
        write(ui, take_right(rest, heads.beside_width), kCaptionMono, ui.colors->t2, *text, Flush::right);
    write(ui, take_left(rest, names), kBodyMono, amber ? ui.colors->accent_text : ui.colors->t1, name);
    write(ui, take_right(rest, wide), kBodyMono, amber ? ui.colors->accent_text : ui.colors->t2,
          value_text(value, heads.is_signed, digits_up_to(largest)), Flush::right);
    if (heads.tag) {
        const Rect room = take_left(rest, row_tag_width(rest.w), kBeforeBar);
        if (const auto tag = heads.tag(number))
            draw_row_tag(s, room, *tag, amber ? ui.colors->accent_text : ui.colors->t2);
    }
    if (std::isnan(value) || std::abs(value) < kNoise) return;
    const Rect bar = band(rest, size::bar);
    if (heads.is_signed)
        ui.signed_bar(bar, value / largest);
    else
        ui.bar(bar, value / largest, amber ? ui.colors->accent : chosen ? ui.colors->t1 : ui.colors->t3);
}

/// Previews the head after the mouse rests on its row; moving to another row previews at once.
void preview(Scene& s, const std::string& path, const Hit& h, std::pair<int, int> head) {
    constexpr float kRest = 0.15f;  // seconds
    const bool rests = s.ui.rests(path, h, kRest);
    if (rests || s.session.selection.hovered.preview) s.pointed.preview = head;
}

}  // namespace

std::optional<std::pair<int, int>> draw_ranked(Scene& s, Rect area, const ModelConfig& c,
                                               const RankedHeads& heads) {
    Ui& ui = s.ui;
    std::optional<std::pair<int, int>> pressed;
    float names = kLeastHeadName;
    for (int block = 0; block < c.blocks(); ++block)
        names =
            std::max(names, ui.text.width(kBodyMono, head_name(c, block, c.heads(block) - 1)) + gap::small);
    const float largest = largest_of(heads.values), row_h = area.h < 480 ? size::row_low : size::row;
    Rect rows = inset(area, -gap::small, 0);
    s.of<RankedState>().scroll =
        scrolled(ui, rows, row_h * float(heads.order.size()), s.of<RankedState>().scroll);
    ui.clip(rows);
    const float wide = width_of_values(ui, heads, largest);
    for (int i = 0; i < isize(heads.order); ++i) {
        const Rect r{rows.x, rows.y + row_h * float(i) - s.of<RankedState>().scroll, rows.w, row_h};
        if (r.bottom() < rows.y || r.bottom() > rows.bottom() + 1) continue;
        const AttentionHead at = c.head_at(heads.order[i]);
        const std::pair head{at.block, at.head};
        const std::string name = head_name(c, head.first, head.second);
        const Hit h = ui.hit(heads.path + name, r);
        draw_row(s, r, names, name, wide, heads.order[i], largest, heads, heads.chosen == head, h.hovered);
        if (h.hovered) s.pointed.head = head;
        if (heads.previews && h.hovered) preview(s, heads.path + name, h, head);
        ui.tooltip(heads.path + name, h, heads.detail ? heads.detail(heads.order[i]) : head_legend(c, at));
        if (h.clicked) pressed = head;
    }
    ui.unclip();
    return pressed;
}

namespace {

/// Blocks down, heads across.
Grid head_grid(Ui& ui, Rect area, const ModelConfig& c) {
    take_left(area, c.stacks.size() > 1 ? kStackNames : kBlockNumbers);
    take_top(area, kPlainNames);
    const float w = ui.whole(std::min(area.w / float(c.max_heads()), kWidestValue)),
                h = ui.whole(
                    std::min({area.h / float(c.blocks()), kHighestValue, std::max(w * 0.6f, size::line)}));
    return grid_at(area.min(), c.blocks(), c.max_heads(), w, h);
}

void name_heads(Ui& ui, const Grid& g, const ModelConfig& c) {
    const auto faint = [&](int) { return ui.colors->t3; };
    TokenAxis heads{index_name};
    heads.ink = faint;
    heads.draw_columns(ui, g);
    TokenAxis blocks{[&](int block) { return block_name(c, block); }};
    blocks.ink = faint;
    blocks.room = c.stacks.size() > 1 ? kStackNames : kBlockNumbers;
    blocks.draw_rows(ui, g);
}

/// The value, or a bound of a small one that is too long: "1.2e-4" → "<.001".
std::string value_that_fits(Ui& ui, float v, bool is_signed, int digits, float room) {
    std::string text = value_text(v, is_signed, digits);
    if (ui.text.width(kCaptionMono, text) < room || is_signed || v * std::pow(10.0f, float(digits)) >= 1)
        return text;
    return "<." + std::string(size_t(digits) - 1, '0') + "1";
}

/// Draws the cells, with values if they fit.
void draw_values(Scene& s, const Grid& g, const ModelConfig& c, const HeadValues& heads) {
    Ui& ui = s.ui;
    const float largest = largest_of(heads.values);
    Matrix values = Matrix::Constant(g.rows, g.columns, std::numeric_limits<float>::quiet_NaN());
    for (int i = 0; i < c.head_count(); ++i) {
        const AttentionHead at = c.head_at(i);
        values(at.block, at.head) = heads.values[i];
        if (std::isnan(heads.values[i])) ui.fill(g.cell(at.block, at.head), ui.colors->bg2);
        ui.name(heads.path + head_name(c, at.block, at.head), g.cell(at.block, at.head));
    }
    const Colormap& map = heads.is_signed ? signed_colormap(ui.colors->dark)
                                          : colormap(s.session.preferences.colormap, ui.colors->dark);
    const Matrix places = heads.is_signed ? signed_places_of(values, largest) : Matrix(values / largest);
    draw_matrix(ui, g.whole(), {places, map, heads.is_signed});
    const bool wide = g.w > ui.text.width(kCaptionMono, value_text(largest, heads.is_signed, 3)) + gap::close;
    for (Index block = 0; block < values.rows() && g.h >= 18; ++block)
        for (Index head = 0; head < values.cols(); ++head) {
            if (std::isnan(values(block, head))) continue;
            const float room = g.w - gap::close;
            const std::string text =
                value_that_fits(ui, values(block, head), heads.is_signed, wide ? 3 : 2, room);
            if (ui.text.width(kCaptionMono, text) >= room) continue;
            write(ui, g.cell(int(block), int(head)), kCaptionMono, ink_on(color_at(map, places(block, head))),
                  text, Flush::center);
        }
}

}  // namespace

float width_of_head_values(Ui& ui, const ModelConfig& c, int digits) {
    const float cell =
        std::ceil(ui.text.width(kCaptionMono, value_text(0.5f, false, digits)) + gap::close) + 1;
    return (c.stacks.size() > 1 ? kStackNames : kBlockNumbers) + cell * float(c.max_heads());
}

std::optional<std::pair<int, int>> draw_head_values(Scene& s, Rect area, const ModelConfig& c,
                                                    const HeadValues& heads) {
    Ui& ui = s.ui;
    if (isize(heads.values) != c.head_count()) return std::nullopt;
    const Grid g = head_grid(ui, area, c);
    if (std::min(g.w, g.h) < 3) return std::nullopt;
    name_heads(ui, g, c);
    draw_values(s, g, c, heads);
    const auto outlined = [&](std::pair<int, int> head, ImU32 ink, float width) {
        const Rect cell = g.cell(head.first, head.second);
        const float between = cell_gap(ui, g.w, g.h);
        ui.frame({cell.x, cell.y, cell.w - between, cell.h - between}, ink, width);
    };
    if (const auto& at = s.session.selection; c.has_head({at.block, at.head}))
        outlined({at.block, at.head}, ui.colors->accent, 2);
    const std::string path = std::string(heads.path) + "all";
    const Hit hit = ui.hit(path, g.view);
    const std::pair head = g.at(hit.mouse);
    if (!hit.hovered || !c.has_head({head.first, head.second})) return std::nullopt;
    outlined(head, ui.colors->hover, 1);
    s.pointed.head = head;
    const int at = c.head_index({head.first, head.second});
    ui.tooltip(path, hit,
               "Head " + head_name(c, head.first, head.second) + ": " +
                   (heads.detail ? heads.detail(at) : value_text(heads.values[at], heads.is_signed, 4)));
    return hit.clicked ? std::optional(head) : std::nullopt;
}

}  // namespace headlight

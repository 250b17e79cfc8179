#include "parts/controls.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/cast.h"
#include "parts/token_axis.h"
#include "parts/view.h"

namespace headlight {

namespace {
constexpr float kBaseline = 2;  // offset that puts small text on the title's baseline

bool is_negligible(float change) { return std::abs(change) < 0.0005f; }
}  // namespace

std::string points_text(float change) {
    return is_negligible(change) ? "0.0" : (change > 0 ? "+" : "") + number(100 * change, 1);
}
ImU32 change_ink(const Ui& ui, float change) {
    return is_negligible(change) ? ui.colors->t3 : change < 0 ? ui.colors->minus : ui.colors->plus;
}

void tooltip_without_inspector(const Scene& s, const std::string& path, const Hit& h,
                               const std::string& text) {
    if (s.ui.on_page() ? !s.ui.probe : s.of<InspectorState>().open) return;
    s.ui.tooltip(path + "/" + text, h, text, 0);
    if (h.hovered) s.ui.name(path + "/told", {h.mouse.x, h.mouse.y, 1, 1});
}

void cell_tooltip(const Scene& s, const std::string& path, const Hit& h, std::pair<int, int> cell) {
    if (!s.holds(cell)) return;
    const float weight = s.answer->picture->at(cell.first, cell.second);
    const std::string text = s.is_mixing() ? signed_number(weight, 3) : fine_number(weight, 3);
    tooltip_without_inspector(s, path, h,
                              token_at(s.query_labels(), cell.first) + " → " +
                                  token_at(s.key_labels(), cell.second) + "  " +
                                  (is_masked(weight) ? "masked" : text));
}

ImU32 color_at(const Colormap& map, float place) {
    const Rgb c = color_of(map, place);
    return IM_COL32(c.r, c.g, c.b, 255);
}

ImU32 signed_color(bool dark, float place) { return color_at(signed_colormap(dark), 0.5f + 0.5f * place); }

ImU32 ink_on(ImU32 back) {
    const auto channel = [&](int shift) { return float((back >> shift) & 255); };
    const float light = 0.2126f * channel(IM_COL32_R_SHIFT) + 0.7152f * channel(IM_COL32_G_SHIFT) +
                        0.0722f * channel(IM_COL32_B_SHIFT);
    return light > 110 ? IM_COL32(12, 14, 17, 255) : IM_COL32_WHITE;
}

ImU32 faded(ImU32 color, float alpha) {
    return (color & ~IM_COL32_A_MASK) |
           (static_cast<ImU32>(std::clamp(alpha, 0.0f, 1.0f) * 255) << IM_COL32_A_SHIFT);
}

ImU32 head_ink(const Scene& s, int head, float alpha) {
    const Rgb c = head_color(head, s.model()->config.max_heads(), s.ui.colors->dark);
    return faded(IM_COL32(c.r, c.g, c.b, 255), alpha);
}

GridDraw thumbnail_grid(const Scene& s, float side) {
    GridDraw d;
    d.style = {s.colors,
               s.pictures.largest,
               s.session.preferences.queries,
               as_vec4(s.ui.colors->bg1),
               as_vec4(s.ui.colors->hatch),
               6 * s.ui.scale};
    d.side = side * s.ui.scale;
    d.atlas = s.pictures.thumbnails.at(d.side);
    d.heads = s.model()->config.max_heads();
    d.signed_colors = s.ui.heat->texture_of(signed_colormap(s.ui.colors->dark));
    return d;
}

SinkRoom sink_room(const Scene& s, float side) {
    constexpr float kShare = 0.08f, kLeast = 2, kWidest = 10, kRoomy = 44;
    if (!s.sentence() || !s.pictures.thumbnails.has_sinks()) return {};
    return {std::max(1 / s.ui.scale, s.ui.whole(std::clamp(side * kShare, kLeast, kWidest))),
            side < kRoomy ? s.ui.line() : 2 * s.ui.line(), s.session.preferences.queries == Axis::columns};
}

void add_sinks(const Scene& s, const SinkRoom& room, GridDraw& d) {
    d.sink = room.bar * s.ui.scale;
    d.apart = room.apart * s.ui.scale;
}

void draw_head_names(Scene& s, const Grid& grid, float room,
                     const std::function<std::string(int)>& layer_name, int first) {
    const int lit = s.session.selection.block - first;
    TokenAxis heads{index_name};
    heads.ink = [&](int) { return s.ui.colors->t2; };
    heads.snug = true;
    heads.lit = lit >= 0 && lit < grid.rows ? s.session.selection.head : -1;
    heads.draw_columns(s.ui, grid);
    TokenAxis layers{[&](int row) { return layer_name(first + row); }};
    layers.ink = heads.ink;
    layers.room = room;
    layers.snug = true;
    layers.lit = lit;
    layers.draw_rows(s.ui, grid);
}

float scrolled(Ui& ui, Rect area, float content, float offset, float turn) {
    const float max = std::max(0.0f, content - area.h);
    constexpr float kThumb = 4, kLeastThumb = 24;
    offset = std::clamp(offset - ui.take_wheel(area) * turn, 0.0f, max);
    if (max > 0 && !ui.on_page()) {
        const float high = std::max(kLeastThumb, area.h * area.h / content);
        take_right(area, 2);
        const Rect track = take_right(area, kThumb);
        ui.fill({track.x, track.y + (track.h - high) * offset / max, kThumb, high}, ui.colors->bg4, 2);
    }
    return offset;
}

void scrolled(Ui& ui, Rect area, float content, Viewport& seen) {
    seen.wide = area.w;
    seen.high = area.h;
    seen.y = scrolled(ui, area, content, seen.y, seen.down);
}

void scrolled_across(Ui& ui, Rect area, float content, Viewport& seen) {
    seen.wide = area.w;
    const bool ours = area.contains(ui.mouse);
    const float sideways = ours ? std::exchange(ui.wheel_x, 0.0f) : 0;
    seen.x -= (sideways + (ui.shift ? ui.take_wheel(area) : 0)) * seen.across;
    seen.x = std::clamp(seen.x, 0.0f, std::max(0.0f, content - area.w));
}

void enlarged(Ui& ui, Rect area, Viewport& seen) {
    if (const float turn = ui.take_wheel(area); turn != 0)
        seen.zoom_to(seen.zoom * std::pow(kEnlargedByStep, turn), ui.mouse.x - area.x, ui.mouse.y - area.y);
}

float scrolled_to(float offset, float top, float bottom, float height) {
    return std::min(top, std::max(offset, bottom - height));
}

std::vector<std::string> share_words() {
    std::vector<std::string> out;
    for (const float share : kShares) out.push_back(decimals(100 * share, 0));
    return out;
}

void choose_share(Toolbar& bar, const char* label, const char* path, float& share) {
    std::vector<std::string> items;
    for (const std::string& percent : share_words()) items.push_back("top " + percent + " % of each row");
    const auto now = std::find(kShares.begin(), kShares.end(), share);
    const auto current = now == kShares.end() ? 0 : narrow<int>(now - kShares.begin());
    if (const int c = bar.choice(label, path, items, current); c >= 0) share = kShares[c];
}

float cutoff_weight(std::vector<float>& weights, size_t max) {
    if (weights.size() <= max) return 0;
    const auto last = weights.begin() + std::ptrdiff_t(max) - 1;
    std::nth_element(weights.begin(), last, weights.end(), std::greater<>());
    return *last;
}

Toolbar view_toolbar(Ui& ui, Rect& rest) {
    return {ui, inset(take_top(rest, size::view_header), size::center_pad, 0)};
}

namespace {

constexpr const char* kOverPrompts = "Average over prompts…";

}  // namespace

void press_over_prompts(const Scene& s, Rect r, const char* of) {
    if (!s.ui.button("prompts/open", r, kOverPrompts)) return;
    s.send("prompts of", of);
    s.send("view prompts");
}

void press_over_prompts(const Scene& s, Toolbar& bar, const char* of) {
    const float wide = s.ui.text.width(kBody, kOverPrompts) + 2 * gap::medium;
    if (wide <= bar.rest().w) press_over_prompts(s, band(bar.take(wide), size::chip), of);
}

bool press_cross(Ui& ui, const std::string& path, Rect& line) {
    constexpr float kArm = 4;
    const Rect r = band(take_right(line, size::row_low, gap::small), size::row_low);
    const Hit h = ui.control(path, r);
    if (h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
    ui.cross(r.middle(), kArm, h.hovered ? ui.colors->t1 : ui.colors->t2);
    return h.clicked;
}

Toolbar title_toolbar(Scene& s, Rect& rest, const std::string& path, const std::string& title) {
    constexpr float kBeforeTitle = 26, kAfterTitle = 10;
    Ui& ui = s.ui;
    const Rect line = take_top(rest, size::title_bar, 1);
    ui.hairline(line.x, line.bottom(), line.right(), line.bottom());
    Toolbar bar(ui, {line.x + gap::small, line.y, line.w - gap::small - gap::large, line.h});
    Rect r = band(bar.take(kBeforeTitle + ui.text.width(kTitle, title) + kAfterTitle, gap::tight), 36);
    const Hit back = ui.control(path, r);
    const ImU32 ink = back.hovered ? ui.colors->accent_text : ui.colors->t1;
    const Rect chevron = square_at(take_left(r, kBeforeTitle).middle(), 10);
    ui.polyline(std::array<ImVec2, 3>{{{chevron.middle_x() + 2, chevron.y},
                                       {chevron.middle_x() - 3, chevron.middle_y()},
                                       {chevron.middle_x() + 2, chevron.bottom()}}},
                ink, 1.5f);
    write(ui, r, kTitle, ink, title);
    ui.tooltip(path, back, "Back (Esc)");
    if (back.clicked) s.send("back");
    return bar;
}

std::string token_at(const std::vector<std::string>& labels, int position) {
    return labels[position] + " " + std::to_string(position);
}

void draw_token_row(Ui& ui, Rect line, const std::vector<std::string>& tokens, ImU32 ink) {
    for (const std::string& token : tokens) {
        const Chip chip{token, ink, ui.colors->bg2};
        const float w = chip_width(ui, chip);
        if (w > line.w) break;
        draw_chip(ui, band(take_left(line, w, gap::close), size::chip), chip);
    }
}

const char* reason_shown(const Scene& s, int query) {
    if (s.session.selection.hovered.cell) return "hover";
    if (s.session.selection.locked) return "locked";
    if (query + 1 == s.queries()) return "last token";
    const auto& picture = s.sentence()->trace->request.inputs[0].picture;
    if (picture && picture->grid.has(query)) return "first patch";
    return s.model()->config.can.read_image ? "class token" : "masked token";
}

Rect list_heading(Ui& ui, Rect area, const std::string& title, const std::string& right) {
    take_top(area, 0, gap::medium);
    const Rect line = take_top(area, size::line, gap::small + 2);
    Rect name = line;
    if (!right.empty()) take_right(name, ui.text.width(kCaption, right), gap::medium);
    caption(ui, name, title);
    caption(ui, line, right, Flush::right);
    const bool counts =
        !right.empty() && right[0] >= '0' && right[0] <= '9';  // "8 of 8" needs no explanation
    if (!right.empty() && !counts) ui.explain("number/" + right, line);
    return area;
}

Rect inspector_line(Ui& ui, Rect area) {
    const Rect head = take_top(area, size::view_header);
    ui.hairline(head.x, head.bottom(), head.right(), head.bottom());
    ui.name("inspector/title", head);
    return beside_title(inset(head, size::inspector_pad, 0));
}

Rect beside_title(Rect line) { return {line.x, line.y + kBaseline, line.w, line.h}; }

float write_reason(Scene& s, Rect line, int query) {
    const auto& selection = s.session.selection;
    const bool locked = selection.locked && !selection.hovered.cell;
    return write(s.ui, beside_title(line), kCaption, locked ? s.ui.colors->accent_text : s.ui.colors->t3,
                 reason_shown(s, query), Flush::right);
}

void draw_inspector_title(Scene& s, Rect area, const std::string& query, const std::string& rest) {
    constexpr float kApart = 10;
    Ui& ui = s.ui;
    Rect line = inspector_line(ui, area);
    const auto cell = s.shown_cell();
    take_right(line, write_reason(s, line, cell ? cell->first : 0), gap::large);
    const bool large = ui.text.width(kTitleMono, query) + kApart + ui.text.width(kTitle, rest) <= line.w;
    const Font left = large ? kTitleMono : kBodyMono, right = large ? kTitle : kBody;
    Rect first = line;
    take_right(first, ui.text.width(right, rest), kApart);
    take_left(line, write(ui, first, left, ui.colors->accent_text, query), kApart);
    write(ui, line, right, ui.colors->t1, rest);
}

bool LabelPlacer::is_free(const Rect& r) const {
    constexpr float kLetters = 3;  // height of ascenders and descenders, which lines may cross
    const bool inside =
        r.x >= frame_.x && r.right() <= frame_.right() && r.y >= frame_.y && r.bottom() <= frame_.bottom();
    const Rect letters = inset(r, 0, kLetters);
    return inside &&
           std::none_of(taken_.begin(), taken_.end(), [&](const Rect& t) { return overlap(t, r); }) &&
           std::none_of(lines_.begin(), lines_.end(),
                        [&](const auto& line) { return crosses(letters, line.first, line.second); });
}

void LabelPlacer::draw(Ui& ui, ImVec2 from, ImVec2 at, const std::string& label, ImU32 ink, bool always) {
    constexpr size_t kMaxLabels = 60;
    constexpr float kHigh = 16, kBeside = 8, kOver = 14;
    if (taken_.size() >= kMaxLabels && !always) return;
    const float w = ui.text.width(kCaptionMono, label);
    const ImVec2 right{kBeside, 0}, left{-kBeside - w, 0}, above{-w / 2, -kOver}, below{-w / 2, kOver};
    const bool leftwards = at.x < from.x, upwards = at.y < from.y;
    std::optional<Rect> first, place;
    for (const ImVec2 shift : {leftwards ? left : right, upwards ? above : below, leftwards ? right : left,
                               upwards ? below : above, ImVec2{kBeside, -kOver}, ImVec2{kBeside, kOver},
                               ImVec2{-kBeside - w, -kOver}, ImVec2{-kBeside - w, kOver}}) {
        Rect r{at.x + shift.x, at.y + shift.y - kHigh / 2, w, kHigh};
        if (always) r.x = between(r.x, frame_.x + gap::tight, frame_.right() - w - gap::tight);
        if (!first) first = r;
        if (!place && is_free(r)) place = r;
    }
    if (!place && !always) return;
    const Rect r = place.value_or(*first);
    taken_.push_back(r);
    ui.text.draw(r.x, r.middle_y(), kCaptionMono, ink, label);
}

void lock_token(Scene& s, int query) {
    s.lock(std::pair{query, s.strongest_key(query)});
    s.leave_text();
}

void draw_cell_title(Scene& s, Rect area, std::pair<int, int> cell) {
    constexpr float kApart = 10;
    Ui& ui = s.ui;
    Rect line = inspector_line(ui, area);
    const std::string query = s.query_labels()[cell.first], key = s.key_labels()[cell.second],
                      i = std::to_string(cell.first), j = std::to_string(cell.second);
    take_right(line, write_reason(s, line, cell.first), gap::large);
    const float room =
        line.w - ui.text.width(kCaptionMono, i + j) - ui.text.width(kTitle, "→") - 2 * kApart - 4;
    const Font font = ui.text.width(kTitleMono, query + key) <= room ? kTitleMono : kBodyMono;
    const auto say = [&](Font of, ImU32 ink, const std::string& text, float apart) {
        const Rect at = of.points == kCaptionMono.points ? beside_title(line) : line;
        take_left(line, write(ui, at, of, ink, text), apart);
    };
    const auto fitted = [&](const std::string& token, const std::string& other) {
        return ui.text.fitted(font, token, room - std::min(room / 2, ui.text.width(font, other)));
    };
    say(font, ui.colors->accent_text, fitted(query, key), 2);
    say(kCaptionMono, ui.colors->accent_text, i, kApart);
    say(kTitle, ui.colors->t3, "→", kApart);
    say(font, ui.colors->t1, fitted(key, query), 2);
    say(kCaptionMono, ui.colors->t3, j, 0);
}

}  // namespace headlight

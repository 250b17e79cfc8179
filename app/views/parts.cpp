#include "views/parts.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/cast.h"
#include "views/views.h"

namespace headlight {

namespace {
bool hardly_any(float change) { return std::abs(change) < 0.0005f; }
}  // namespace

std::string points_text(float change) {
    return hardly_any(change) ? "0.0" : (change > 0 ? "+" : "") + number(100 * change, 1);
}
ImU32 change_ink(const Ui& ui, float change) {
    return hardly_any(change) ? ui.colors->t3 : change < 0 ? ui.colors->minus : ui.colors->plus;
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

GridDraw thumbnail_grid(const Scene& s) {
    GridDraw d;
    d.style = {s.colors,
               s.pictures.largest,
               s.session.preferences.queries,
               as_vec4(s.ui.colors->bg1),
               as_vec4(s.ui.colors->hatch),
               6 * s.ui.scale};
    d.atlas = s.pictures.atlas.id();
    d.t = s.pictures.t;
    d.heads = s.model()->config.max_heads();
    return d;
}

float scrolled(Ui& ui, Rect area, float content, float offset) {
    const float max = std::max(0.0f, content - area.h);
    offset = std::clamp(offset - ui.take_wheel(area) * 60, 0.0f, max);
    if (max > 0 && !ui.on_page()) {
        const float high = std::max(24.0f, area.h * area.h / content);
        ui.fill({area.right() - 6, area.y + (area.h - high) * offset / max, 4, high}, ui.colors->bg4, 2);
    }
    return offset;
}

float scrolled_to(float offset, float top, float bottom, float height) {
    return std::min(top, std::max(offset, bottom - height));
}

std::vector<std::string> share_words() {
    std::vector<std::string> out;
    for (const float share : kShares) out.push_back(decimals(100 * share, 0));
    return out;
}

void choose_share(Ui& ui, float& x, float middle, const char* label, const char* path, float& share) {
    std::vector<std::string> items;
    for (const std::string& percent : share_words()) items.push_back("top " + percent + " % of each row");
    const auto now = std::find(kShares.begin(), kShares.end(), share);
    const auto current = now == kShares.end() ? 0 : narrow<int>(now - kShares.begin());
    if (const int c = ui.choice(x, middle, label, path, items, current); c >= 0) share = kShares[c];
}

float faintest_of(std::vector<float>& weights, size_t max) {
    if (weights.size() <= max) return 0;
    std::nth_element(weights.begin(), weights.begin() + max, weights.end(), std::greater<>());
    return weights[max];
}

float draw_back(Scene& s, Rect area, const std::string& path, const std::string& title) {
    Ui& ui = s.ui;
    const float y = area.y + 26, cx = area.x + 20, left = area.x + 34;
    const Hit back = ui.control(path, {area.x + 8, y - 18, 36 + ui.text.width(kTitle, title), 36});
    const ImU32 ink = back.hovered ? ui.colors->accent_text : ui.colors->t1;
    ui.polyline(std::array<ImVec2, 3>{{{cx + 3, y - 5}, {cx - 2, y}, {cx + 3, y + 5}}}, ink, 1.5f);
    ui.tooltip(path, back, "Back (Esc)");
    if (back.clicked) s.send("back");
    return left + ui.text.draw(left, y, kTitle, ink, title);
}

float draw_token_box(Scene& s, float x, float middle, const std::string& label, bool query) {
    Ui& ui = s.ui;
    const Rect r{x, middle - 14, ui.text.width(kCaptionMono, label) + 16, 28};
    ui.fill(r, query ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
    ui.frame(r, query ? ui.colors->accent : ui.colors->t2, 1, size::corner);
    ui.text.draw(r.x + 8, middle, kCaptionMono, query ? ui.colors->accent_text : ui.colors->t1, label);
    return r.w;
}

std::string token_at(const std::vector<std::string>& labels, int position) {
    return labels[position] + " " + std::to_string(position);
}

float draw_token_row(Ui& ui, float x, float middle, float right, const std::vector<std::string>& tokens,
                     ImU32 ink) {
    for (const std::string& token : tokens) {
        const float w = ui.text.width(kCaptionMono, token) + 16;
        if (x + w > right) break;
        ui.fill({x, middle - 14, w, 28}, ui.colors->bg2, size::corner);
        ui.text.draw(x + 8, middle, kCaptionMono, ink, token);
        x += w + 6;
    }
    return x;
}

const char* why_shown(const Scene& s, int query) {
    if (s.session.selection.hovered.cell) return "hover";
    if (s.session.selection.locked) return "locked";
    if (query + 1 == s.queries()) return "last token";
    return s.model()->config.can.read_image ? "class token" : "masked token";
}

void draw_inspector_title(Scene& s, Rect area, const std::string& query, const std::string& rest) {
    Ui& ui = s.ui;
    const float pad = size::inspector_pad, y = area.y + 26;
    const auto cell = s.shown_cell();
    const char* state = why_shown(s, cell ? cell->first : 0);
    ui.hairline(area.x, area.y + 48, area.right(), area.y + 48);
    const float room = area.w - 2 * pad - ui.text.width(kCaption, state) - 16,
                rest_w = ui.text.width(kTitle, rest) + 10;
    const bool large = ui.text.width(kTitleMono, query) + rest_w <= room;
    const Font left = large ? kTitleMono : kBodyMono, right = large ? kTitle : kBody;
    const float w = ui.text.draw(area.x + pad, y, left, ui.colors->accent_text,
                                 ui.text.fitted(left, query, room - ui.text.width(right, rest) - 10));
    ui.text.draw(area.x + pad + w + 10, y, right, ui.colors->t1, ui.text.fitted(right, rest, room - w));
    ui.text.draw_right(area.right() - pad, y + 2, kCaption,
                       s.session.selection.hovered.cell || !s.session.selection.locked
                           ? ui.colors->t3
                           : ui.colors->accent_text,
                       state);
    ui.name("inspector/title", {area.x, area.y, area.w, 48});
}

void LabelPlacer::draw(Ui& ui, ImVec2 from, ImVec2 at, const std::string& label, ImU32 ink, bool always) {
    constexpr size_t kMaxLabels = 60;
    if (taken_.size() >= kMaxLabels && !always) return;
    const float w = ui.text.width(kCaptionMono, label), h = 16;
    const ImVec2 right{8, 0}, left{-8 - w, 0}, above{-w / 2, -14}, below{-w / 2, 14};
    const bool leftwards = at.x < from.x, upwards = at.y < from.y;
    for (const ImVec2 shift : {leftwards ? left : right, upwards ? above : below, leftwards ? right : left,
                               upwards ? below : above}) {
        Rect r{at.x + shift.x, at.y + shift.y - h / 2, w, h};
        if (always) r.x = std::clamp(r.x, frame_.x + 4, frame_.right() - w - 4);
        const bool inside = r.x >= frame_.x && r.right() <= frame_.right() && r.y >= frame_.y &&
                            r.bottom() <= frame_.bottom();
        const bool free =
            inside && std::none_of(taken_.begin(), taken_.end(), [&](const Rect& t) {
                return t.x < r.right() && r.x < t.right() && t.y < r.bottom() && r.y < t.bottom();
            });
        if (!free && !always) continue;
        taken_.push_back(r);
        ui.text.draw(r.x, r.middle_y(), kCaptionMono, ink, label);
        return;
    }
}

void lock_token(Scene& s, int query) {
    s.lock(std::pair{query, s.heaviest_key(query)});
    s.leave_text();
}

}  // namespace headlight

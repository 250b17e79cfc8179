// All heads as thumbnails: by layer, or in the order of a statistic.
#include <algorithm>
#include <cmath>

#include "views/all_heads.h"

namespace headlight {

namespace {

struct ThumbLayout {
    Rect area;                     // what is seen
    int across = 1, rows = 1;
    ImVec2 pitch;
    float side = 0, scroll = 0, scroll_x = 0;
    bool by_layer = false, captions = false;
    Rect slot(size_t i) const {
        const float x = area.x + pitch.x * static_cast<float>(static_cast<int>(i) % across) - scroll_x, y = area.y + pitch.y * static_cast<float>(static_cast<int>(i) / across) - scroll;
        return {x, y, side, side};
    }
    bool sees(Rect r) const { return r.bottom() >= area.y && r.y <= area.bottom() && r.right() >= area.x && r.x <= area.right(); }
};

/// The largest thumbnails with which all heads are seen at once, within limits; then the zoom.
ThumbLayout arrange(Scene& s, Rect area, size_t heads) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    ThumbLayout l;
    l.by_layer = s.state.heads_layout == HeadsLayout::by_layer;
    float names = 0;
    if (l.by_layer)
        for (int site = 0; site < c.sites(); ++site) names = std::max(names, ui.text.width(kCaptionMono, site_name(c, site)) + ui.px(12));
    l.area = {area.x + ui.px(20) + names, area.y + ui.px(l.by_layer ? 30 : 12), area.w - ui.px(40) - names, area.h - ui.px(l.by_layer ? 40 : 20)};
    const float least = ui.px(l.by_layer ? 26 : 56), most = ui.px(420);
    const auto fits = [&](float pitch) {
        const float caption = pitch >= ui.px(56) ? ui.px(20) : ui.px(4);
        const int across = l.by_layer ? c.heads : std::max(1, static_cast<int>(l.area.w / pitch));
        const int rows = l.by_layer ? c.sites() : static_cast<int>((heads + static_cast<size_t>(across) - 1) / static_cast<size_t>(across));
        return pitch * static_cast<float>(across) <= l.area.w + 1 && (pitch - ui.px(8) + caption) * static_cast<float>(rows) <= l.area.h;
    };
    float pitch = most;
    while (pitch > least && !fits(pitch)) pitch -= 1;
    pitch = std::floor(std::clamp(pitch * s.state.heads_zoom, ui.px(14), ui.px(640)));
    l.captions = pitch >= ui.px(56);
    const float gap = pitch >= ui.px(40) ? ui.px(8) : ui.px(3);
    l.side = pitch - gap;
    l.across = l.by_layer ? c.heads : std::max(1, static_cast<int>(l.area.w / pitch));
    l.rows = static_cast<int>((heads + static_cast<size_t>(l.across) - 1) / static_cast<size_t>(l.across));
    l.pitch = {pitch, l.side + (l.captions ? ui.px(20) : gap)};
    return l;
}

void scroll(Scene& s, ThumbLayout& l) {
    Ui& ui = s.ui;
    if (ui.ctrl)
        if (const float turn = ui.take_wheel(l.area); turn != 0) s.state.heads_zoom = std::clamp(s.state.heads_zoom * std::pow(1.15f, turn), 0.25f, 12.0f);
    const float wide = l.pitch.x * static_cast<float>(l.across) - l.area.w;
    if (ui.shift) s.state.heads_scroll_x -= ui.take_wheel(l.area) * ui.px(60);
    s.state.heads_scroll_x = std::clamp(s.state.heads_scroll_x - ui.wheel_x * ui.px(60), 0.0f, std::max(0.0f, wide));
    s.state.heads_scroll = scrolled(ui, {l.area.x, l.area.y, l.area.w + ui.px(16), l.area.h}, l.pitch.y * static_cast<float>(l.rows), s.state.heads_scroll);
    l.scroll = std::round(s.state.heads_scroll);
    l.scroll_x = std::round(s.state.heads_scroll_x);
}

/// Heads slot by slot.
std::vector<size_t> slot_heads(const ThumbLayout& l, const HeadChoice& choice) {
    if (!l.by_layer) return choice.order;
    std::vector<size_t> out(choice.order.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = i;
    return out;
}

float largest_of(const Scene& s, size_t head) {
    return s.state.heads_scale == 0 ? std::max(1e-6f, s.sentence()->heads[head].thumbnail.maxCoeff()) : s.pictures.largest;
}

void draw_pictures(Scene& s, const ThumbLayout& l, const HeadChoice& choice, const std::vector<size_t>& heads) {
    Ui& ui = s.ui;
    if (ui.on_page()) {
        float largest = 1e-6f;
        for (const HeadSummary& h : s.sentence()->heads) largest = std::max(largest, h.thumbnail.maxCoeff());
        for (size_t i = 0; i < heads.size(); ++i) {
            const HeadSummary& h = s.sentence()->heads[heads[i]];
            ui.draw_thumbnail(l.slot(i), h.thumbnail, s.state.heads_scale == 0 ? h.thumbnail.maxCoeff() : largest, s.state.colormap, s.state.queries, s.state.heads_scale == 2, choice.kept[heads[i]] ? 0 : 0.55f);
        }
        return;
    }
    if (!s.pictures.atlas) return;
    GridDraw d;
    d.style = {s.colors, s.pictures.largest, s.state.queries, s.dim, as_vec4(ui.colors->bg1), as_vec4(ui.colors->hatch), 6};
    d.atlas = s.pictures.atlas.id();
    d.t = s.pictures.t;
    d.heads = s.model()->config.heads;
    d.across = l.across;
    d.linear = s.state.heads_scale == 2;
    for (const size_t head : heads) d.slots.push_back({static_cast<int>(head), choice.kept[head] ? 0 : 0.55f, largest_of(s, head)});
    d.pitch = l.pitch;
    d.side = l.side;
    d.rect = {l.area.x - l.scroll_x, l.area.y - l.scroll, l.pitch.x * static_cast<float>(l.across), l.pitch.y * static_cast<float>(l.rows)};
    ui.heat->draw(*ui.list, d);
}

void draw_captions(Scene& s, const ThumbLayout& l, const HeadChoice& choice, const std::vector<size_t>& heads) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    for (size_t i = 0; l.captions && i < heads.size(); ++i) {
        const Rect r = l.slot(i);
        if (!l.sees(r)) continue;
        const int site = static_cast<int>(heads[i]) / c.heads, head = static_cast<int>(heads[i]) % c.heads;
        const bool selected = site == s.state.site && head == s.state.head, kept = choice.kept[heads[i]];
        const std::string name = head_name(c, site, head), label = head_label(s, site, head), value = number(choice.values[heads[i]], 2);
        const float y = r.bottom() + ui.px(9), value_w = ui.text.width(kCaptionMono, value);
        const float w = ui.text.draw(r.x, y, kCaptionMono, selected ? ui.colors->accent_text : kept ? ui.colors->t1 : ui.colors->t3, ui.text.fitted(kCaptionMono, name, r.w));
        if (!label.empty() && w + ui.px(20) < r.w) ui.text.draw(r.x + w + ui.px(6), y, kCaption, ui.colors->t2, ui.text.fitted(kCaption, label, r.w - w - ui.px(10)));
        else if (w + value_w + ui.px(6) <= r.w) ui.text.draw_right(r.right(), y, kCaptionMono, selected ? ui.colors->accent_text : ui.colors->t3, value);
    }
}

/// Layer and head numbers, which stay while the grid scrolls.
void draw_axes(Scene& s, const ThumbLayout& l, Rect area) {
    Ui& ui = s.ui;
    if (!l.by_layer) return;
    const ModelConfig& c = s.model()->config;
    const int step = label_step(l.pitch.x, ui.px(26)), step_down = label_step(l.pitch.y, ui.px(18));
    ui.clip({l.area.x - ui.px(4), area.y, l.area.w + ui.px(8), ui.px(30)});
    for (int h = 0; h < c.heads; h += step) ui.text.draw_centred(l.slot(static_cast<size_t>(h)).middle_x(), area.y + ui.px(16), kCaptionMono, h == s.state.head ? ui.colors->accent_text : ui.colors->t2, std::to_string(h));
    ui.unclip();
    ui.clip({area.x, l.area.y, l.area.x - area.x, l.area.h});
    for (int site = 0; site < c.sites(); site += step_down) ui.text.draw(area.x + ui.px(20), l.slot(static_cast<size_t>(site) * static_cast<size_t>(c.heads)).middle_y(), kCaptionMono, site == s.state.site ? ui.colors->accent_text : ui.colors->t2, site_name(c, site));
    ui.unclip();
}

/// The head under the mouse: its slot.
std::optional<size_t> answer(Scene& s, const ThumbLayout& l, const std::vector<size_t>& heads) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    for (size_t i = 0; i < heads.size(); ++i)
        if (const Rect r = l.slot(i); l.sees(r)) ui.name("heads/" + head_name(c, static_cast<int>(heads[i]) / c.heads, static_cast<int>(heads[i]) % c.heads), r);
    const Hit h = ui.hit("heads/grid", l.area);
    if (!h.hovered || s.state.labelling) return std::nullopt;
    const int column = static_cast<int>((h.mouse.x - l.area.x + l.scroll_x) / l.pitch.x), row = static_cast<int>((h.mouse.y - l.area.y + l.scroll) / l.pitch.y);
    const auto slot = static_cast<size_t>(row * l.across + column);
    if (column < 0 || column >= l.across || slot >= heads.size()) return std::nullopt;
    const int site = static_cast<int>(heads[slot]) / c.heads, head = static_cast<int>(heads[slot]) % c.heads;
    s.state.hovered_head = std::pair{site, head};
    if (h.clicked) open_head(s, site, head);
    if (ImGui::IsMouseClicked(1)) {
        s.state.site = site;
        s.state.head = head;
        s.state.labelling = true;
        s.state.label_typed = head_label(s, site, head);
    }
    return slot;
}

}  // namespace

void draw_head_grid(Scene& s, Rect area, const HeadChoice& choice) {
    Ui& ui = s.ui;
    ThumbLayout l = arrange(s, area, choice.order.size());
    scroll(s, l);
    const auto heads = slot_heads(l, choice);
    const auto pointed = answer(s, l, heads);
    ui.clip({l.area.x - ui.px(3), l.area.y - ui.px(3), l.area.w + ui.px(6), l.area.h + ui.px(6)});
    draw_pictures(s, l, choice, heads);
    draw_captions(s, l, choice, heads);
    const auto outline = [&](Rect r, ImU32 color, float width) { ui.frame({r.x - ui.px(2), r.y - ui.px(2), r.w + ui.px(4), r.h + ui.px(4)}, color, width); };
    const auto selected = static_cast<size_t>(s.state.site * s.model()->config.heads + s.state.head);
    for (size_t i = 0; i < heads.size(); ++i)
        if (heads[i] == selected) outline(l.slot(i), ui.colors->accent, 2);
    if (pointed) outline(l.slot(*pointed), ui.colors->hover, 2);
    ui.unclip();
    draw_axes(s, l, area);
    if (pointed) draw_head_card(s, area, l.slot(*pointed), static_cast<int>(heads[*pointed]) / s.model()->config.heads, static_cast<int>(heads[*pointed]) % s.model()->config.heads);
}

}  // namespace headlight

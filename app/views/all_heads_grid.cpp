// All heads as thumbnails: by layer, or in the order of a statistic.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/all_heads.h"
#include "views/menus.h"

namespace headlight {

namespace {

struct ThumbLayout {
    Rect area;  // what is seen
    int across = 1, rows = 1;
    ImVec2 pitch;
    float side = 0, scroll = 0, scroll_x = 0;
    bool by_layer = false, captions = false;
    Rect slot(int i) const {
        const int row = i / across;
        const float x = area.x + pitch.x * float(i % across) - scroll_x,
                    y = area.y + pitch.y * float(row) - scroll;
        return {x, y, side, side};
    }
    bool sees(Rect r) const {
        return r.bottom() >= area.y && r.y <= area.bottom() && r.right() >= area.x && r.x <= area.right();
    }
};

/// The largest thumbnails with which all heads are seen at once, within limits; then the zoom.
ThumbLayout arrange(Scene& s, Rect area, int heads) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    ThumbLayout l;
    l.by_layer = s.of<AllHeadsState>().layout == HeadsLayout::by_layer;
    float names = 0;
    if (l.by_layer)
        for (int block = 0; block < c.blocks(); ++block)
            names = std::max(names, ui.text.width(kCaptionMono, block_name(c, block)) + 12);
    l.area = {area.x + 20 + names, area.y + (l.by_layer ? 30 : 12), area.w - 40 - names,
              area.h - (l.by_layer ? 40 : 20)};
    const float min = l.by_layer ? 26 : 56, max = 420;
    const auto fits = [&](float pitch) {
        const float caption = pitch >= 56 ? 20 : 4;
        const int across = l.by_layer ? c.max_heads() : std::max(1, int(l.area.w / pitch));
        const int rows = l.by_layer ? c.blocks() : (heads + across - 1) / across;
        return pitch * float(across) <= l.area.w + 1 && (pitch - 8 + caption) * float(rows) <= l.area.h;
    };
    float pitch = max;
    while (pitch > min && !fits(pitch)) pitch -= 1 / ui.scale;
    pitch = ui.whole(std::clamp(pitch * s.of<AllHeadsState>().zoom, 14.0f, 640.0f));
    l.captions = pitch >= 56;
    const float gap = pitch >= 40 ? 8 : 3;
    l.side = pitch - gap;
    l.across = l.by_layer ? c.max_heads() : std::max(1, int(l.area.w / pitch));
    l.rows = l.by_layer ? c.blocks() : (heads + l.across - 1) / l.across;
    l.pitch = {pitch, l.side + (l.captions ? 20 : gap)};
    return l;
}

void scroll(Scene& s, ThumbLayout& l) {
    Ui& ui = s.ui;
    if (ui.ctrl)
        if (const float turn = ui.take_wheel(l.area); turn != 0)
            s.of<AllHeadsState>().zoom =
                std::clamp(s.of<AllHeadsState>().zoom * std::pow(1.15f, turn), 0.25f, 12.0f);
    const float wide = l.pitch.x * float(l.across) - l.area.w;
    if (ui.shift) s.of<AllHeadsState>().scroll_x -= ui.take_wheel(l.area) * 60;
    s.of<AllHeadsState>().scroll_x =
        std::clamp(s.of<AllHeadsState>().scroll_x - ui.wheel_x * 60, 0.0f, std::max(0.0f, wide));
    s.of<AllHeadsState>().scroll = scrolled(ui, {l.area.x, l.area.y, l.area.w + 16, l.area.h},
                                            l.pitch.y * float(l.rows), s.of<AllHeadsState>().scroll);
    l.scroll = ui.snapped(s.of<AllHeadsState>().scroll);
    l.scroll_x = ui.snapped(s.of<AllHeadsState>().scroll_x);
}

/// A place of the grid and the head that stands in it, by number.
struct Slot {
    int place, number;
    AttentionHead head;
};

/// Every head in its place; by layer, the row of a block with fewer heads than others ends sooner.
std::vector<Slot> slots_of(const ThumbLayout& l, const ModelConfig& c, const HeadChoice& choice) {
    std::vector<Slot> out;
    for (int i = 0; i < isize(choice.order); ++i) {
        const int number = l.by_layer ? i : choice.order[i];
        const AttentionHead head = c.head_at(number);
        out.push_back({l.by_layer ? head.block * l.across + head.head : i, number, head});
    }
    return out;
}

float largest_of(const Scene& s, int head) {
    return s.of<AllHeadsState>().scale == 0 ? std::max(1e-6f, s.sentence()->heads[head].thumbnail.maxCoeff())
                                            : s.pictures.largest;
}

void draw_pictures(Scene& s, const ThumbLayout& l, const HeadChoice& choice, const std::vector<Slot>& slots) {
    Ui& ui = s.ui;
    if (!s.pictures.atlas) return;
    GridDraw d = thumbnail_grid(s);
    d.across = l.across;
    d.linear = s.of<AllHeadsState>().scale == 2;
    d.slots.assign(slots.back().place + 1, GridSlot{-1, 0, 1});
    for (const Slot& slot : slots)
        d.slots[slot.place] = {slot.number, choice.kept[slot.number] ? 0 : 0.55f, largest_of(s, slot.number)};
    d.pitch = ui.pixels(l.pitch);
    d.side = l.side * ui.scale;
    const Rect r = ui.pixels(Rect{l.area.x - l.scroll_x, l.area.y - l.scroll, l.pitch.x * float(l.across),
                                  l.pitch.y * float(l.rows)});
    d.rect = {r.x, r.y, r.w, r.h};
    ui.heat->draw(*ui.list, d);
}

void draw_captions(Scene& s, const ThumbLayout& l, const HeadChoice& choice, const std::vector<Slot>& slots) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    for (const Slot& slot : slots) {
        const Rect r = l.slot(slot.place);
        if (!l.captions || !l.sees(r)) continue;
        const auto [block, head] = slot.head;
        const bool selected = block == s.session.selection.block && head == s.session.selection.head,
                   kept = choice.kept[slot.number];
        const std::string name = head_name(c, block, head), label = head_label(s, block, head),
                          value = number(choice.values[slot.number], 2);
        const float y = r.bottom() + 9, value_w = ui.text.width(kCaptionMono, value);
        const float w = ui.text.draw(r.x, y, kCaptionMono,
                                     selected ? ui.colors->accent_text
                                     : kept   ? ui.colors->t1
                                              : ui.colors->t3,
                                     ui.text.fitted(kCaptionMono, name, r.w));
        if (!label.empty() && w + 20 < r.w)
            ui.text.draw(r.x + w + 6, y, kCaption, ui.colors->t2,
                         ui.text.fitted(kCaption, label, r.w - w - 10));
        else if (w + value_w + 6 <= r.w)
            ui.text.draw_right(r.right(), y, kCaptionMono, selected ? ui.colors->accent_text : ui.colors->t3,
                               value);
    }
}

/// Layer and head numbers, which stay while the grid scrolls.
void draw_axes(Scene& s, const ThumbLayout& l, Rect area) {
    Ui& ui = s.ui;
    if (!l.by_layer) return;
    const ModelConfig& c = s.model()->config;
    const int step = label_step(l.pitch.x, 26), step_down = label_step(l.pitch.y, 18);
    ui.clip({l.area.x - 4, area.y, l.area.w + 8, 30});
    for (int h = 0; h < l.across; h += step)
        ui.text.draw_centered(l.slot(h).middle_x(), area.y + 16, kCaptionMono,
                              h == s.session.selection.head ? ui.colors->accent_text : ui.colors->t2,
                              std::to_string(h));
    ui.unclip();
    ui.clip({area.x, l.area.y, l.area.x - area.x, l.area.h});
    for (int block = 0; block < c.blocks(); block += step_down)
        ui.text.draw(area.x + 20, l.slot(block * l.across).middle_y(), kCaptionMono,
                     block == s.session.selection.block ? ui.colors->accent_text : ui.colors->t2,
                     block_name(c, block));
    ui.unclip();
}

/// The slot under the mouse.
const Slot* answer(Scene& s, const ThumbLayout& l, const std::vector<Slot>& slots) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    for (const Slot& slot : slots)
        if (const Rect r = l.slot(slot.place); l.sees(r)) ui.name("heads/" + head_name(c, slot.head), r);
    const Hit h = ui.hit("heads/grid", l.area);
    if (!h.hovered || s.session.shows(Sheet::label)) return nullptr;
    const int column = int((h.mouse.x - l.area.x + l.scroll_x) / l.pitch.x),
              row = int((h.mouse.y - l.area.y + l.scroll) / l.pitch.y);
    if (column < 0 || column >= l.across || row < 0) return nullptr;
    const auto slot =
        std::find_if(slots.begin(), slots.end(),
                     [place = row * l.across + column](const Slot& x) { return x.place == place; });
    if (slot == slots.end()) return nullptr;
    const auto [block, head] = slot->head;
    s.pointed.head = std::pair{block, head};
    if (h.clicked) open_head(s, block, head);
    if (ImGui::IsMouseClicked(1)) {
        s.select(block, head);
        s.send("label");
    }
    return &*slot;
}

}  // namespace

void draw_head_grid(Scene& s, Rect area, const HeadChoice& choice) {
    Ui& ui = s.ui;
    ThumbLayout l = arrange(s, area, isize(choice.order));
    scroll(s, l);
    const auto slots = slots_of(l, s.model()->config, choice);
    if (slots.empty()) return;
    const Slot* pointed = answer(s, l, slots);
    ui.clip({l.area.x - 3, l.area.y - 3, l.area.w + 6, l.area.h + 6});
    draw_pictures(s, l, choice, slots);
    draw_captions(s, l, choice, slots);
    const auto outline = [&](Rect r, ImU32 color, float width) {
        ui.frame({r.x - 2, r.y - 2, r.w + 4, r.h + 4}, color, width);
    };
    for (const Slot& slot : slots)
        if (slot.head == AttentionHead{s.session.selection.block, s.session.selection.head})
            outline(l.slot(slot.place), ui.colors->accent, 2);
    if (pointed) outline(l.slot(pointed->place), ui.colors->hover, 2);
    ui.unclip();
    draw_axes(s, l, area);
    if (pointed) draw_head_card(s, area, l.slot(pointed->place), pointed->head.block, pointed->head.head);
}

}  // namespace headlight

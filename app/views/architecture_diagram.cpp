// A model's blocks, stack by stack, along the residual stream.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/architecture.h"

namespace headlight {

namespace {

constexpr float kBlock = 50, kThin = 28, kGap = 10, kEnd = 40, kRail = 22, kBesideRail = 22, kWire = 1.3f,
                kTwoLines = 0.8f;

int64_t count_of(const Block& b, const std::vector<ParameterRow>& table) {
    int64_t sum = 0;
    for (const ParameterRow& row : table)
        if (stands_for(b, row)) sum += row.each;
    return sum;
}

float height(const Diagram& d, const Block& b) { return d.unit(b.thin ? kThin : kBlock); }

float height(const Diagram& d, const std::vector<Block>& blocks) {
    float sum = d.unit(2 * kEnd + 3 * kGap);
    for (const Block& b : blocks) sum += height(d, b) + d.unit(kGap);
    return sum;
}

/// Where a stack stands: its blocks from the bottom to the top, the residual stream at their left.
struct StackLayout {
    std::vector<Rect> blocks;
    Rect column, layer;  // of blocks; around those that repeat
    float rail = 0, top = 0, rail_top = 0, rail_bottom = 0;
};

StackLayout arrange(const Diagram& d, Rect area, const std::vector<Block>& blocks) {
    StackLayout l;
    const float apart = d.unit(kGap);
    Rect rest = area;
    take_right(rest, gap::large);
    l.rail = take_left(rest, kRail, kBesideRail).right();
    l.column = {rest.x, rest.y, std::min(rest.w, kWidestBlock), rest.h};
    l.rail_bottom = area.bottom() - d.unit(kEnd) / 2;
    Rect free = l.column;
    take_bottom(free, d.unit(kEnd));
    for (size_t i = 0; i < blocks.size(); ++i) {
        const Block& b = blocks[i];
        if (b.in_layer && (i == 0 || !blocks[i - 1].in_layer)) {
            take_bottom(free, apart);
            l.layer = inset({l.column.x, free.bottom() + apart * 0.6f, l.column.w, 0}, -gap::medium, 0);
            l.layer.x = area.x + gap::tight;
            l.layer.w = l.column.right() + gap::medium - l.layer.x;
        }
        l.blocks.push_back(take_bottom(free, height(d, b)));
        take_bottom(free, apart);
        if (b.in_layer && (i + 1 == blocks.size() || !blocks[i + 1].in_layer)) {
            l.layer.h = l.layer.y - free.bottom() - apart * 0.2f;
            l.layer.y -= l.layer.h;
            take_bottom(free, apart);
        }
    }
    l.rail_top = l.blocks.back().middle_y();
    l.top = free.bottom();
    return l;
}

/// Name, parameters and shape: in two lines where there is room.
void draw_block_text(Ui& ui, const Diagram& d, const Block& b, Rect r) {
    constexpr float kFirst = 17, kSecond = 36;
    const bool two = !b.thin && d.scale >= kTwoLines;
    const Rect inside = inset(r, gap::medium, 0);
    Rect first = two ? line_at(inside, r.y + d.unit(kFirst), size::line) : inside;
    const Rect second = line_at(inside, r.y + d.unit(kSecond), size::line);
    const int64_t count = count_of(b, d.table);
    take_right(first,
               write(ui, first, kCaptionMono, ui.colors->t2, count ? short_count(count) : "", Flush::right),
               gap::medium);
    take_left(first,
              write(ui, first, b.thin ? kCaption : kBody, b.thin ? ui.colors->t2 : ui.colors->t1, b.name),
              kGap);
    if (two || first.w > gap::wide)
        write(ui, two ? second : first, two ? kCaption : kCaptionMono, ui.colors->t3, b.shape);
}

/// One block; returns whether it is pointed at.
bool draw_block(Scene& s, const Diagram& d, const Block& b, Rect r, const std::string& path) {
    Ui& ui = s.ui;
    const Hit h = ui.control(path, r);
    const bool opens = b.view && d.opens;
    ui.fill(r, h.hovered && opens ? ui.colors->bg3 : b.thin ? ui.colors->bg1 : ui.colors->bg2, size::corner);
    ui.frame(r, h.hovered ? ui.colors->hover : ui.colors->l2, 1, size::corner);
    draw_block_text(ui, d, b, r);
    ui.tooltip(path, h, b.help);
    if (h.clicked && opens) {
        if (b.block >= 0) s.select_block(b.block);
        s.send(std::string("view ") + b.view);
    }
    return h.hovered;
}

void draw_plus(Ui& ui, ImVec2 at) {
    constexpr float kRadius = 7, kArm = 4;
    ui.disc(at, kRadius, ui.colors->bg1);
    ui.ring(at, kRadius, ui.colors->t2, kWire);
    ui.stroke({at.x - kArm, at.y}, {at.x + kArm, at.y}, ui.colors->t2, kWire);
    ui.stroke({at.x, at.y - kArm}, {at.x, at.y + kArm}, ui.colors->t2, kWire);
}

void draw_wire(Ui& ui, ImVec2 from, ImVec2 to) { ui.stroke(from, to, ui.colors->l2, kWire); }

/// From the stream through a norm into a block, and back to where its output is added.
void draw_branch(Ui& ui, const Diagram& d, const StackLayout& l, const std::vector<Block>& blocks, size_t i) {
    const Rect& block = l.blocks[i];
    const bool normed =
        i > 0 && blocks[i - 1].thin && blocks[i - 1].in_layer && d.config.norm_place == NormPlace::before;
    const float in = normed ? l.blocks[i - 1].middle_y() : block.bottom() - block.h * 0.25f,
                out = block.y + block.h * 0.3f, x = block.x;
    const ImVec2 plus{l.rail, block.y - d.unit(kGap) / 2}, turn{l.rail + gap::medium, out};
    draw_wire(ui, {l.rail, in}, {x, in});
    if (normed) draw_wire(ui, {x + gap::wide, l.blocks[i - 1].y}, {x + gap::wide, block.bottom()});
    draw_wire(ui, {x, out}, turn);
    draw_wire(ui, turn, plus);
    draw_plus(ui, plus);
}

/// The residual stream, and what joins it.
void draw_wires(Ui& ui, const Diagram& d, const StackLayout& l, const std::vector<Block>& blocks) {
    ui.stroke({l.rail, l.rail_bottom}, {l.rail, l.rail_top}, ui.colors->l2, 2);
    for (size_t i = 0; i < blocks.size(); ++i) {
        const Block& b = blocks[i];
        const Rect& r = l.blocks[i];
        const bool in_stream = b.thin && b.in_layer && d.config.norm_place == NormPlace::after;
        if (b.adds) draw_branch(ui, d, l, blocks, i);
        if (!b.in_layer || in_stream) draw_wire(ui, {l.rail, r.middle_y()}, {r.x, r.middle_y()});
    }
}

/// The frame around what repeats, and how often.
void draw_layer_frame(Ui& ui, Rect area, const StackLayout& l, int layers) {
    ui.frame(l.layer, ui.colors->t3, 1, size::popup_corner);
    const std::string times = "× " + std::to_string(layers);
    const bool beside = area.right() - l.layer.right() > 44;
    Rect at = beside ? Rect{l.layer.right() + kGap, l.layer.y, area.w, l.layer.h}
                     : Rect{l.layer.x, l.layer.y - gap::wide, l.layer.w - gap::close, gap::wide};
    write(ui, at, beside ? kTitle : kBody, ui.colors->accent_text, times,
          beside ? Flush::left : Flush::right);
}

/// What the stack reads, under it, and what it says, over it.
void draw_ends(Ui& ui, const Diagram& d, const StackLayout& l, int index) {
    const ModelConfig& c = d.config;
    const bool vision = c.can.read_image;
    const char* whose = c.stacks.size() == 1 ? "" : index ? "target " : "source ";
    const std::string reads = vision ? std::to_string(c.vision.patches()) + " patches and a class token"
                                     : whose + std::string("tokens, at most ") + std::to_string(c.context);
    const std::string says = index + 1 < isize(c.stacks) ? "to the decoder"
                             : vision                    ? "a class"
                             : c.can.fill_masks          ? "each token, read in both directions"
                                                         : "the next token";
    write(ui, line_at(l.column, l.rail_bottom, size::line), kCaption, ui.colors->t2, reads);
    write(ui, line_at(l.column, l.top - d.unit(gap::close), size::line), kCaption, ui.colors->t2, says);
}

/// One stack, bottom to top, the residual stream on its left; returns the block that is pointed at, or null.
const Block* draw_stack(Scene& s, const Diagram& d, Rect area, int index, const std::vector<Block>& blocks,
                        const StackLayout& l) {
    const Block* pointed = nullptr;
    for (size_t i = 0; i < blocks.size(); ++i) {
        const Block& b = blocks[i];
        const Rect& r = l.blocks[i];
        if (draw_block(s, d, b, r, "model/" + std::to_string(index) + "/" + std::to_string(i))) pointed = &b;
        if (b.adds && b.block >= 0 && d.numbered)
            draw_kind_number(s.ui, {r.right(), r.y}, index == 0 ? 1 : b.from_encoder ? 3 : 2);
    }
    draw_wires(s.ui, d, l, blocks);
    draw_layer_frame(s.ui, area, l, d.config.stacks[index].layers);
    draw_ends(s.ui, d, l, index);
    return pointed;
}

/// What the encoder leaves is what cross-attention reads.
void draw_bridge(Ui& ui, const Diagram& d, const StackLayout& encoder, const StackLayout& decoder,
                 float middle, const std::vector<Block>& blocks) {
    constexpr float kOver = 26, kWidth = 1.6f;
    const auto cross =
        std::find_if(blocks.begin(), blocks.end(), [](const Block& b) { return b.from_encoder; });
    if (cross == blocks.end()) return;
    const Rect& entry = decoder.blocks[cross - blocks.begin()];
    const ImVec2 top{encoder.rail, encoder.rail_top}, tip{entry.x, entry.middle_y()};
    const float over = top.y - d.unit(kOver);
    const std::array<ImVec2, 5> path{{top, {top.x, over}, {middle, over}, {middle, tip.y}, tip}};
    ui.polyline(path, ui.colors->accent, kWidth);
    ui.polygon(
        std::array<ImVec2, 3>{
            {tip, {tip.x - gap::small, tip.y - gap::tight}, {tip.x - gap::small, tip.y + gap::tight}}},
        ui.colors->accent);
}

}  // namespace

const Block* draw_diagram(Scene& s, Diagram d, Rect area, float column,
                          const std::vector<std::vector<Block>>& stacks) {
    constexpr float kSmallest = 0.45f, kLargest = 1.35f;
    float tallest = 0;
    for (const auto& blocks : stacks) tallest = std::max(tallest, height(d, blocks));
    d.scale = std::clamp(area.h / tallest, kSmallest, kLargest);  // they fill the height, within reason
    const Block* pointed = nullptr;
    std::vector<StackLayout> layouts;
    for (int i = 0; i < isize(stacks); ++i) {
        Rect stack = take_left(area, column);
        stack = take_bottom(stack, std::min(stack.h, height(d, stacks[i])));
        layouts.push_back(arrange(d, stack, stacks[i]));
        if (const Block* here = draw_stack(s, d, stack, i, stacks[i], layouts.back())) pointed = here;
    }
    if (layouts.size() == 2)
        draw_bridge(s.ui, d, layouts[0], layouts[1], layouts[1].layer.x - gap::small, stacks[1]);
    return pointed;
}

}  // namespace headlight

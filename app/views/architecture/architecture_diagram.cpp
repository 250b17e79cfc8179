// Draws a model's blocks, stack by stack, along the residual stream.
#include <algorithm>

#include "base/cast.h"
#include "views/architecture/architecture.h"

namespace headlight {

namespace {

constexpr float kShapeLine = 18, kNameLine = 20, kAir = 14, kThinAir = 7, kGap = 10, kEndText = 24,
                kEndAir = 16, kRail = 22, kBesideRail = 22, kWire = 1.3f, kTimes = 58, kRoomForTimes = 340,
                kSharing = 34;

int64_t count_of(const Block& b, const std::vector<ParameterRow>& table) {
    int64_t sum = 0;
    for (const ParameterRow& row : table)
        if (contains_row(b, row)) sum += row.each;
    return sum;
}

/// The text and height of a block; shapes go beside the name, or below it.
struct BlockText {
    std::string count;
    std::vector<std::string> lines;
    bool beside = false;
    float high = 0;
};

/// Joins texts by dots into lines that fit.
std::vector<std::string> flowed(Ui& ui, const std::vector<std::string>& texts, float room) {
    std::vector<std::string> out;
    for (const std::string& text : texts) {
        const char* joint = text.rfind("→", 0) == 0 ? " " : " · ";
        const std::string longer = out.empty() ? text : out.back() + joint + text;
        if (!out.empty() && ui.text.width(kCaption, longer) <= room)
            out.back() = longer;
        else
            out.push_back(text);
    }
    return out;
}

BlockText text_of(Ui& ui, const Diagram& d, const Block& b, float width) {
    BlockText t;
    const int64_t count = count_of(b, d.table);
    t.count = count ? short_count(count) : "";
    const float room = width - 2 * gap::medium;
    t.lines = flowed(ui, b.shapes, room);
    const float beside = room - ui.text.width(b.thin ? kCaption : kBody, b.name) - gap::large -
                         ui.text.width(kCaptionMono, t.count);
    t.beside = b.thin && isize(t.lines) == 1 && ui.text.width(kCaption, t.lines[0]) <= beside;
    t.high = kNameLine + (t.beside ? 0 : kShapeLine * float(t.lines.size())) +
             (b.sources.empty() ? 0 : kSharing) + d.unit(b.thin ? kThinAir : kAir);
    return t;
}

/// Blocks from bottom to top, the residual stream left of them.
struct StackLayout {
    std::vector<BlockText> texts;
    std::vector<Rect> blocks;
    Rect column, layer;  // of blocks; around the repeated ones
    float rail = 0, top = 0, rail_top = 0, rail_bottom = 0, high = 0;
    float times = 0;  // height of the line "× 4" inside the frame; 0: beside the frame
};

float end_of(const Diagram& d) { return kEndText + d.unit(kEndAir); }

/// Measures columns, texts and heights, before `place`.
StackLayout measured_stack(Ui& ui, const Diagram& d, Rect area, const std::vector<Block>& blocks) {
    StackLayout l;
    Rect rest = area;
    l.times = area.w >= kRoomForTimes ? 0 : kNameLine;
    take_right(rest, l.times > 0 ? gap::large : kTimes);
    l.rail = take_left(rest, kRail, kBesideRail).right();
    l.column = rest;
    l.high = 2 * end_of(d) + d.unit(3 * kGap) + l.times;
    for (const Block& b : blocks) {
        l.texts.push_back(text_of(ui, d, b, l.column.w));
        l.high += l.texts.back().high + d.unit(kGap);
    }
    return l;
}

/// Stacks the blocks, the first at the bottom.
void place(StackLayout& l, const Diagram& d, Rect area, const std::vector<Block>& blocks) {
    const float apart = d.unit(kGap);
    l.column = {l.column.x, area.y, l.column.w, area.h};
    l.rail_bottom = area.bottom() - end_of(d) / 2;
    Rect free = l.column;
    take_bottom(free, end_of(d));
    for (size_t i = 0; i < blocks.size(); ++i) {
        const Block& b = blocks[i];
        if (b.in_layer && (i == 0 || !blocks[i - 1].in_layer)) {
            take_bottom(free, apart);
            l.layer = inset({l.column.x, free.bottom() + apart * 0.6f, l.column.w, 0}, -gap::medium, 0);
            l.layer.x = area.x + gap::tight;
            l.layer.w = l.column.right() + gap::medium - l.layer.x;
            take_bottom(free, l.times);
        }
        l.blocks.push_back(take_bottom(free, l.texts[i].high));
        take_bottom(free, apart);
        if (b.in_layer && (i + 1 == blocks.size() || !blocks[i + 1].in_layer)) {
            l.layer.h = l.layer.y - free.bottom() - apart * 0.2f;
            l.layer.y -= l.layer.h;
            take_bottom(free, apart);
        }
    }
    l.rail_top = l.blocks.back().middle_y();
    l.top = free.bottom();
}

/// Draws a square for each layer, filled if it makes keys and values, and a line from each that others read
/// over them: a mark above each reader.
void draw_sharing(Ui& ui, Rect area, const std::vector<int>& sources) {
    constexpr float kSquare = 10, kWidest = 18, kApart = 2, kLine = 7;
    const int layers = isize(sources);
    const float pitch = std::min(kWidest, area.w / float(layers));
    const Rect squares = take_bottom(area, kSquare);
    const auto square = [&](int layer) {
        return Rect{squares.x + pitch * float(layer), squares.y, pitch - kApart, kSquare};
    };
    int level = 0;
    for (int source = 0; source < layers; ++source) {
        const int first = narrow<int>(std::find(sources.begin(), sources.end(), source) - sources.begin());
        if (first == layers) continue;
        int last = first;
        for (int layer = first; layer < layers; ++layer)
            if (sources[size_t(layer)] == source) last = layer;
        const ImU32 ink = level == 0 ? ui.colors->accent : ui.colors->t2;
        const float y = squares.y - kLine * float(++level), from = square(source).middle_x();
        ui.stroke({from, squares.y}, {from, y}, ink, kWire);
        ui.stroke({from, y}, {square(last).middle_x(), y}, ink, kWire);
        for (int layer = first; layer <= last; ++layer)
            if (sources[size_t(layer)] == source)
                ui.stroke({square(layer).middle_x(), y}, {square(layer).middle_x(), squares.y}, ink, kWire);
    }
    for (int layer = 0; layer < layers; ++layer) {
        const int source = sources[size_t(layer)];
        if (source < 0)
            ui.fill(square(layer), ui.colors->t3, 1);
        else
            ui.frame(square(layer), ui.colors->t3, 1, 1);
        const std::string path = "model/layer/" + std::to_string(layer);
        ui.tooltip(path, ui.over(square(layer)),
                   "Layer " + std::to_string(layer) +
                       (source < 0 ? " makes its own keys and values."
                                   : " reads the keys and values of layer " + std::to_string(source) + "."));
    }
}

void draw_block_text(Ui& ui, const Block& b, const BlockText& t, Rect r) {
    const float high =
        kNameLine + (t.beside ? 0 : kShapeLine * float(t.lines.size())) + (b.sources.empty() ? 0 : kSharing);
    Rect inside = band(inset(r, gap::medium, 0), high);
    Rect first = take_top(inside, kNameLine);
    take_right(first, write(ui, first, kCaptionMono, ui.colors->t2, t.count, Flush::right), gap::small);
    take_left(first,
              write(ui, first, b.thin ? kCaption : kBody, b.thin ? ui.colors->t2 : ui.colors->t1, b.name),
              gap::small);
    if (t.beside) return static_cast<void>(write(ui, first, kCaption, ui.colors->t3, t.lines[0]));
    for (const std::string& line : t.lines)
        write(ui, take_top(inside, kShapeLine), kCaption, ui.colors->t3, line);
    if (!b.sources.empty()) draw_sharing(ui, inset(inside, 0, gap::tight), b.sources);
}

/// True if its weights are shown.
bool is_chosen(const Scene& s, const Diagram& d, const Block& b, int stack) {
    if (!d.opens || s.of<ArchitectureState>().maps || s.of<ArchitectureState>().part != b.part) return false;
    const AttentionBlock now = d.config.block(s.session.selection.block);
    return now.stack == stack && (!b.is_of_attention() || b.second == now.is_second());
}

/// Shows the weights of a block in the selected layer; if they or attention maps are shown, opens its view.
void press_block(Scene& s, const Diagram& d, const Block& b, int stack) {
    const ModelConfig& c = d.config;
    const bool opens = b.view && (is_chosen(s, d, b, stack) || s.of<ArchitectureState>().maps);
    const int layer = std::min(c.block(s.session.selection.block).layer, c.stacks[stack].depth() - 1);
    const auto blocks = c.blocks_of(stack, layer);
    s.of<ArchitectureState>().part = b.part;
    s.select_block(b.second ? blocks.back() : blocks.front());
    if (opens) s.send(std::string("view ") + b.view);
}

/// Draws a block; returns true if it is hovered.
bool draw_block(Scene& s, const Diagram& d, const Block& b, const BlockText& t, Rect r, int stack,
                const std::string& path) {
    Ui& ui = s.ui;
    const Hit h = ui.control(path, r);
    const bool chosen = is_chosen(s, d, b, stack);
    ui.fill(r,
            h.hovered && d.opens ? ui.colors->bg3
            : b.thin             ? ui.colors->bg1
                                 : ui.colors->bg2,
            size::corner);
    ui.frame(r,
             chosen      ? ui.colors->accent
             : h.hovered ? ui.colors->hover
                         : ui.colors->l2,
             chosen ? 2 : 1, size::corner);
    draw_block_text(ui, b, t, r);
    ui.tooltip(path, h, b.help);
    if (h.clicked && d.opens) press_block(s, d, b, stack);
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

/// Draws the wires from the stream through a norm into a block, and back to the sum.
void draw_branch(Ui& ui, const Diagram& d, const StackLayout& l, const std::vector<Block>& blocks, size_t i) {
    const Rect& block = l.blocks[i];
    const bool normed = i > 0 && blocks[i - 1].thin && blocks[i - 1].in_layer && !d.config.norms_sums();
    const float in = normed ? l.blocks[i - 1].middle_y() : block.bottom() - block.h * 0.25f,
                out = block.y + block.h * 0.3f, x = block.x;
    const ImVec2 plus{l.rail, block.y - d.unit(kGap) / 2}, turn{l.rail + gap::medium, out};
    draw_wire(ui, {l.rail, in}, {x, in});
    if (normed) draw_wire(ui, {x + gap::wide, l.blocks[i - 1].y}, {x + gap::wide, block.bottom()});
    draw_wire(ui, {x, out}, turn);
    draw_wire(ui, turn, plus);
    draw_plus(ui, plus);
}

/// Draws the residual stream and the wires that join it.
void draw_wires(Ui& ui, const Diagram& d, const StackLayout& l, const std::vector<Block>& blocks) {
    ui.stroke({l.rail, l.rail_bottom}, {l.rail, l.rail_top}, ui.colors->l2, 2);
    for (size_t i = 0; i < blocks.size(); ++i) {
        const Block& b = blocks[i];
        const Rect& r = l.blocks[i];
        const bool in_stream = b.thin && b.in_layer && d.config.norms_sums();
        if (b.adds) draw_branch(ui, d, l, blocks, i);
        if (!b.in_layer || in_stream) draw_wire(ui, {l.rail, r.middle_y()}, {r.x, r.middle_y()});
    }
}

/// Draws the frame around repeated blocks, and their number.
void draw_layer_frame(Ui& ui, Rect area, const StackLayout& l, int layers) {
    ui.frame(l.layer, ui.colors->t3, 1, size::popup_corner);
    const std::string times = "× " + std::to_string(layers);
    Rect at{l.layer.right() + gap::tight, l.layer.y, area.w, l.layer.h};
    if (l.times > 0) at = {l.column.x, l.layer.bottom() - l.times - gap::tight, l.column.w, l.times};
    write(ui, at, kBody, ui.colors->accent_text, times, l.times == 0 ? Flush::left : Flush::right);
}

/// Names the stack's input below it and its output above it.
void draw_ends(Ui& ui, const Diagram& d, const StackLayout& l, int index) {
    const ModelConfig& c = d.config;
    const bool vision = c.can.read_image;
    const char* whose = c.stacks.size() == 1 ? "" : index ? "target " : "source ";
    const std::string reads = vision && !c.vision.patch ? "an image"
                              : vision ? std::to_string(c.vision.patches()) + " patches and a class token"
                                       : whose + std::string("tokens, at most ") + std::to_string(c.context);
    const std::string says = index + 1 < isize(c.stacks) ? "to the decoder"
                             : vision                    ? "a class"
                             : c.can.fill_masks          ? "each token, read in both directions"
                                                         : "the next token";
    write(ui, line_at(l.column, l.rail_bottom, size::line), kCaption, ui.colors->t2, reads);
    write(ui, line_at(l.column, l.top - std::max(d.unit(gap::close), size::line / 2), size::line), kCaption,
          ui.colors->t2, says);
}

/// Draws one stack; returns the hovered block, or null.
const Block* draw_stack(Scene& s, const Diagram& d, Rect area, int index, const std::vector<Block>& blocks,
                        const StackLayout& l) {
    const Block* pointed = nullptr;
    for (size_t i = 0; i < blocks.size(); ++i) {
        const Block& b = blocks[i];
        const Rect& r = l.blocks[i];
        const std::string path = "model/" + std::to_string(index) + "/" + std::to_string(i);
        if (draw_block(s, d, b, l.texts[i], r, index, path)) pointed = &b;
        if (b.is_attention() && d.numbered)
            draw_kind_number(s.ui, {r.right(), r.y}, index == 0 ? 1 : b.from_encoder ? 3 : 2);
    }
    draw_wires(s.ui, d, l, blocks);
    draw_layer_frame(s.ui, area, l, d.config.stacks[index].depth());
    draw_ends(s.ui, d, l, index);
    return pointed;
}

/// Draws the wire from the encoder's output to cross-attention.
void draw_bridge(Ui& ui, const Diagram& d, const StackLayout& encoder, const StackLayout& decoder,
                 float middle, const std::vector<Block>& blocks) {
    constexpr float kOver = 26, kWidth = 1.6f;
    const auto cross = std::find_if(blocks.begin(), blocks.end(),
                                    [](const Block& b) { return b.from_encoder && b.is_attention(); });
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

const Block* draw_diagram(Scene& s, Diagram d, Rect area, const std::vector<std::vector<Block>>& stacks) {
    constexpr float kSmallest = 0.4f, kLargest = 2.2f;
    std::vector<StackLayout> layouts;
    const auto measure = [&](float scale) {  // the height of the highest stack
        d.scale = scale;
        layouts.clear();
        float high = 0;
        for (const auto& blocks : stacks) {
            const Rect column = nth_column(area, isize(layouts), isize(stacks));
            layouts.push_back(measured_stack(s.ui, d, column, blocks));
            high = std::max(high, layouts.back().high);
        }
        return high;
    };
    const float min = measure(0), max = measure(1) - min;
    const float high = measure(std::clamp((area.h - min) / max, kSmallest, kLargest));
    float& hidden = s.of<ArchitectureState>().diagram_hidden;
    hidden = scrolled(s.ui, area, high - 1, hidden);  // rounded
    s.ui.scroll_area(area);
    const Rect whole{area.x, area.y - hidden, area.w, std::max(area.h, high)};
    const Block* pointed = nullptr;
    for (int i = 0; i < isize(stacks); ++i) {
        Rect stack = nth_column(whole, i, isize(stacks));
        stack = take_bottom(stack, layouts[i].high);
        place(layouts[i], d, stack, stacks[i]);
        if (const Block* here = draw_stack(s, d, stack, i, stacks[i], layouts[i])) pointed = here;
    }
    if (layouts.size() == 2)
        draw_bridge(s.ui, d, layouts[0], layouts[1], layouts[1].layer.x - gap::small, stacks[1]);
    s.ui.end_scroll_area();
    return pointed;
}

}  // namespace headlight

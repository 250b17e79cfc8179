// The open model as a diagram, from the tokens at the bottom to the predictions at the top; each block opens
// its view.
#include "views/architecture.h"

#include <algorithm>
#include <cmath>

#include "analysis/attention_parameters.h"
#include "base/cast.h"
#include "model/parameters.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kBlock = 50, kThin = 28, kGap = 10, kWide = 380;

int64_t count_of(const Block& b, const std::vector<ParameterRow>& table) {
    int64_t sum = 0;
    for (const ParameterRow& row : table)
        if (stands_for(b, row)) sum += row.each;
    return sum;
}

struct Diagram {
    float scale = 1;  // of heights, where the window is low
    float unit(float points) const { return points * scale; }
    float height(const Block& b) const { return unit(b.thin ? kThin : kBlock); }
};

float diagram_height(const Diagram& d, const std::vector<Block>& blocks) {
    float sum = d.unit(2 * 40);
    for (const Block& b : blocks) sum += d.height(b) + d.unit(kGap);
    return sum + d.unit(3 * kGap);
}

/// One block; returns whether it is pointed at.
bool draw_block(Scene& s, const Diagram& d, const Block& b, Rect r, const std::string& path,
                const std::vector<ParameterRow>& table, bool possible) {
    Ui& ui = s.ui;
    const Hit h = ui.control(path, r);
    const bool opens = b.view && possible;
    ui.fill(r, h.hovered && opens ? ui.colors->bg3 : b.thin ? ui.colors->bg1 : ui.colors->bg2, size::corner);
    ui.frame(r, h.hovered ? ui.colors->hover : ui.colors->l2, 1, size::corner);
    const int64_t count = count_of(b, table);
    const std::string parameters = count ? short_count(count) : "";
    const float right = ui.text.draw_right(r.right() - 12,
                                           b.thin || d.scale < 0.8f ? r.middle_y() : r.y + d.unit(17),
                                           kCaptionMono, ui.colors->t2, parameters),
                room = r.w - right - 36;
    if (b.thin || d.scale < 0.8f) {
        const float w = ui.text.draw(r.x + 12, r.middle_y(), b.thin ? kCaption : kBody,
                                     b.thin ? ui.colors->t2 : ui.colors->t1,
                                     ui.text.fitted(b.thin ? kCaption : kBody, b.name, room));
        ui.text.draw(r.x + 22 + w, r.middle_y(), kCaptionMono, ui.colors->t3,
                     ui.text.fitted(kCaptionMono, b.shape, std::max(0.0f, room - w - 10)));
    } else {
        ui.text.draw(r.x + 12, r.y + d.unit(17), kBody, ui.colors->t1, ui.text.fitted(kBody, b.name, room));
        ui.text.draw(r.x + 12, r.y + d.unit(36), kCaption, ui.colors->t3,
                     ui.text.fitted(kCaption, b.shape, r.w - 24));
    }
    ui.tooltip(path, h, b.help);
    if (h.clicked && opens) {
        if (b.block >= 0) s.select_block(b.block);
        s.send(std::string("view ") + b.view);
    }
    return h.hovered;
}

void draw_plus(Ui& ui, ImVec2 at) {
    ui.disc(at, 7, ui.colors->bg1);
    ui.ring(at, 7, ui.colors->t2, 1.3f);
    ui.stroke({at.x - 4, at.y}, {at.x + 4, at.y}, ui.colors->t2, 1.3f);
    ui.stroke({at.x, at.y - 4}, {at.x, at.y + 4}, ui.colors->t2, 1.3f);
}

struct Anchors {
    ImVec2 top{}, cross{};  // where a stack's output leaves, where the encoder's enters
};

/// Whether the attention of a layer can stand beside the diagram: where there are several kinds.
bool offers_maps(const Scene& s) {
    return s.model()->config.stacks.size() > 1 && s.of<ArchitectureState>().config == 0 && s.sentence();
}

/// One stack, bottom to top, the residual stream on its left.
Anchors draw_stack(Scene& s, const Diagram& d, Rect area, const ModelConfig& c, int index,
                   const std::vector<Block>& blocks, const std::vector<ParameterRow>& table, bool possible,
                   const Block** pointed) {
    Ui& ui = s.ui;
    const StackConfig& stack = c.stacks[index];
    const float rail = area.x + 22, left = area.x + 44, gap = d.unit(kGap);
    const Rect column{left, area.y, std::min(area.w - 60, kWide), area.h};
    float y = area.bottom() - d.unit(40);
    const bool vision = c.can.read_image;
    const std::string reads = vision ? std::to_string(c.vision.patches()) + " patches and a class token"
                                     : (c.stacks.size() > 1 ? index ? "target " : "source " : "") +
                                           std::string("tokens, at most ") + std::to_string(c.context);
    ui.text.draw(column.x, area.bottom() - d.unit(18), kCaption, ui.colors->t2, reads);
    const float rail_bottom = area.bottom() - d.unit(18);
    Anchors anchors;
    float layer_bottom = 0, layer_top = 0, rail_top = 0;
    struct Branch {
        Rect block, entry;  // what adds, and what its input enters first
        ImVec2 plus;
    };
    std::vector<Branch> branches;
    std::vector<Rect> on_rail;  // norms that the stream itself goes through
    for (size_t i = 0; i < blocks.size(); ++i) {
        const Block& b = blocks[i];
        const bool enters = b.in_layer && (i == 0 || !blocks[i - 1].in_layer),
                   leaves = b.in_layer && (i + 1 == blocks.size() || !blocks[i + 1].in_layer);
        if (enters) y -= gap, layer_bottom = y + gap * 0.6f;
        const float h = d.height(b);
        y -= h;
        const Rect r{column.x, y, column.w, h};
        if (draw_block(s, d, b, r, "model/" + std::to_string(index) + "/" + std::to_string(i), table,
                       possible))
            *pointed = &b;
        const bool normed_first =
            i > 0 && blocks[i - 1].thin && blocks[i - 1].in_layer && c.norm_place == NormPlace::before;
        if (b.adds)
            branches.push_back({r,
                                normed_first ? Rect{r.x, r.bottom() + gap, r.w, d.height(blocks[i - 1])} : r,
                                {rail, r.y - gap / 2}});
        if (b.thin && b.in_layer && c.norm_place == NormPlace::after) on_rail.push_back(r);
        if (b.adds && b.block >= 0 && offers_maps(s) && s.of<ArchitectureState>().maps)
            draw_kind_number(ui, {r.right(), r.y}, index == 0 ? 1 : b.from_encoder ? 3 : 2);
        if (b.from_encoder) anchors.cross = {r.x, r.middle_y()};
        if (!b.in_layer) ui.stroke({rail, r.middle_y()}, {r.x, r.middle_y()}, ui.colors->l2, 1.3f);
        y -= gap;
        if (leaves) layer_top = y + gap * 0.2f, y -= gap;
        rail_top = r.middle_y();
    }
    ui.stroke({rail, rail_bottom}, {rail, rail_top}, ui.colors->l2, 2);
    const auto wire = [&](ImVec2 from, ImVec2 to) { ui.stroke(from, to, ui.colors->l2, 1.3f); };
    for (const Branch& b : branches) {
        const float in = b.entry.y == b.block.y ? b.block.bottom() - b.block.h * 0.25f : b.entry.middle_y(),
                    out = b.block.y + b.block.h * 0.3f;
        wire({rail, in}, {column.x, in});
        if (b.entry.y != b.block.y) wire({column.x + 24, b.entry.y}, {column.x + 24, b.block.bottom()});
        wire({column.x, out}, {rail + 12, out});
        wire({rail + 12, out}, b.plus);
        draw_plus(ui, b.plus);
    }
    for (const Rect& r : on_rail) wire({rail, r.middle_y()}, {r.x, r.middle_y()});
    const Rect layer{area.x + 4, layer_top, column.right() + 12 - area.x - 4, layer_bottom - layer_top};
    ui.frame(layer, ui.colors->t3, 1, size::popup_corner);
    const std::string times = "× " + std::to_string(stack.layers);
    if (area.w - column.w > 100)
        ui.text.draw(layer.right() + 10, layer.middle_y(), kTitle, ui.colors->accent_text, times);
    else
        ui.text.draw_right(layer.right() - 6, layer.y - 12, kBody, ui.colors->accent_text, times);
    anchors.top = {rail, rail_top};
    const std::string says = index + 1 < isize(c.stacks) ? "to the decoder"
                             : vision                    ? "a class"
                             : c.can.fill_masks          ? "each token, read in both directions"
                                                         : "the next token";
    ui.text.draw(column.x, y - d.unit(6), kCaption, ui.colors->t2, says);
    return anchors;
}

/// What stands beside the diagram, and of which layer and head.
void choose_maps(Scene& s, float x, float y) {
    Ui& ui = s.ui;
    if (const int c = ui.choice(x, y, "Side panel", "model/beside", {"attention", "parameters"},
                                s.of<ArchitectureState>().maps ? 0 : 1);
        c >= 0)
        s.of<ArchitectureState>().maps = c == 0;
    if (!s.of<ArchitectureState>().maps) return;
    const ModelConfig& c = s.model()->config;
    const AttentionBlock now = c.block(s.session.selection.block);
    std::vector<std::string> layers, heads{"mean"};
    for (int l = 0; l < c.stacks[now.stack].layers; ++l) layers.push_back(std::to_string(l));
    for (int h = 0; h < c.heads(s.session.selection.block); ++h) heads.push_back(std::to_string(h));
    if (const int l = ui.choice(x, y, "Layer", "model/layer", layers, now.layer); l >= 0)
        s.select_block(s.session.selection.block + l - now.layer);
    if (const int h = ui.choice(x, y, "Head", "model/head", heads,
                                s.of<ArchitectureState>().mean ? 0 : s.session.selection.head + 1);
        h >= 0) {
        s.of<ArchitectureState>().mean = h == 0;
        if (h > 0) s.select(s.session.selection.block, h - 1);
    }
}

void draw_architecture_toolbar(Scene& s, Rect area, const ModelConfig& c) {
    Ui& ui = s.ui;
    const float y = area.y + 26;
    const std::string title = s.of<ArchitectureState>().config ? "GPT-3 175B" : s.model()->name;
    float x = draw_back(s, area, "model/back", title) + 14;
    x += ui.text.draw(x, y + 2, kCaption, ui.colors->t3,
                      c.family_name + " · d_model " + std::to_string(c.d_model) + " · " +
                          short_count(parameter_count(c)) + " parameters") +
         32;
    if (const int choice = ui.choice(x, y, "Architecture", "model/config",
                                     {s.model()->name, "GPT-3 175B, from its config alone"},
                                     s.of<ArchitectureState>().config);
        choice >= 0)
        s.of<ArchitectureState>().config = choice;
    if (offers_maps(s)) choose_maps(s, x, y);
    ui.hairline(area.x, area.y + 52, area.right(), area.y + 52);
}

}  // namespace

void draw_architecture(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.of<ArchitectureState>().config ? gpt3_config() : s.model()->config;
    if (!ui.on_page()) draw_architecture_toolbar(s, area, c);
    const auto table = parameter_table(c);
    const Rect rest{area.x + 24, area.y + 64, area.w - 48, area.h - 72};
    const bool maps = offers_maps(s) && s.of<ArchitectureState>().maps && rest.w > 900;
    const float stack_w = maps ? rest.w * 0.2f
                               : std::min(kWide + 120, rest.w * (c.stacks.size() > 1 ? 0.34f : 0.5f)),
                table_w = std::min(rest.w - stack_w * float(c.stacks.size()) - 24, maps ? 1600.0f : 720.0f);
    std::vector<std::vector<Block>> stacks;
    Diagram d{1.35f};
    for (int i = 0; i < isize(c.stacks); ++i) {
        stacks.push_back(blocks_of(c, i));
        d.scale = std::min(
            d.scale,
            rest.h / diagram_height(Diagram{1}, stacks.back()));  // they fill the height, within reason
    }
    d.scale = std::max(d.scale, 0.45f);
    const Block* pointed = nullptr;
    std::vector<Anchors> anchors;
    for (int i = 0; i < isize(stacks); ++i) {
        const float high = std::min(rest.h, diagram_height(d, stacks[i]));
        anchors.push_back(draw_stack(s, d, {rest.x + stack_w * float(i), rest.bottom() - high, stack_w, high},
                                     c, i, stacks[i], table, s.of<ArchitectureState>().config == 0,
                                     &pointed));
    }
    if (anchors.size() == 2) {  // what the encoder leaves is what cross-attention reads
        const float middle = rest.x + stack_w - 4;
        const std::array<ImVec2, 4> path{{{anchors[0].top.x, anchors[0].top.y - d.unit(26)},
                                          {middle, anchors[0].top.y - d.unit(26)},
                                          {middle, anchors[1].cross.y},
                                          {anchors[1].cross.x, anchors[1].cross.y}}};
        ui.stroke(anchors[0].top, path[0], ui.colors->accent, 1.6f);
        ui.polyline(path, ui.colors->accent, 1.6f);
        ui.polygon(
            std::array<ImVec2, 3>{{path[3], {path[3].x - 8, path[3].y - 4}, {path[3].x - 8, path[3].y + 4}}},
            ui.colors->accent);
    }
    if (maps) return draw_layer_maps(s, {rest.right() - table_w, rest.y + 8, table_w, rest.h - 8});
    if (table_w > 280)
        draw_parameters(s, {rest.right() - table_w, rest.y, table_w, rest.h}, c, table, pointed);
}

}  // namespace headlight

// Selects the heads of a layer that are drawn as lines.
#include "parts/layer_heads.h"

#include <algorithm>

#include "io/json.h"
#include "parts/controls.h"
#include "session/commands/commands.h"

namespace headlight {

void LayerHeads::visit(FieldVisitor& v) {
    v.share("link_share", share, kShareOption);
    v.choose_among(share, kShares,
                   {"lines share", "Lines: share of each row", kShareOption.help, share_words(), true});
    v.report("hidden_heads", hidden);
}

namespace {

/// Parses "2.0,2.3" or "all".
Status show_heads(CommandContext& c, const std::string& words) {
    Selection& s = c.session.selection;
    std::set<int> hidden;
    if (words != "all") {
        TRY(const auto shown, heads_named(c, words));
        const int block = shown[0].block;
        if (std::any_of(shown.begin(), shown.end(), [&](AttentionHead h) { return h.block != block; }))
            return Error{"Lines show one layer; name heads of the same layer."};
        for (int h = 0; h < c.model()->config.heads(block); ++h) hidden.insert(h);
        for (const AttentionHead head : shown) hidden.erase(head.head);
        s.choose(block, shown[0].head);
    }
    c.session.of<LayerHeads>().hidden = std::move(hidden);
    return success();
}

}  // namespace

std::vector<Command> layer_heads_commands() {
    return {row({"lines heads all|LAYER.HEAD,LAYER.HEAD", "Lines: heads shown",
                 "heads of a layer to draw: lines heads 2.0,2.3"},
                show_heads, needs_sentence)};
}

ShownHeads drawn_heads_of_layer(const Session& s, const ModelConfig& c) {
    const std::set<int>& hidden = s.of<LayerHeads>().hidden;
    const auto [block, chosen] = s.selection.shown_head();
    int drawn = 0, last = chosen;
    for (int head = 0; head < c.heads(block); ++head)
        if (!hidden.count(head)) ++drawn, last = head;
    const bool alone = drawn == 1 && c.heads(block) > 1;
    return {{block, alone ? last : chosen}, !alone, {}};
}

std::vector<int> drawn_heads(const Scene& s) {
    std::vector<int> out;
    for (int h = 0; h < s.model()->config.heads(s.block()); ++h)
        if (!s.of<LayerHeads>().hidden.count(h)) out.push_back(h);
    return out;
}

const LayerLinks* shown_links(const Scene& s) {
    return s.found<LinksRequest>() ? &s.found<LinksRequest>()->answer : nullptr;
}

namespace {

struct LayerHeadsScroll {
    float hidden = 0;
};

/// Toggles a head on click; isolates it on double-click.
void answer_head(Scene& s, const Hit& hit, int head, int heads) {
    auto& hidden = s.of<LayerHeads>().hidden;
    if (hit.hovered && ImGui::IsMouseDoubleClicked(0)) {
        for (int other = 0; other < heads; ++other) hidden.insert(other);
        hidden.erase(head);
    } else if (hit.clicked && !hidden.insert(head).second) {
        hidden.erase(head);
    }
    if (hit.clicked) s.select(s.session.selection.block, head);
}

/// Draws a head's color and name, and the focused query's strongest key in it.
void draw_layer_head(Scene& s, Rect line, int head, const LayerLinks* links, bool on) {
    constexpr float kSwatch = 16, kWeight = 48;
    Ui& ui = s.ui;
    const Rect swatch = square_at(take_left(line, kSwatch, gap::medium).middle(), kSwatch);
    if (on)
        ui.fill(swatch, head_ink(s, head), size::corner);
    else
        ui.frame(swatch, head_ink(s, head), 2, size::corner);
    const std::string name = head_name(s.model()->config, s.session.selection.block, head);
    take_left(line, write(ui, line, kBodyMono, on ? ui.colors->t1 : ui.colors->t3, name), gap::large);
    const auto cell = s.shown_cell();
    if (!links || !cell || links->of_head[head][cell->first].empty()) return;
    const Link& link = links->of_head[head][cell->first][0];
    const ImU32 ink = on ? ui.colors->t2 : ui.colors->t3;
    write(ui, take_right(line, kWeight, gap::small), kBodyMono, ink, number(link.weight, 2), Flush::right);
    write(ui, line, kBodyMono, ink, s.key_labels()[link.key]);
}

}  // namespace

void draw_layer_heads(Scene& s, Rect area) {
    constexpr float kFoot = 42, kLink = 24;
    constexpr const char* kHelp = "Click toggles a head, double-click isolates it.";
    Ui& ui = s.ui;
    const int heads = s.model()->config.heads(s.block());
    const LayerLinks* links = s.answer->picture ? shown_links(s) : nullptr;
    Rect rest = list_heading(ui, area, "Heads shown",
                             std::to_string(drawn_heads(s).size()) + " of " + std::to_string(heads));
    if (rest.h > 2 * kFoot) caption_lines(ui, take_bottom(rest, kFoot), kHelp);
    const Rect all = take_bottom(rest, kLink);
    const float row = size::row * float(heads) > rest.h ? size::row_low : size::row;
    Rect rows = inset(rest, -gap::small, 0);
    float& hidden = s.of<LayerHeadsScroll>().hidden;
    hidden = scrolled(ui, rows, row * float(heads), hidden);
    ui.scroll_area(rows);
    for (int h = 0; h < heads; ++h) {
        const Rect back{rows.x, rows.y + row * float(h) - hidden, rows.w, row},
            line = inset(back, gap::small, 0);
        const Hit hit = ui.control("lines/head/" + std::to_string(h), back);
        if (hit.hovered) ui.fill(back, ui.colors->bg3, size::corner);
        draw_layer_head(s, line, h, links, !s.of<LayerHeads>().hidden.count(h));
        answer_head(s, hit, h, heads);
    }
    ui.end_scroll_area();
    if (ui.link("lines/all", all.right(), all.middle_y(), "Show all")) s.of<LayerHeads>().hidden.clear();
}

}  // namespace headlight

// Which heads of a layer are drawn as lines.
#include "views/layer_heads.h"

#include <algorithm>

#include "io/json.h"
#include "session/commands.h"
#include "views/parts.h"

namespace headlight {

void LayerHeads::visit(FieldVisitor& v) {
    v.number("link_share", share, 0.01f, 1);
    v.choose_among(share, kShares,
                   {"lines share", "Lines: share of each row", "how much of each row is drawn, in percent",
                    share_words(), true});
    v.report("hidden_heads", hidden);
}

namespace {

/// "2.0,2.3": these alone, in their layer; "all".
Status show_heads(CommandContext& c, const std::string& words) {
    Selection& s = c.session.selection;
    std::set<int> hidden;
    if (words != "all") {
        TRY(const auto shown, heads_named(c, words));
        const int block = shown[0].block;
        if (std::any_of(shown.begin(), shown.end(), [&](AttentionHead h) { return h.block != block; }))
            return Error{"Lines show the heads of one layer; name heads of one."};
        for (int h = 0; h < c.model()->config.heads(block); ++h) hidden.insert(h);
        for (const AttentionHead head : shown) hidden.erase(head.head);
        std::tie(s.block, s.head, s.choose_head) = std::tuple{block, shown[0].head, false};
    }
    c.session.of<LayerHeads>().hidden = std::move(hidden);
    return success();
}

}  // namespace

std::vector<Command> layer_heads_commands() {
    return {row({"lines heads all|LAYER.HEAD,LAYER.HEAD", "Lines: heads shown",
                 "the heads of a layer that are drawn: lines heads 2.0,2.3"},
                show_heads, needs_sentence)};
}

std::vector<int> drawn_heads(const Scene& s) {
    std::vector<int> out;
    for (int h = 0; h < s.model()->config.heads(s.block()); ++h)
        if (!s.of<LayerHeads>().hidden.count(h)) out.push_back(h);
    return out;
}

const LayerLinks* shown_links(const Scene& s) {
    return s.found<LinksWanted>() ? &s.found<LinksWanted>()->answer : nullptr;
}

void draw_layer_heads(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const int heads = s.model()->config.heads(s.block());
    const auto cell = s.shown_cell();
    const LayerLinks* links = s.answer->picture ? shown_links(s) : nullptr;
    ui.text.draw(area.x, area.y + 22, kCaption, ui.colors->t3, "Heads shown");
    ui.text.draw_right(area.right(), area.y + 22, kCaption, ui.colors->t2,
                       std::to_string(drawn_heads(s).size()) + " of " + std::to_string(heads));
    float y = area.y + 54;
    for (int h = 0; h < heads && y + 14 < area.bottom() - 66; ++h, y += 28) {
        const Rect r{area.x - 8, y - 14, area.w + 16, 28};
        const Hit hit = ui.control("lines/head/" + std::to_string(h), r);
        const bool on = !s.of<LayerHeads>().hidden.count(h);
        if (hit.hovered) ui.fill(r, ui.colors->bg3, size::corner);
        const Rect swatch{area.x, y - 8, 16, 16};
        if (on)
            ui.fill(swatch, head_ink(s, h), size::corner);
        else
            ui.frame(swatch, head_ink(s, h), 2, size::corner);
        ui.text.draw(area.x + 28, y, kBodyMono, on ? ui.colors->t1 : ui.colors->t3,
                     head_name(s.model()->config, s.session.selection.block, h));
        if (links && cell)
            if (const auto& row = links->of_head[h][cell->first]; !row.empty()) {
                ui.text.draw_right(area.right(), y, kBodyMono, on ? ui.colors->t2 : ui.colors->t3,
                                   number(row[0].weight, 2));
                const float name =
                    ui.text.width(kBodyMono, head_name(s.model()->config, s.session.selection.block, h)) + 44;
                ui.text.draw(area.x + name, y, kBodyMono, on ? ui.colors->t2 : ui.colors->t3,
                             ui.text.fitted(kBodyMono, s.key_labels()[row[0].key], area.w - name - 56));
            }
        if (hit.hovered && ImGui::IsMouseDoubleClicked(0)) {
            for (int other = 0; other < heads; ++other) s.of<LayerHeads>().hidden.insert(other);
            s.of<LayerHeads>().hidden.erase(h);
        } else if (hit.clicked && !s.of<LayerHeads>().hidden.insert(h).second) {
            s.of<LayerHeads>().hidden.erase(h);
        }
        if (hit.clicked) s.select(s.session.selection.block, h);
    }
    if (ui.link("lines/all", area.right(), area.bottom() - 56, "Show all")) s.of<LayerHeads>().hidden.clear();
    ui.text.draw_wrapped(area.x, area.bottom() - 42, area.w, kCaption, ui.colors->t3,
                         "Click toggles a head, double-click isolates it.");
}

}  // namespace headlight

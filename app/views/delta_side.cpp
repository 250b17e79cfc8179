// ΔE: the heads ranked by how far they move the token, and the numbers of one layer's step.
#include <algorithm>
#include <cmath>

#include "views/delta.h"
#include "views/save_menu.h"

namespace headlight {

void draw_delta_list(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<DeltaSplitWanted>();
    if (!found) return;
    const ModelConfig& c = s.model()->config;
    const auto& values = found->answer.norm_by_head;
    ui.text.draw(
        area.x, area.y + 22, kCaption, ui.colors->t3,
        ui.text.fitted(kCaption,
                       "‖ΔE‖ of each head at " +
                           token_at(s.sentence()->query_labels(found->asked.block), found->asked.query),
                       area.w));
    RankedHeads heads{"delta/head/", order_by(values, false), values,
                      std::pair{s.session.selection.block, s.session.selection.head}};
    heads.order.erase(std::remove_if(heads.order.begin(), heads.order.end(),
                                     [&](size_t i) { return std::isnan(values[i]); }),
                      heads.order.end());
    if (const auto pressed = draw_ranked(s, {area.x, area.y + 42, area.w, area.h - 42}, c, heads))
        s.select(pressed->first, pressed->second);
}

namespace {

/// What the model would predict after each layer, or what each head promotes: a name and what follows it.
float draw_next_by_layer(Scene& s, Rect column, float y, const DeltaSplit& split, int layer) {
    Ui& ui = s.ui;
    ui.text.draw(column.x, y, kCaption, ui.colors->t3, "Next token after each layer");
    ui.text.draw_right(column.right(), y, kCaption, ui.colors->t3, "p");
    const size_t first =
        split.after_layer.size() > 9
            ? std::min(split.after_layer.size() - 8, static_cast<size_t>(std::max(0, layer - 2)) + 1)
            : 1;
    for (size_t i = first; i < std::min(split.after_layer.size(), first + 8); ++i) {
        y += 26;
        const bool on = static_cast<int>(i) == layer + 1;
        const ImU32 ink = on ? ui.colors->accent_text : ui.colors->t1;
        ui.text.draw(column.x, y, kBodyMono, ui.colors->t3, std::to_string(i - 1));
        ui.text.draw(column.x + 26, y, kBodyMono, ink,
                     ui.text.fitted(kBodyMono, prediction_label(*s.model(), split.after_layer[i].id), 76));
        ui.bar({column.x + 110, y - 4, column.w - (110 + 60), 8}, split.after_layer[i].probability,
               on ? ui.colors->accent : ui.colors->t3);
        ui.text.draw_right(column.right(), y, kBodyMono, ink, number(split.after_layer[i].probability, 3));
    }
    return y + 24;
}

void draw_heads_raise(Scene& s, Rect column, float y, const Found<DeltaSplitWanted>& found) {
    Ui& ui = s.ui;
    ui.text.draw(column.x, y, kCaption, ui.colors->t3, "Tokens promoted by each head");
    y += 30;
    for (size_t h = 0; h < found.answer.head_raises.size(); ++h, y += 34) {
        std::vector<std::string> tokens;
        for (const int id : found.answer.head_raises[h]) tokens.push_back(prediction_label(*s.model(), id));
        const std::string name = head_name(s.model()->config, found.asked.block, static_cast<int>(h));
        const float room = std::max(44.0f, ui.text.width(kBodyMono, name) + 12);
        ui.text.draw(column.x, y, kBodyMono, ui.colors->t2, name);
        draw_token_row(ui, column.x + room, y, column.right(), tokens, ui.colors->plus);
    }
}

}  // namespace

void draw_delta_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* maps = s.found<DeltaMapsWanted>();
    const auto* found = s.found<DeltaSplitWanted>();
    if (!maps || !found || !s.shown_cell()) return;
    const ModelConfig& c = s.model()->config;
    const int block = delta_block(s),
              token = std::min<int>(delta_query(s), static_cast<int>(maps->answer.delta.rows()) - 1);
    const auto place = std::find(maps->answer.blocks.begin(), maps->answer.blocks.end(), block);
    if (place == maps->answer.blocks.end()) return;
    float y = draw_inspector_title(
        s, area, token_at(s.sentence()->labels[static_cast<size_t>(maps->asked.stack)], token),
        "layer " + block_name(c, block));
    const float pad = size::inspector_pad;
    const Rect column{area.x + pad, area.y, area.w - 2 * pad, area.h},
        save{column.x, area.bottom() - 48, column.w, size::button};
    const auto at = static_cast<Index>(place - maps->answer.blocks.begin());
    const float before = maps->answer.before(token, at), delta = maps->answer.delta(token, at);
    ui.clip({area.x, area.y, area.w, save.y - 8 - area.y});
    y = draw_pair(ui, column, y, "‖E‖ before", number(before, 2));
    y = draw_pair(ui, column, y, "‖ΔE‖", number(delta, 2), s.of<DeltaState>().show == DeltaShow::norm);
    y = draw_pair(ui, column, y, "‖ΔE‖ ÷ ‖E‖", number(delta / std::max(before, 1e-12f), 3),
                  s.of<DeltaState>().show == DeltaShow::ratio);
    y = draw_pair(ui, column, y, "cosine E, E + ΔE", number(maps->answer.cosine(token, at), 3),
                  s.of<DeltaState>().show == DeltaShow::cosine);
    ui.hairline(column.x, y, column.right(), y);
    y += 22;
    if (!found->answer.after_layer.empty()) {
        y = draw_next_by_layer(s, column, y, found->answer, c.block(block).layer);
        ui.hairline(column.x, y, column.right(), y);
        y += 22;
    }
    if (!found->answer.head_raises.empty()) draw_heads_raise(s, column, y, *found);
    ui.unclip();
    if (ui.button("save", save, "Save figure…")) s.send("save figure");
}

std::vector<NumberTable> delta_numbers(const Scene& s) {
    const auto* found = s.found<DeltaMapsWanted>();
    if (!found) return {};
    const DeltaMaps& m = found->answer;
    std::vector<std::string> names;
    for (const int block : m.blocks) names.push_back(block_path(s.model()->config, block));
    const auto& tokens = s.sentence()->labels[static_cast<size_t>(found->asked.stack)];
    return {{"norm before", "token", "block", tokens, names, m.before},
            {"norm of delta", "token", "block", tokens, names, m.delta},
            {"cosine", "token", "block", tokens, names, m.cosine}};
}

}  // namespace headlight

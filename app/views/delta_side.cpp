// ΔE: the heads ranked by how far they move the token, and the numbers of one layer's step.
#include <algorithm>
#include <cmath>

#include "views/delta.h"

namespace headlight {

void draw_delta_list(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<DeltaSplitWanted>();
    if (!found) return;
    const ModelConfig& c = s.model()->config;
    const auto& values = found->answer.norm_by_head;
    ui.text.draw(area.x, area.y + ui.px(22), kCaption, ui.colors->t3, ui.text.fitted(kCaption, "‖ΔE‖ of each head at " + token_at(s.sentence()->query_labels(found->asked.site), found->asked.query), area.w));
    const auto order = order_by(values, false);
    float largest = 1e-12f, names = ui.px(48);
    for (const float v : values) largest = std::isnan(v) ? largest : std::max(largest, v);
    for (int site = 0; site < c.sites(); ++site) names = std::max(names, ui.text.width(kBodyMono, head_name(c, site, c.heads - 1)) + ui.px(12));
    const float row_h = ui.px(size::row);
    const Rect rows{area.x - ui.px(8), area.y + ui.px(42), area.w + ui.px(16), area.h - ui.px(54)};
    const auto count = static_cast<size_t>(std::count_if(values.begin(), values.end(), [](float v) { return !std::isnan(v); }));
    s.state.rank_scroll = scrolled(ui, rows, row_h * static_cast<float>(count), s.state.rank_scroll);
    ui.clip(rows);
    for (size_t i = 0; i < count; ++i) {
        const Rect r{rows.x, rows.y + row_h * static_cast<float>(i) - s.state.rank_scroll, rows.w, row_h};
        if (r.bottom() < rows.y || r.y > rows.bottom()) continue;
        const int site = static_cast<int>(order[i]) / c.heads, head = static_cast<int>(order[i]) % c.heads;
        const Hit h = ui.hit("delta/head/" + head_name(c, site, head), r);
        if (h.hovered) ui.fill(r, ui.colors->bg3, size::corner);
        const bool of_layer = site == delta_site(s);
        ui.text.draw(area.x, r.middle_y(), kBodyMono, of_layer ? ui.colors->accent_text : ui.colors->t1, head_name(c, site, head));
        ui.bar({area.x + names, r.middle_y() - ui.px(4), area.w - names - ui.px(64), ui.px(8)}, values[order[i]] / largest, of_layer ? ui.colors->accent : ui.colors->t3);
        ui.text.draw_right(area.right(), r.middle_y(), kBodyMono, of_layer ? ui.colors->accent_text : ui.colors->t2, number(values[order[i]], 2));
        if (h.hovered) s.state.hovered_head = std::pair{site, head};
        if (!h.clicked) continue;
        s.state.site = site;
        s.state.head = head;
    }
    ui.unclip();
}

namespace {

/// What the model would say after each layer, or what each head raises: a name and what follows it.
float draw_next_by_layer(Scene& s, Rect column, float y, const DeltaSplit& split, int layer) {
    Ui& ui = s.ui;
    ui.text.draw(column.x, y, kCaption, ui.colors->t3, "Next token, read after each layer");
    ui.text.draw_right(column.right(), y, kCaption, ui.colors->t3, "p");
    const size_t first = split.after_layer.size() > 9 ? std::min(split.after_layer.size() - 8, static_cast<size_t>(std::max(0, layer - 2)) + 1) : 1;
    for (size_t i = first; i < std::min(split.after_layer.size(), first + 8); ++i) {
        y += ui.px(26);
        const bool on = static_cast<int>(i) == layer + 1;
        const ImU32 ink = on ? ui.colors->accent_text : ui.colors->t1;
        ui.text.draw(column.x, y, kBodyMono, ui.colors->t3, std::to_string(i - 1));
        ui.text.draw(column.x + ui.px(26), y, kBodyMono, ink, ui.text.fitted(kBodyMono, prediction_label(*s.model(), split.after_layer[i].id), ui.px(76)));
        ui.bar({column.x + ui.px(110), y - ui.px(4), column.w - ui.px(110 + 60), ui.px(8)}, split.after_layer[i].probability, on ? ui.colors->accent : ui.colors->t3);
        ui.text.draw_right(column.right(), y, kBodyMono, ink, number(split.after_layer[i].probability, 3));
    }
    return y + ui.px(24);
}

void draw_heads_raise(Scene& s, Rect column, float y, const Found<DeltaSplitWanted>& found) {
    Ui& ui = s.ui;
    ui.text.draw(column.x, y, kCaption, ui.colors->t3, "What each head of layer " + site_name(s.model()->config, found.asked.site) + " raises");
    y += ui.px(30);
    for (size_t h = 0; h < found.answer.head_raises.size(); ++h, y += ui.px(34)) {
        std::vector<std::string> tokens;
        for (const int id : found.answer.head_raises[h]) tokens.push_back(prediction_label(*s.model(), id));
        const std::string name = head_name(s.model()->config, found.asked.site, static_cast<int>(h));
        const float room = std::max(ui.px(44), ui.text.width(kBodyMono, name) + ui.px(12));
        ui.text.draw(column.x, y, kBodyMono, ui.colors->t2, name);
        draw_token_row(ui, column.x + room, y, column.right(), tokens, ui.colors->plus);
    }
}

}  // namespace

void draw_delta_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto *maps = s.found<DeltaMapsWanted>();
    const auto* found = s.found<DeltaSplitWanted>();
    if (!maps || !found || !s.shown_cell()) return;
    const ModelConfig& c = s.model()->config;
    const int site = delta_site(s), token = std::min<int>(delta_query(s), static_cast<int>(maps->answer.delta.rows()) - 1);
    const auto place = std::find(maps->answer.sites.begin(), maps->answer.sites.end(), site);
    if (place == maps->answer.sites.end()) return;
    float y = draw_inspector_title(s, area, token_at(s.sentence()->labels[static_cast<size_t>(maps->asked.stack)], token), "layer " + site_name(c, site));
    const float pad = ui.px(size::inspector_pad);
    const Rect column{area.x + pad, area.y, area.w - 2 * pad, area.h}, save{column.x, area.bottom() - ui.px(48), column.w, ui.px(size::button)};
    const auto at = static_cast<Index>(place - maps->answer.sites.begin());
    const float before = maps->answer.before(token, at), delta = maps->answer.delta(token, at);
    ui.clip({area.x, area.y, area.w, save.y - ui.px(8) - area.y});
    y = draw_pair(ui, column, y, "‖E‖ before", number(before, 2));
    y = draw_pair(ui, column, y, "‖ΔE‖", number(delta, 2), s.state.delta_show == DeltaShow::norm);
    y = draw_pair(ui, column, y, "‖ΔE‖ ÷ ‖E‖", number(delta / std::max(before, 1e-12f), 3), s.state.delta_show == DeltaShow::ratio);
    y = draw_pair(ui, column, y, "cosine E, E + ΔE", number(maps->answer.cosine(token, at), 3), s.state.delta_show == DeltaShow::cosine);
    ui.hairline(column.x, y, column.right(), y);
    y += ui.px(22);
    if (!found->answer.after_layer.empty()) {
        y = draw_next_by_layer(s, column, y, found->answer, c.site(site).layer);
        ui.hairline(column.x, y, column.right(), y);
        y += ui.px(22);
    }
    if (!found->answer.head_raises.empty()) draw_heads_raise(s, column, y, *found);
    ui.unclip();
    if (ui.button("save", save, "Save picture…")) s.state.save_menu = true;
}

}  // namespace headlight

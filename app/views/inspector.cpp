// The right panel: every number of one cell.
#include <cmath>

#include "views/changes.h"
#include "views/panels.h"
#include "views/parts.h"
#include "views/save_menu.h"

namespace headlight {

namespace {

struct Column {
    Ui& ui;
    float left, right, y;
    float tight = 1;  // low windows: less air between the lines

    void pair(const std::string& label, const std::string& value, float step, bool big = false) {
        ui.text.draw(left, y, kBody, ui.colors->t2, label);
        ui.text.draw_right(right, y, big ? kTitleMono : kBodyMono,
                           big ? ui.colors->accent_text : ui.colors->t1, value);
        y += step * tight;
    }
    void rule() {
        ui.hairline(left, y, right, y);
        y += 22 * tight;
    }
};

void draw_title(Scene& s, Rect area, std::pair<int, int> cell) {
    Ui& ui = s.ui;
    const float y = area.y + 26, pad = size::inspector_pad;
    const char* state = why_shown(s, cell.first);
    const std::string query = s.query_labels()[static_cast<size_t>(cell.first)],
                      key = s.key_labels()[static_cast<size_t>(cell.second)], i = std::to_string(cell.first),
                      j = std::to_string(cell.second);
    const float room =
        area.w - 2 * pad - ui.text.width(kCaption, state) - ui.text.width(kCaptionMono, i + j) - 60;
    const Font font = ui.text.width(kTitleMono, query + key) <= room ? kTitleMono : kBodyMono;
    float x = area.x + pad;
    x += ui.text.draw(x, y, font, ui.colors->accent_text,
                      ui.text.fitted(font, query, room - std::min(room / 2, ui.text.width(font, key)))) +
         2;
    x += ui.text.draw(x, y + 2, kCaptionMono, ui.colors->accent_text, i) + 10;
    x += ui.text.draw(x, y, kTitle, ui.colors->t3, "→") + 10;
    x += ui.text.draw(x, y, font, ui.colors->t1,
                      ui.text.fitted(font, key, room - std::min(room / 2, ui.text.width(font, query)))) +
         2;
    ui.text.draw(x, y + 2, kCaptionMono, ui.colors->t3, j);
    ui.text.draw_right(area.right() - pad, y + 2, kCaption,
                       s.session.selection.hovered.cell || !s.session.selection.locked
                           ? ui.colors->t3
                           : ui.colors->accent_text,
                       state);
    ui.name("inspector/title", {area.x, area.y, area.w, 48});
}

void draw_row(Scene& s, Column& c, const CellReport& r, int query) {
    Ui& ui = s.ui;
    const auto& labels = s.key_labels();
    ui.text.draw(
        c.left, c.y, kCaption, ui.colors->t3,
        ui.text.fitted(kCaption, token_at(s.query_labels(), query) + " attends to", c.right - c.left - 60));
    ui.text.draw_right(c.right, c.y, kCaption, ui.colors->t3, "weight");
    c.y += 26 * c.tight;
    const float index_right = c.left + 22, name_room = 64, bar_left = index_right + 8 + name_room,
                bar_right = c.right - 62;
    const float top = r.row.empty() ? 1 : std::max(r.row[0].probability, 1e-6f);
    for (const Prediction& p : r.row) {
        const bool this_one = p.id == r.cell.key;
        ui.text.draw_right(index_right, c.y, kCaptionMono, ui.colors->t3, std::to_string(p.id));
        ui.text.draw(index_right + 8, c.y, kBodyMono, this_one ? ui.colors->t1 : ui.colors->t2,
                     ui.text.fitted(kBodyMono, labels[static_cast<size_t>(p.id)], name_room - 4));
        ui.bar({bar_left, c.y - 4, bar_right - bar_left, 8}, p.probability / top,
               this_one ? ui.colors->accent : ui.colors->t3);
        ui.text.draw_right(c.right, c.y, kBodyMono, this_one ? ui.colors->t1 : ui.colors->t2,
                           number(p.probability, 3));
        c.y += 26 * c.tight;
    }
    c.y += 2;
}

void draw_token_chips(Scene& s, Column& c, const char* label, const std::vector<int>& ids, ImU32 ink) {
    Ui& ui = s.ui;
    ui.text.draw(c.left, c.y, kBody, ui.colors->t2, label);
    float x = c.left + 88;
    for (const int id : ids) {
        const std::string token = prediction_label(*s.model(), id);
        const float w = ui.text.width(kCaptionMono, token) + 16;
        if (x + w > c.right) break;
        ui.fill({x, c.y - 14, w, 28}, ui.colors->bg2, size::corner);
        ui.text.draw(x + 8, c.y, kCaptionMono, ink, token);
        x += w + 6;
    }
    c.y += 34 * c.tight;
}

void draw_delta(Scene& s, Column& c, const CellReport& r) {
    Ui& ui = s.ui;
    ui.text.draw(c.left, c.y, kCaption, ui.colors->t3, "Head output (ΔE)");
    c.y += 26 * c.tight;
    c.pair("‖ΔE‖", number(r.delta_norm, 2), 24);
    const Rect share{c.left, c.y - 12, c.right - c.left, 24};
    ui.tooltip("inspector/share", ui.hit("inspector/share", share),
               "‖ΔE‖ of this head over the sum of ‖ΔE‖ of all heads of the layer, at this query.");
    c.pair("share of the layer", decimals(100 * r.layer_share, 0) + " %", 32);
    if (r.raises.empty() && r.delta_norm == 0) return;
    if (r.raises.empty()) {
        c.y += ui.text.draw_wrapped(c.left, c.y - 8, c.right - c.left, kCaption, ui.colors->t3,
                                    "No direct path to the logits, so no tokens are "
                                    "promoted or suppressed by it alone.");
        return;
    }
    draw_token_chips(s, c, "promotes", r.raises, ui.colors->plus);
    draw_token_chips(s, c, "suppresses", r.lowers, ui.colors->minus);
}

/// From q·k to what enters mask and softmax, in the steps that the model takes.
void draw_score(Scene& s, Column& c, const CellReport& r) {
    const ModelConfig& m = s.model()->config;
    const AttentionRule& rule = s.sentence()->trace->rule(r.cell.block);
    const bool root = m.scale == 0 && !m.scale_by_layer;
    c.pair("q·k", number(r.dot, 2), 24);
    if (rule.scale != 1)
        c.pair(root ? "÷ √" + std::to_string(m.d_head(r.cell.block)) : "× " + decimals(rule.scale, 3),
               number(r.scaled, 2), 24);
    if (rule.cap > 0)
        c.pair("soft cap " + decimals(rule.cap, 0), number(rule.cap * std::tanh(r.scaled / rule.cap), 2), 24);
    if (rule.has_bias()) c.pair("with position bias", number(r.score, 2), 24);
    if (rule.kv_heads < rule.heads)
        c.pair("key/value head",
               std::to_string(rule.kv_head(r.cell.head)) + " of " + std::to_string(rule.kv_heads), 24);
}

}  // namespace

void draw_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const float pad = size::inspector_pad;
    ui.hairline(area.x, area.y + 48, area.right(), area.y + 48);
    auto cell = s.shown_cell();
    if (cell && shows_effects(s)) return draw_effects_inspector(s, area);
    if (!cell) {
        ui.text.draw(area.x + pad, area.y + 24, kTitle, ui.colors->t3, "Inspector");
        ui.text.draw_wrapped(area.x + pad, area.y + 64, area.w - 2 * pad, kBody, ui.colors->t2,
                             "Point at a token or a cell to read its numbers.");
        return;
    }
    const CellReport* r = s.answer->cell.get();
    if (r && s.holds({r->cell.query, r->cell.key}))
        cell = {r->cell.query, r->cell.key};  // for an instant the one before: every number is of one cell
    draw_title(s, area, *cell);
    const Rect save{area.x + pad, area.bottom() - 48, area.w - 2 * pad, size::button};
    const Rect column{area.x + pad, area.y, area.w - 2 * pad, area.h};
    const bool weights = s.sentence()->trace->has_weights();
    const float buttons = weights ? draw_change_buttons(s, column, save.y - 10, *cell) : save.y - 10;
    ui.clip({area.x, area.y, area.w, buttons - area.y});
    Column c{ui, area.x + pad, area.right() - pad, area.y + 74, area.h < 700 ? 0.84f : 1};
    const bool masked = s.answer->picture->at(cell->first, cell->second) < 0;
    c.pair(s.answer->picture->sink_dropped ? "weight, first key left out" : "weight",
           masked ? "—" : number(s.weight(cell->first, cell->second), 3), 32, true);
    if (r) {
        if (s.sentence()->trace->has_scores(r->cell.block)) draw_score(s, c, *r);
        c.pair("mask", r->allowed ? "allowed" : "masked", 24);
        c.pair("rank in row", r->allowed ? std::to_string(r->rank) + " of " + std::to_string(s.keys()) : "—",
               28);
        c.rule();
        draw_row(s, c, *r, cell->first);
        c.rule();
        if (weights)
            draw_delta(s, c, *r);
        else
            ui.text.draw_wrapped(c.left, c.y - 8, c.right - c.left, kCaption, ui.colors->t3,
                                 "A trace holds what was computed, not the model's weights: ΔE, predictions "
                                 "and interventions need the model.");
        if (!s.sentence()->effects.empty()) {
            c.rule();
            draw_effects(s, column, c.y, buttons);
        }
    }
    ui.unclip();
    if (ui.button("save", save, "Save figure…")) s.send("save figure");
}

}  // namespace headlight

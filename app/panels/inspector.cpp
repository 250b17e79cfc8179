// Draws the right panel: every number of one cell.
#include <cmath>

#include "panels/panels.h"
#include "parts/controls.h"
#include "parts/head_tags.h"
#include "parts/interventions.h"
#include "parts/result.h"
#include "parts/score_pairs.h"
#include "parts/side_panel.h"
#include "views/combined_heads.h"

namespace headlight {

namespace {

constexpr float kChipNames = 88;

void draw_row(Scene& s, Column& c, const CellReport& r, int query) {
    const auto& labels = s.key_labels();
    c.heading(token_at(s.query_labels(), query) + " attends to", "weight");
    const float top = r.row.empty() ? 1 : std::max(r.row[0].probability, 1e-6f);
    for (const Prediction& p : r.row)
        c.bar({std::to_string(p.id), labels[p.id], p.probability / top, number(p.probability, 3),
               p.id == r.cell.key});
    c.y += 2;
}

void draw_token_chips(Scene& s, Column& c, const char* label, const std::vector<int>& ids, ImU32 ink) {
    std::vector<std::string> tokens;
    for (const int id : ids) tokens.push_back(listed_label(*s.model(), id));
    Rect line = c.line();
    write(s.ui, take_left(line, kChipNames), kBody, s.ui.colors->t2, label);
    draw_token_row(s.ui, line, tokens, ink);
    c.skip(34);
}

void draw_delta(Scene& s, Column& c, const CellReport& r) {
    Ui& ui = s.ui;
    c.heading("Head output (ΔE)");
    if (const auto tags = tags_of(s, {r.cell.block, r.cell.head}); !tags.empty()) {
        draw_tags(s, c.line(), tags);
        c.skip(34);
    }
    c.pair("‖ΔE‖", number(r.delta_norm, 2));
    ui.tooltip("inspector/share", ui.hit("inspector/share", {c.at.x, c.y - 12, c.at.w, 24}),
               "‖ΔE‖ of this head divided by its sum over the layer’s heads, at this query.");
    c.pair("share of the layer", decimals(100 * r.layer_share, 0) + " %");
    c.skip(8);
    if (!r.tokens_asked || r.delta_norm == 0) return;
    if (r.promoted.empty())
        return c.note("No direct path to the logits, so this head alone promotes and suppresses no tokens.");
    draw_token_chips(s, c, "promotes", r.promoted, ui.colors->plus);
    draw_token_chips(s, c, "suppresses", r.suppressed, ui.colors->minus);
}

/// Draws the steps from q·k to the softmax's input in this run.
void draw_score(Scene& s, Column& c, const CellReport& r) {
    const ModelConfig& m = s.model()->config;
    const AttentionRule& rule = s.sentence()->trace->rule(r.cell.block);
    const bool splits = s.sentence()->trace->has_weights() && !s.ui.on_page();
    if (splits && s.ui.link("inspector/origins", c.at.right(), c.line().middle_y(), "Break down score")) {
        s.send("origins", std::to_string(r.cell.query) + "," + std::to_string(r.cell.key));
        s.leave_text();
    }
    if (splits) c.pair("score", "");
    draw_score_steps(c, {m, rule, r.cell.block, r, r.weights_by, r.temperature}, ScoreStep::none, false);
    if (r.weights_by == WeightsBy::heaviest) c.pair("temperature 0", "the strongest key only");
    if (r.weights_by == WeightsBy::given) c.pair("pattern", "replaced");
    if (rule.kv_heads < rule.heads)
        c.pair("key/value head",
               std::to_string(rule.kv_head(r.cell.head)) + " of " + std::to_string(rule.kv_heads));
}

/// Draws all numbers of the cell, from its score to the head's output.
void draw_cell(Scene& s, SidePanel& c, const CellReport& r, int query) {
    if (s.sentence()->trace->has_scores(r.cell.block)) draw_score(s, c, r);
    c.pair("mask", r.allowed ? "allowed" : "masked");
    c.pair("rank in row", r.allowed ? std::to_string(r.rank) + " of " + std::to_string(r.ranked) : "—");
    c.skip(4);
    c.rule();
    draw_row(s, c, r, query);
    c.rule();
    if (s.sentence()->trace->has_weights())
        draw_delta(s, c, r);
    else
        c.note("A trace has no weights: ΔE, predictions and interventions need the model.");
}

}  // namespace

void draw_inspector(Scene& s, Rect area) {
    Ui& ui = s.ui;
    auto cell = s.shown_cell();
    if (shows_result(s)) return draw_result_inspector(s, area);
    if (!cell) {
        write(ui, inspector_line(ui, area), kTitle, ui.colors->t3, "Inspector");
        const Rect text = inset(area, size::inspector_pad, 64);
        ui.text.draw_wrapped(text.x, text.y, text.w, kBody, ui.colors->t2,
                             "Point at a token or a cell to read its numbers.");
        return;
    }
    const CellReport* r = s.answer->cell.get();
    if (r && s.holds({r->cell.query, r->cell.key}))
        cell = {r->cell.query, r->cell.key};  // during a change all numbers stay those of one cell
    draw_cell_title(s, area, *cell);
    if (s.answer->picture->group) return draw_group_inspector(s, area, *cell);
    const bool weights = s.sentence()->trace->has_weights();
    const float foot = panel_foot(area).y - 10,
                buttons = weights ? draw_change_buttons(s, panel_column(area), foot, *cell) : foot;
    SidePanel c(s, area, foot + 2 - buttons);
    c.tight = area.h < 700 ? 0.84f : 1;
    c.pair_step = 24;
    c.bars = 94;
    c.values = 62;
    const bool masked = s.answer->picture->at(cell->first, cell->second) < 0;
    c.pair(s.answer->picture->sink_dropped ? "weight, first token hidden" : "weight",
           masked ? "—" : number(s.weight(cell->first, cell->second), 3), Column::Pair::large);
    c.skip(8);
    if (r) draw_cell(s, c, *r, cell->first);
    c.finish();
}

}  // namespace headlight

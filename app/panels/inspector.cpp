// Draws the right panel in three folds: a cell, its row, the head's output.
#include <cmath>

#include "panels/panels.h"
#include "parts/fold.h"
#include "parts/head_tags.h"
#include "parts/interventions.h"
#include "parts/metric.h"
#include "parts/result.h"
#include "parts/score_pairs.h"
#include "parts/side_panel.h"
#include "views/combined_heads.h"

namespace headlight {

namespace {

constexpr float kChipNames = 88;
constexpr const char* kOutputFold = "Head output";

/// Draws "score", a button that splits it, and the value; the steps from q·k are its tooltip.
void draw_score(Scene& s, Column& c, const CellReport& r) {
    constexpr float kNamed = 56, kButton = 104, kHigh = 24, kSign = 20;
    Ui& ui = s.ui;
    const AttentionRule& rule = s.sentence()->trace->rule(r.cell.block);
    Rect button = c.line(kHigh);
    take_left(button, kNamed);
    button.w = kButton;
    c.pair("score", number(r.score, 2));
    ui.tooltip("inspector/score",
               ui.hit("inspector/score", {button.right(), button.y, c.at.right() - button.right(), kHigh}),
               score_steps_text({s.model()->config, rule, r.cell.block, r, r.weights_by, r.temperature}));
    if (no_weights(*s.model())) return;
    if (ui.button("inspector/origins", button, "")) {
        s.send("origins", std::to_string(r.cell.query) + "," + std::to_string(r.cell.key));
        s.leave_text();
    }
    ui.chevron(take_right(button, kSign).middle(), 3, ui.colors->t2, false);
    write(ui, button, kCaption, ui.colors->t1, "Break down", Flush::center);
}

/// Draws what else makes the weight: interventions that act on this cell, and a mask.
void draw_exceptions(Column& c, const CellReport& r) {
    if (r.edited) c.pair("edited from", number(r.capped + r.bias, 2));
    if (r.weights_by == WeightsBy::softmax && r.temperature != 1)
        c.pair("score before " + divided_by(r.temperature), number(r.before, 2));
    if (r.weights_by == WeightsBy::heaviest) c.pair("temperature 0", "the strongest key only");
    if (r.weights_by == WeightsBy::given) c.pair("pattern", "replaced");
    if (!r.allowed) c.pair("mask", "masked");
}

void draw_cell(Scene& s, SidePanel& c, std::pair<int, int> cell, const CellReport* r) {
    if (!c.fold("Cell")) return;
    const std::string what = s.is_mixing() ? "mixing" : "weight";
    c.pair(s.answer->picture->sink_dropped ? what + ", first token hidden" : what,
           s.weight_text(cell.first, cell.second, "—"), Column::Pair::large);
    if (!r) return;
    if (s.sentence()->trace->has_scores(r->cell.block)) draw_score(s, c, *r);
    draw_exceptions(c, *r);
    c.pair("rank in row", r->allowed ? std::to_string(r->rank) + " of " + std::to_string(r->ranked) : "—");
}

void draw_row(Scene& s, SidePanel& c, const CellReport& r) {
    if (!c.fold("Row", "Row", s.is_mixing() ? "mixing" : "weight")) return;
    c.attends_to(s.query_labels()[r.cell.query]);
    const auto& labels = s.key_labels();
    const float top = r.row.empty() ? 1 : std::max(std::abs(r.row[0].probability), 1e-6f);
    for (const Prediction& p : r.row)
        c.bar({std::to_string(p.id), labels[p.id], std::abs(p.probability) / top,
               s.pattern_number(p.probability, 3), p.id == r.cell.key});
    if (r.sink && !s.answer->picture->sink_dropped)
        c.bar({"", "sink", *r.sink / std::max(top, *r.sink), s.pattern_number(*r.sink, 3), false});
}

void draw_token_chips(Scene& s, Column& c, const char* label, const std::vector<int>& ids, ImU32 ink) {
    std::vector<std::string> tokens;
    for (const int id : ids) tokens.push_back(listed_label(*s.model(), id));
    Rect line = c.line();
    write(s.ui, take_left(line, kChipNames), kBody, s.ui.colors->t2, label);
    draw_token_row(s.ui, line, tokens, ink);
    c.skip(34);
}

/// Returns the other heads of the layer that have the same first tag.
std::vector<AttentionHead> peers_of(const Scene& s, AttentionHead head) {
    std::vector<AttentionHead> out;
    const auto tags = tags_of(s, head);
    if (tags.empty()) return out;
    for (AttentionHead other{head.block, 0}; other.head < s.model()->config.heads(head.block); ++other.head) {
        if (other == head) continue;
        const auto its = tags_of(s, other);
        if (!its.empty() && its.front().row == tags.front().row) out.push_back(other);
    }
    return out;
}

/// "with 1.0 and 1.1", "with 5 more".
std::string with_peers(const ModelConfig& c, const std::vector<AttentionHead>& group) {
    constexpr size_t kNamed = 2;
    if (group.size() - 1 > kNamed) return "with " + std::to_string(group.size() - 1) + " more";
    std::string out = "with " + head_name(c, group[1]);
    if (group.size() > 2) out += " and " + head_name(c, group[2]);
    return out;
}

/// Draws the metric without this head, and without all heads of the layer that have its tag.
void draw_ablated(Scene& s, Column& c, AttentionHead head) {
    const auto* job = s.answer->job<AblationSweep>();
    if (!job || job->work().trace != s.sentence()->trace) return;
    const auto& groups = job->work().request.groups;
    if (groups.empty() || groups[0] != std::vector{head}) return;
    const auto found = job->found().ablations;
    if (!found) return;
    draw_change_pair(s, c, result_name(s, found->metric), "if ablated",
                     {found->metric, found->before, found->without[0]});
    if (groups.size() > 1)
        draw_change_pair(s, c, "", with_peers(s.model()->config, groups[1]),
                         {found->metric, found->before, found->without[1]});
}

/// Says why a cell has no ΔE: of a live model Update has it, if its weights come.
std::string no_output(const Model& m) {
    if (!m.engine) return "A trace has no weights: ΔE, predictions and interventions need the model.";
    const char* missing = no_weights(m);
    return missing ? missing : "Update (ΔE) shows what the heads of a live model add.";
}

void draw_output(Scene& s, SidePanel& c, const CellReport& r) {
    if (!s.sentence()->trace->has_weights()) return c.note(no_output(*s.model()));
    if (!c.fold(kOutputFold)) return;
    const AttentionHead head{r.cell.block, r.cell.head};
    draw_tag_lines(s, c, tags_of(s, head));
    c.pair("length of ΔE", number(r.delta_norm, 2));
    c.pair("share of the layer", decimals(100 * r.layer_share, 0) + " %");
    draw_ablated(s, c, head);
    if (!r.tokens_asked || r.delta_norm == 0) return;
    if (r.promoted.empty())
        return c.note("No direct path to the logits, so this head alone promotes and suppresses no tokens.");
    c.skip(gap::small);
    draw_token_chips(s, c, "promotes", r.promoted, s.ui.colors->plus);
    draw_token_chips(s, c, "suppresses", r.suppressed, s.ui.colors->minus);
}

}  // namespace

std::vector<JobRequest> inspector_jobs(const Scene& s) {
    const bool shown = s.sentence() && s.answer->picture && !s.answer->picture->group && !shows_result(s);
    if (!shown || !is_open(s, kOutputFold) || s.sentence()->predictions.empty()) return {};
    const AttentionHead head{s.block(), s.head()};
    if (ablation_of(s.sentence()->intervention, head)) return {};
    AblationSweep::Request request{s.session.document.metric.metric, {{head}}};
    if (auto peers = peers_of(s, head); !peers.empty()) {
        peers.insert(peers.begin(), head);
        request.groups.push_back(std::move(peers));
    }
    return {std::move(request)};
}

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
    const bool changes = s.sentence()->trace->can_run();
    const float foot = panel_foot(area).y - 10,
                buttons = changes ? draw_change_buttons(s, panel_column(area), foot, *cell) : foot;
    SidePanel c(s, area, foot + 2 - buttons);
    c.tight = area.h < 700 ? 0.84f : 1;
    c.bars = 94;
    c.values = 62;
    draw_cell(s, c, *cell, r);
    if (r) draw_row(s, c, *r);
    if (r) draw_output(s, c, *r);
    c.finish();
}

}  // namespace headlight

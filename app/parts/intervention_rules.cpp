// Draws rules to apply to whole layers, and active interventions, each with the heads and cells it covers.
#include "parts/intervention_rules.h"

#include <algorithm>
#include <tuple>

#include "base/cast.h"
#include "parts/interventions.h"

namespace headlight {

Change cells_of_rule(RuleCells cells, bool masks, std::pair<int, int> cell) {
    Change out;
    out.kind = masks ? ChangeKind::mask : ChangeKind::unmask;
    std::tie(out.query, out.key) = cell;
    if (cells == RuleCells::row) std::tie(out.key, out.keys) = std::pair{0, kToEnd};
    if (cells == RuleCells::column) out.query = 0;
    if (cells == RuleCells::column || cells == RuleCells::later) out.queries = kToEnd;
    return out;
}

namespace {

int last_alike(const ModelConfig& c, int block) {
    int last = block;
    for (int other = block; other < c.blocks(); ++other)
        if (c.block(other).kind == c.block(block).kind) last = other;
    return last;
}

}  // namespace

std::vector<Rule> rules_for(const ModelConfig& c, AttentionHead shown, const Change& cells) {
    std::vector<Rule> out;
    const auto add = [&](const std::string& name, int block, int head, Blocks blocks = Blocks::usual) {
        out.push_back({name, cells});
        Change& change = out.back().change;
        std::tie(change.block, change.head, change.blocks) = std::tuple{block, head, blocks};
    };
    add("this head", shown.block, shown.head);
    add("this layer", shown.block, -1);
    if (const int last = last_alike(c, shown.block); last != shown.block)
        add("only the last layer", last, -1);
    switch (c.block(shown.block).kind) {
        case AttentionKind::blocks:
        case AttentionKind::beside:
            add("all layers", -1, -1);
            return out;
        case AttentionKind::encoder:
            add("all encoder layers", -1, -1, Blocks::encoder);
            break;
        case AttentionKind::decoder:
            add("all decoder layers", -1, -1, Blocks::decoder);
            break;
        case AttentionKind::cross:
            add("all cross-attention", -1, -1, Blocks::cross);
            break;
    }
    add("everywhere", -1, -1, Blocks::all);
    return out;
}

int count_affected(const ModelConfig& c, const Change& change) {
    int count = 0;
    for (int i = 0; i < c.head_count(); ++i)
        count += change.concerns(c, c.head_at(i).block, c.head_at(i).head);
    return count;
}

namespace {

constexpr float kRulePicture = 36, kRuleRow = 48, kRulePad = 16, kRulesWide = 460, kRuleControls = 40;
constexpr int kListedRules = 4;  // active interventions visible at once

/// Draws layer × head, with the affected heads highlighted.
void draw_count_affected(Scene& s, Rect r, const Change& change) {
    const ModelConfig& c = s.model()->config;
    const float w = r.w / float(c.max_heads()), h = r.h / float(c.blocks());
    const float apart = std::min(w, h) >= 4 ? 1.0f : 0.0f;
    for (int i = 0; i < c.head_count(); ++i) {
        const auto [block, head] = c.head_at(i);
        const bool lit = change.concerns(c, block, head);
        s.ui.fill({r.x + w * float(head), r.y + h * float(block), w - apart, h - apart},
                  lit ? s.ui.colors->accent : s.ui.colors->bg4);
    }
}

/// Draws query × key of an affected block, pooled to kMax per side: affected cells are highlighted, masked
/// ones dark.
void draw_cells_covered(Scene& s, Rect r, const Change& change) {
    constexpr int kMax = 12;
    const ModelConfig& c = s.model()->config;
    int block = 0;
    while (block + 1 < c.blocks() && !change.concerns(c, block)) ++block;
    const Trace& trace = *s.sentence()->trace;
    const int queries = trace.query_count(block), keys = trace.key_count(block),
              down = std::min(kMax, queries), across = std::min(kMax, keys);
    const MaskPlan& mask = trace.rule(block).mask_of(std::max(change.head, 0));
    const auto begin = [](int i, int parts, int count) { return i * count / parts; };
    const auto covers = [](int first, int count, int from, int to) {
        return from < first + count && to > first;  // kToEnd does not overflow an int
    };
    const float w = r.w / float(across), h = r.h / float(down);
    for (int i = 0; i < down; ++i)
        for (int j = 0; j < across; ++j) {
            const int q = begin(i, down, queries), q_end = begin(i + 1, down, queries),
                      k = begin(j, across, keys), k_end = begin(j + 1, across, keys);
            const bool lit = covers(change.query, change.queries, q, q_end) &&
                             covers(change.key, change.keys, k, k_end),
                       seen = q_end <= isize(mask.visible) && mask.allowed(q_end - 1, k);
            const float apart = std::min(w, h) >= 4 ? 1.0f : 0.0f;
            s.ui.fill({r.x + w * float(j), r.y + h * float(i), w - apart, h - apart},
                      lit    ? s.ui.colors->accent
                      : seen ? s.ui.colors->bg4
                             : s.ui.colors->bg0);
        }
}

bool rule_has_cells(const Change& change) { return change.paints() || change.kind == ChangeKind::score; }

/// "8 heads · mask:16>10@1".
std::string rule_details(const Scene& s, const Change& change) {
    const ModelConfig& c = s.model()->config;
    const ChangeTarget target = change_row(change.kind).target;
    if (target != ChangeTarget::head && target != ChangeTarget::cells) return change_name(c, change);
    const int heads = count_affected(c, change);
    return std::to_string(heads) + (heads == 1 ? " head · " : " heads · ") + change_name(c, change);
}

void draw_rule_row(Scene& s, Rect r, const std::string& name, const Change& change, bool on) {
    Ui& ui = s.ui;
    draw_count_affected(s, band(take_left(r, kRulePicture, gap::small), kRulePicture), change);
    const Rect cells = take_left(r, kRulePicture, gap::medium);
    if (rule_has_cells(change)) draw_cells_covered(s, band(cells, kRulePicture), change);
    Rect lines = band(r, 2 * size::line);
    write(ui, take_top(lines, size::line), kBody, on ? ui.colors->accent_text : ui.colors->t1, name);
    write(ui, lines, kCaptionMono, ui.colors->t3, rule_details(s, change));
}

void draw_rule(Scene& s, Rect r, const Rule& rule) {
    Ui& ui = s.ui;
    const bool on = contains(s.session.document.intervention.changes, rule.change);
    const Rect back = inset(r, -gap::small, 1);
    const Hit h = ui.control("rule/" + rule.name, back);
    if (h.hovered || on) ui.fill(back, on ? ui.colors->accent_fill : ui.colors->bg3, size::corner);
    if (h.hovered) s.of<RulePanel>().previewed = rule.change;
    draw_rule_row(s, r, rule.name, rule.change, on);
    if (on) write(ui, r, kCaption, ui.colors->accent_text, "active", Flush::right);
    if (h.clicked) s.change(rule.change);
}

void draw_rule_controls(Scene& s, Rect line) {
    auto& panel = s.of<RulePanel>();
    Toolbar bar(s.ui, line);
    const int what = bar.segments("", "rule/do", {{"mask", "unmask"}, {}, panel.masks ? 0 : 1});
    if (what >= 0) panel.masks = what == 0;
    const int cells =
        bar.segments("", "rule/cells",
                     {{"cell", "row", "column", "from here on"},
                      {"This query and this key.", "All keys of this query.", "This key, for all queries.",
                       "This key, for this query and all later ones, generated ones included."},
                      static_cast<int>(panel.cells)});
    if (cells >= 0) panel.cells = static_cast<RuleCells>(cells);
}

void draw_active_rules(Scene& s, Rect area) {
    constexpr float kCross = 28, kArm = 4;
    Ui& ui = s.ui;
    auto& panel = s.of<RulePanel>();
    const auto& changes = s.session.document.intervention.changes;
    panel.scroll = scrolled(ui, area, kRuleRow * float(changes.size()), panel.scroll);
    ui.scroll_area(area);
    for (int i = 0; i < isize(changes); ++i) {
        Rect r{area.x, area.y + kRuleRow * float(i) - panel.scroll, area.w, kRuleRow};
        if (!ui.in_sight(r)) continue;
        const std::string path = "rule/remove/" + std::to_string(i);
        const Rect cross = take_right(r, kCross, gap::small);
        const Hit h = ui.control(path, band(cross, size::chip));
        ui.cross(cross.middle(), kArm, h.hovered ? ui.colors->t1 : ui.colors->t3);
        if (h.hovered || ui.over(r).hovered) panel.previewed = changes[i];
        draw_rule_row(s, r, change_text(s, changes[i]), changes[i], false);
        if (h.clicked) s.change(changes[i]);
    }
    ui.end_scroll_area();
}

struct RuleRows {
    std::string cells;  // "mask red 16 → ball 10"; "": no cell is shown
    std::vector<Rule> rules;
    int active = 0;

    float high() const {
        const float made =
            cells.empty() ? 0 : kRuleControls + size::line + gap::tight + kRuleRow * float(rules.size());
        const float listed = size::line + gap::medium + (active > 0 ? kRuleRow * float(active) : size::line);
        return made + listed + 2 * kRulePad;
    }
};

RuleRows rows_of_panel(const Scene& s) {
    RuleRows out;
    const auto& panel = s.of<RulePanel>();
    if (const auto cell = s.shown_cell(); cell && s.holds(*cell)) {
        const Change cells = cells_of_rule(panel.cells, panel.masks, *cell);
        out.rules = rules_for(s.model()->config, {s.block(), s.head()}, cells);
        out.cells = change_text(s, cells);
    }
    out.active = std::min(kListedRules, isize(s.session.document.intervention.changes));
    return out;
}

void draw_rules_panel(Scene& s, Rect inside, const RuleRows& rows) {
    Ui& ui = s.ui;
    Rect rest = inset(inside, kRulePad, kRulePad);
    if (!rows.cells.empty()) {
        draw_rule_controls(s, take_top(rest, kRuleControls));
        caption(ui, take_top(rest, size::line, gap::tight), rows.cells + " in:");
        for (const Rule& rule : rows.rules) draw_rule(s, take_top(rest, kRuleRow), rule);
        ui.hairline(rest.x, rest.y + gap::tight, rest.right(), rest.y + gap::tight);
        take_top(rest, 0, gap::small);
    }
    const int count = isize(s.session.document.intervention.changes);
    caption(ui, take_top(rest, size::line, gap::tight),
            count > 0 ? "Active: " + std::to_string(count) : "No interventions yet.");
    if (count > 0) draw_active_rules(s, rest);
}

}  // namespace

bool rules_are_open() { return ImGui::IsPopupOpen("rules/panel"); }

void draw_rules_button(Scene& s, Toolbar& bar) {
    Ui& ui = s.ui;
    const Hit h = bar.press("rules", "Interventions…", rules_are_open());
    ui.tooltip(
        "rules", h,
        "Mask or unmask the shown cell in this layer, in all layers or only in the last, and see what each "
        "active intervention covers.");
    const RuleRows rows = rows_of_panel(s);
    const float room = ui.points(ImGui::GetIO().DisplaySize).y - bar.last().bottom() - gap::medium;
    ui.pop_up("rules", bar.last(), h.clicked, {kRulesWide, std::min(rows.high(), room)},
              [&](Rect inside) { draw_rules_panel(s, inside, rows); });
}

}  // namespace headlight

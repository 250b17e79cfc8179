// Draws the chips that remove interventions and the buttons for one cell and head, and paints with the brush.
#include "parts/interventions.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/json.h"
#include "parts/intervention_rules.h"
#include "session/conversation.h"

namespace headlight {

void Painting::visit(FieldVisitor& v) { v.report("brush", static_cast<int>(brush)); }

std::string change_text(const Scene& s, const Change& c) {
    if (const Conversation* chat = s.sentence()->chat.get(); chat && c.kind == ChangeKind::mask)
        for (int turn = 0; turn < isize(chat->turns); ++turn)
            if (mask_of_turn(*chat, turn) == std::vector{c})
                return chat->turns[size_t(turn)].role + " " + std::to_string(turn) + " masked";
    return change_label(s.model()->config, c, {s.query_labels(), s.key_labels()});
}

namespace {

constexpr float kCross = 28;

/// Interventions that share a chip: one, or the cells of a brush stroke.
struct ChipOfChanges {
    size_t first, count;
};

PaintedCell cell_of(const Change& c) { return {c.kind, c.block, c.head, c.query, c.key}; }

/// The stroke that painted a cell; −1: none in this window.
int stroke_of(const Painting& painting, const Change& change) {
    const auto it = painting.strokes.find(cell_of(change));
    return it == painting.strokes.end() ? -1 : it->second;
}

/// True for cells of one strokeor, painted by another window, adjacent cells of one kind and head.
bool same_stroke(const Painting& painting, const Change& before, const Change& next) {
    const auto painted = [](const Change& c) { return c.paints() && c.queries == 1 && c.keys == 1; };
    const auto of_head = [](const Change& c) { return std::tuple{c.kind, c.block, c.head}; };
    if (!painted(before) || !painted(next) || of_head(before) != of_head(next)) return false;
    const int a = stroke_of(painting, before), b = stroke_of(painting, next);
    return a >= 0 || b >= 0
               ? a == b
               : std::abs(before.query - next.query) <= 1 && std::abs(before.key - next.key) <= 1;
}

std::vector<ChipOfChanges> chips_of(const Painting& painting, const std::vector<Change>& changes) {
    std::vector<ChipOfChanges> chips;
    for (size_t i = 0; i < changes.size(); ++i) {
        if (i > 0 && same_stroke(painting, changes[i - 1], changes[i]))
            ++chips.back().count;
        else
            chips.push_back({i, 1});
    }
    return chips;
}

/// "12 cells masked, 2.0".
std::string chip_text(const Scene& s, const ChipOfChanges& chip) {
    const Change& c = s.session.document.intervention.changes[chip.first];
    if (chip.count == 1) return change_text(s, c);
    const std::string where = c.block < 0  ? "all heads"
                              : c.head < 0 ? "layer " + block_name(s.model()->config, c.block)
                                           : head_name(s.model()->config, c.block, c.head);
    return std::to_string(chip.count) + " cells " + (c.kind == ChangeKind::mask ? "masked" : "unmasked") +
           ", " + where;
}

/// Draws a chip with a cross; true if it was clicked.
bool remove_chip(Toolbar& bar, const std::string& path, const std::string& label) {
    constexpr float kArm = 4;
    Ui& ui = bar.ui;
    Chip chip = token_chip(ui, "", ChipRole::query);
    Rect r =
        band(bar.take(ui.text.width(kCaptionMono, label) + size::chip_pad + kCross, gap::small), size::chip);
    const Hit h = ui.control(path, r);
    draw_chip(ui, r, chip);
    ui.cross(take_right(r, kCross).middle(), kArm, h.hovered ? ui.colors->t1 : chip.ink);
    take_left(r, size::chip_pad);
    write(ui, r, kCaptionMono, chip.ink, label);
    return h.clicked;
}

/// Draws "History   Undo   Remove all" at the end of the line.
void draw_undo_links(Scene& s, Toolbar& bar) {
    for (const auto& [path, label, command] :
         {std::array{"change/all", "Remove all", "remove interventions"},
          std::array{"change/undo", "Undo", "undo"}, std::array{"change/history", "History", "history"}}) {
        const Rect r = bar.take_end(bar.ui.text.width(kCaption, label));
        if (bar.ui.link(path, r.right(), r.middle_y(), label)) s.send(command);
    }
}

/// Draws a chip for the mask and each change, as many as fit.
void draw_change_chips(Scene& s, Toolbar& bar) {
    constexpr float kMore = 80;
    const Intervention& now = s.session.document.intervention;
    if (!now.mask.is_own() && remove_chip(bar, "change/mask", "mask: " + now.mask.label()))
        s.send("mask", "own");
    const auto chips = chips_of(s.of<Painting>(), now.changes);
    size_t shown = 0;
    for (; shown < chips.size(); ++shown) {
        const std::string label = chip_text(s, chips[shown]);
        const float others = shown + 1 < chips.size() ? kMore : 0;
        if (s.ui.text.width(kCaptionMono, label) + size::chip_pad + kCross + others > bar.rest().w) break;
        if (!remove_chip(bar, "change/" + std::to_string(shown), label)) continue;
        for (size_t i = 0; i < chips[shown].count; ++i) s.change(now.changes[chips[shown].first + i], i > 0);
    }
    if (shown < chips.size() && bar.link("change/rest", std::to_string(chips.size() - shown) + " more"))
        s.send("history");
}

}  // namespace

float draw_changes(Scene& s, Rect area, bool paints) {
    constexpr float kLow = 40;
    const float high = area.h;
    const Intervention& now = s.session.document.intervention;
    s.of<RulePanel>().previewed.reset();
    const bool wanted =
        now != Intervention{} || (paints && s.session.preferences.change_bar) || rules_are_open();
    if (s.queries() == 0 || !wanted) return 0;
    if (high < kLow) {  // a part of the line of the bars
        Toolbar bar(s.ui, area);
        draw_change_chips(s, bar);
        return high;
    }
    const Rect line = take_top(area, high), inside = inset(line, size::center_pad, 0);
    s.ui.hairline(line.x, line.bottom(), line.right(), line.bottom());
    Toolbar bar(s.ui, inside);
    draw_rules_button(s, bar);
    if (now == Intervention{}) {  // keeps its height, so that the first stroke moves nothing under the mouse
        constexpr const char* kNone = "No interventions.";
        caption(s.ui, bar.rest(),
                first_that_fits(s.ui, kCaption,
                                {"No interventions. Paint cells with a brush, or choose above; each is "
                                 "listed here and can be removed.",
                                 "No interventions. Paint cells, or choose above.", kNone},
                                bar.rest().w));
        return high;
    }
    draw_undo_links(s, bar);
    draw_change_chips(s, bar);
    return high;
}

bool paints_rectangles(const Session& session) {
    const Brush brush = session.of<Painting>().brush;
    return brush == Brush::mask_rectangle || brush == Brush::unmask_rectangle;
}

namespace {

bool is_active(const Scene& s, const Change& change) {
    const auto& changes = s.session.document.intervention.changes;
    return std::find(changes.begin(), changes.end(), change) != changes.end();
}

Change painted_change(const Scene& s, std::pair<int, int> cell) {
    const Brush brush = s.of<Painting>().brush;
    const bool masks = (brush == Brush::mask || brush == Brush::mask_rectangle) != s.ui.shift;
    Change change;
    change.kind = masks ? ChangeKind::mask : ChangeKind::unmask;
    const bool cross = s.model()->config.block(s.block()).kind == AttentionKind::cross;
    const BrushScope scope = s.of<Painting>().scope;
    change.block = scope == BrushScope::all_heads && !cross ? -1 : s.session.selection.block;
    change.head = scope == BrushScope::this_head ? s.session.selection.head : -1;
    std::tie(change.query, change.key) = cell;
    return change;
}

/// The first cell that a stroke changes begins the undo step.
void paint_cell(const Scene& s, std::pair<int, int> cell) {
    const Change change = painted_change(s, cell);
    Change opposite = change;
    opposite.kind = change.kind == ChangeKind::mask ? ChangeKind::unmask : ChangeKind::mask;
    const bool is_seen =
        s.sentence()->trace->rule(s.block()).mask_of(s.head()).allowed(cell.first, cell.second);
    const bool restores = is_active(s, opposite),
               adds = !is_active(s, change) && is_seen == (change.kind == ChangeKind::mask);
    Painting& painting = s.of<Painting>();
    painting.covered.push_back(cell);
    if (!restores && !adds) return;
    if (adds && !restores) painting.strokes[cell_of(change)] = painting.stroke;
    s.change(restores ? opposite : change, std::exchange(painting.begun, true));
}

}  // namespace

/// Paints the straight line from the last cell, because the pointer is sampled only a few times per stroke.
void paint_stroke(const Scene& s, std::pair<int, int> to) {
    const auto last = std::exchange(s.of<Painting>().last, to), from = last.first < 0 ? to : last;
    if (last == to) return;
    const int down = to.first - from.first, across = to.second - from.second,
              steps = std::max({1, std::abs(down), std::abs(across)});
    const auto part = [&](int whole, int i) { return int(std::lround(double(whole) * i / steps)); };
    for (int i = 1; i <= steps; ++i)
        paint_cell(s, {from.first + part(down, i), from.second + part(across, i)});
}

void end_stroke(const Scene& s) {
    Painting& painting = s.of<Painting>();
    painting.covered.clear();
    if (std::exchange(painting.begun, false)) ++painting.stroke;
    if (s.session.document.intervention.changes.empty()) painting.strokes.clear();
}

void paint_rectangle(const Scene& s, std::pair<int, int> from, std::pair<int, int> to) {
    Change change = painted_change(s, {std::min(from.first, to.first), std::min(from.second, to.second)});
    change.queries = std::abs(from.first - to.first) + 1;
    change.keys = std::abs(from.second - to.second) + 1;
    const bool cross = s.model()->config.block(s.block()).kind == AttentionKind::cross;
    if (cross && change.query + change.queries == s.queries())
        change.queries = kToEnd;  // includes rows generated later
    if (!is_active(s, change)) s.change(change);
}

namespace {

Change score_of(const Scene& s, std::pair<int, int> cell) {
    Change change;
    change.kind = ChangeKind::score;
    std::tie(change.block, change.head) = std::tie(s.session.selection.block, s.session.selection.head);
    std::tie(change.query, change.key) = cell;
    return change;
}

/// Edits the score of the shown cell by dragging or arrow keys.
void draw_score_edit(Scene& s, Rect r, std::pair<int, int> cell) {
    if (!s.sentence()->trace->has_scores(s.session.selection.block)) return;
    Ui& ui = s.ui;
    const auto& changes = s.session.document.intervention.changes;
    const auto set = std::find_if(changes.begin(), changes.end(), [&](const Change& c) {
        return c.kind == ChangeKind::score && c.block == s.session.selection.block &&
               c.head == s.session.selection.head && std::pair{c.query, c.key} == cell;
    });
    const bool known =
        s.answer->cell && std::pair{s.answer->cell->cell.query, s.answer->cell->cell.key} == cell;
    if (set == changes.end() && !known) return;
    const float now = set != changes.end() ? set->value : s.answer->cell->score;
    const Hit h = ui.control("change/score", r);
    ui.fill(r, h.pressed ? ui.colors->bg4 : h.hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    ui.frame(r, set != changes.end() ? ui.colors->accent : ui.colors->l2, 1, size::corner);
    const Rect inside = inset(r, gap::medium, 0);
    write(ui, inside, kCaption, ui.colors->t2, "Edit score");
    write(ui, inside, kBodyMono, set != changes.end() ? ui.colors->accent_text : ui.colors->t1,
          number(now, 2), Flush::right);
    ui.tooltip("change/score", h,
               "The input to the softmax at this cell of this head. Drag sideways or use the arrow keys.");
    const float moved = h.pressed ? ui.points(ImGui::GetMouseDragDelta(0, 2 * ui.scale)).x * 0.05f : 0;
    const float step = moved != 0 ? moved : 0.5f * float(-ui.take_step("change/score"));
    if (!h.pressed) s.of<Painting>().scored = {-1, -1};
    if (step == 0) return;
    if (moved != 0) ImGui::ResetMouseDragDelta();
    Change change = set != changes.end() ? *set : score_of(s, cell);
    change.value = std::clamp(now + step, -kLargestScore, kLargestScore);
    if (change.value == now) return;
    s.change(change, h.pressed && s.of<Painting>().scored == cell);
    if (h.pressed) s.of<Painting>().scored = cell;
    s.lock(cell);  // keeps showing it
}

}  // namespace

float draw_change_buttons(Scene& s, Rect column, float bottom, std::pair<int, int> cell) {
    constexpr float kLeastForScore = 620;
    Ui& ui = s.ui;
    Rect rest{column.x, column.y, column.w, bottom - column.y};
    const Rect line = take_bottom(rest, size::button);
    const auto button = [&](int i) { return nth_column(line, i, 2, gap::small); };
    Change ablate, mask;
    ablate.block = mask.block = s.session.selection.block;
    ablate.head = mask.head = s.session.selection.head;
    mask.kind = ChangeKind::mask;
    std::tie(mask.query, mask.key) = cell;
    if (ui.button("change/mask cell", button(0),
                  is_active(s, mask) ? "Unmask this cell" : "Mask this cell")) {
        s.change(mask);
        s.lock(cell);  // keeps the inspector on it
    }
    if (ui.button("change/ablate", button(1), is_active(s, ablate) ? "Restore head" : "Ablate head")) {
        s.change(ablate);
        s.lock(cell);
    }
    if (column.h >= kLeastForScore) {
        take_bottom(rest, 0, gap::small);
        draw_score_edit(s, take_bottom(rest, size::button), cell);
    }
    return rest.bottom() - gap::medium;
}

void draw_sweep_state(Scene& s, Rect& area) {
    constexpr float kButton = 220, kProgress = 320, kBar = 6;
    Ui& ui = s.ui;
    const auto* sweep = s.sweep();
    if (sweep && sweep->ended()) {
        const std::string refusal = sweep->found().refusal;
        if (!refusal.empty()) take_top(area, caption_lines(ui, area, refusal), gap::small);
        return;
    }
    if (!s.session.document.sweeping) {
        const Rect line = take_top(area, size::button, gap::small);
        if (ui.button("sweep/begin", {line.x, line.y, std::min(line.w, kButton), line.h},
                      "Ablate each head in turn"))
            s.send("sweep", "on");
        return;
    }
    const int done = sweep ? sweep->found().done : 0, heads = s.model()->config.head_count();
    Rect line = take_top(area, size::row), bar = take_top(area, kBar, gap::small);
    line.w = bar.w = std::min(line.w, kProgress);
    write(ui, line, kCaption, ui.colors->t2,
          std::to_string(done) + " of " + std::to_string(heads) + " heads measured");
    if (ui.link("sweep/cancel", line.right(), line.middle_y(), "Cancel")) s.send("sweep", "off");
    ui.bar(bar, float(done) / float(heads), ui.colors->accent);
}

}  // namespace headlight

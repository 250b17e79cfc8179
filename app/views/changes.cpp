// What is changed: chips that take changes away again, the brush, and what can be done to one cell and head.
#include "views/changes.h"

#include <algorithm>

namespace headlight {

std::string change_text(const Scene& s, const Change& c) {
    return change_label(s.model()->config, c, {s.query_labels(), s.key_labels()});
}

namespace {

/// One chip with a cross; true when it was pressed.
bool draw_chip(Ui& ui, float& x, float y, const std::string& path, const std::string& label) {
    const float w = ui.text.width(kCaptionMono, label) + 36;
    const Rect r{x, y - 14, w, 28};
    const Hit h = ui.control(path, r);
    ui.fill(r, ui.colors->accent_fill, size::corner);
    ui.frame(r, ui.colors->accent, 1, size::corner);
    ui.text.draw(r.x + 10, y, kCaptionMono, ui.colors->accent_text, label);
    const float cx = r.right() - 14, d = 4;
    const ImU32 ink = h.hovered ? ui.colors->t1 : ui.colors->accent_text;
    ui.stroke({cx - d, y - d}, {cx + d, y + d}, ink, 1.3f);
    ui.stroke({cx - d, y + d}, {cx + d, y - d}, ink, 1.3f);
    x += w + 8;
    return h.clicked;
}

}  // namespace

float draw_changes(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const Intervention& now = s.session.document.intervention;
    if (s.queries() == 0 || (now == Intervention{} && !s.session.preferences.change_bar)) return 0;
    const float y = area.y + 20, right = area.right() - 24;
    if (now ==
        Intervention{}) {  // the room is kept, so that the first stroke moves nothing away under the mouse
        ui.text.draw(area.x + 24, y, kCaption, ui.colors->t3,
                     ui.text.fitted(kCaption,
                                    "No interventions. Paint cells with a brush, or choose above; each "
                                    "intervention is listed here and can be removed.",
                                    right - area.x - 24));
        ui.hairline(area.x, area.y + 40, area.right(), area.y + 40);
        return 40;
    }
    const float links = ui.text.width(kCaption, "Undo") + ui.text.width(kCaption, "Remove all") + 48;
    float x = area.x + 24;
    x += ui.text.draw(x, y, kCaption, ui.colors->t3, "Interventions") + 10;
    if (!now.mask.is_own() && draw_chip(ui, x, y, "change/mask", "mask: " + now.mask.label()))
        s.send("mask", "own");
    size_t shown = 0;
    for (; shown < now.changes.size(); ++shown) {
        const std::string label = change_text(s, now.changes[shown]);
        if (x + ui.text.width(kCaptionMono, label) + 36 + 80 > right - links) break;
        if (draw_chip(ui, x, y, "change/" + std::to_string(shown), label)) s.change(now.changes[shown]);
    }
    if (shown < now.changes.size())
        x += ui.text.draw(x, y, kCaption, ui.colors->t2,
                          std::to_string(now.changes.size() - shown) + " more") +
             12;
    if (ui.link("change/all", right, y, "Remove all")) s.send("remove interventions");
    if (ui.link("change/undo", right - ui.text.width(kCaption, "Remove all") - 20, y, "Undo")) s.send("undo");
    ui.hairline(area.x, area.y + 40, area.right(), area.y + 40);
    return 40;
}

bool paints_rectangles(const Session& session) {
    const Brush brush = session.of<Painting>().brush;
    return brush == Brush::mask_rectangle || brush == Brush::unmask_rectangle;
}

namespace {

bool is_in_force(const Scene& s, const Change& change) {
    const auto& changes = s.session.document.intervention.changes;
    return std::find(changes.begin(), changes.end(), change) != changes.end();
}

/// A change of the brush's kind and scope, at a cell.
Change painted_change(const Scene& s, std::pair<int, int> cell) {
    const Brush brush = s.of<Painting>().brush;
    const bool masks = (brush == Brush::mask || brush == Brush::mask_rectangle) != s.ui.shift;
    Change change;
    change.kind = masks ? ChangeKind::mask : ChangeKind::unmask;
    const bool cross = s.model()->config.block(s.block()).kind == AttentionKind::cross;
    change.block = s.of<Painting>().all_heads && !cross ? -1 : s.session.selection.block;
    change.head = s.of<Painting>().all_heads ? -1 : s.session.selection.head;
    std::tie(change.query, change.key) = cell;
    return change;
}

}  // namespace

/// The first cell of a drag that it does something to begins the step of undo.
void paint_cell(const Scene& s, std::pair<int, int> cell) {
    auto& last = s.of<Painting>().last;
    if (last == cell) return;
    const bool begun = last.first >= 0;
    const Change change = painted_change(s, cell);
    Change opposite = change;
    opposite.kind = change.kind == ChangeKind::mask ? ChangeKind::unmask : ChangeKind::mask;
    const bool is_seen =
        s.sentence()->trace->rule(s.block()).mask_of(s.head()).allows(cell.first, cell.second);
    const bool restores = is_in_force(s, opposite),
               adds = !is_in_force(s, change) && is_seen == (change.kind == ChangeKind::mask);
    if (restores || adds) s.change(restores ? opposite : change, begun);
    if (restores || adds || begun) last = cell;
}

void paint_rectangle(const Scene& s, std::pair<int, int> from, std::pair<int, int> to) {
    Change change = painted_change(s, {std::min(from.first, to.first), std::min(from.second, to.second)});
    change.queries = std::abs(from.first - to.first) + 1;
    change.keys = std::abs(from.second - to.second) + 1;
    const bool cross = s.model()->config.block(s.block()).kind == AttentionKind::cross;
    if (cross && change.query + change.queries == s.queries())
        change.queries = kToEnd;  // it goes on as more rows are written
    if (!is_in_force(s, change)) s.change(change);
}

namespace {

Change score_of(const Scene& s, std::pair<int, int> cell) {
    Change change;
    change.kind = ChangeKind::score;
    std::tie(change.block, change.head) = std::tie(s.session.selection.block, s.session.selection.head);
    std::tie(change.query, change.key) = cell;
    return change;
}

/// The score of the shown cell: dragged, or stepped by the arrow keys; a change as soon as it differs.
void draw_score_edit(Scene& s, Rect r, std::pair<int, int> cell) {
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
    ui.text.draw(r.x + 12, r.middle_y(), kCaption, ui.colors->t2, "Score, drag ↔");
    ui.text.draw_right(r.right() - 12, r.middle_y(), kBodyMono,
                       set != changes.end() ? ui.colors->accent_text : ui.colors->t1, number(now, 2));
    ui.tooltip(
        "change/score", h,
        "What enters the softmax at this cell of this head. Drag sideways, or step with the arrow keys.");
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
    s.lock(cell);  // so that it stays the shown one
}

}  // namespace

float draw_change_buttons(Scene& s, Rect column, float bottom, std::pair<int, int> cell) {
    Ui& ui = s.ui;
    const float w = (column.w - 8) / 2, y = bottom - size::button;
    Change ablate, mask;
    ablate.block = mask.block = s.session.selection.block;
    ablate.head = mask.head = s.session.selection.head;
    mask.kind = ChangeKind::mask;
    std::tie(mask.query, mask.key) = cell;
    if (ui.button("change/mask cell", {column.x, y, w, size::button},
                  is_in_force(s, mask) ? "Unmask this cell" : "Mask this cell")) {
        s.change(mask);
        s.lock(cell);  // the inspector goes on showing it
    }
    if (ui.button("change/ablate", {column.x + w + 8, y, w, size::button},
                  is_in_force(s, ablate) ? "Restore head" : "Ablate head")) {
        s.change(ablate);
        s.lock(cell);
    }
    if (column.h < 620) return y - 12;
    draw_score_edit(s, {column.x, y - (8 + size::button), column.w, size::button}, cell);
    return y - (8 + size::button + 12);
}

}  // namespace headlight

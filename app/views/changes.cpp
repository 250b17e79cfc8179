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
    Intervention next = now;
    if (!now.mask.is_own() && draw_chip(ui, x, y, "change/mask", "mask: " + now.mask.label()))
        next.mask = Mask();
    size_t shown = 0;
    for (; shown < now.changes.size(); ++shown) {
        const std::string label = change_text(s, now.changes[shown]);
        if (x + ui.text.width(kCaptionMono, label) + (36 + 80) > right - links) break;
        if (draw_chip(ui, x, y, "change/" + std::to_string(shown), label))
            next.changes.erase(next.changes.begin() + static_cast<std::ptrdiff_t>(shown));
    }
    if (shown < now.changes.size())
        x += ui.text.draw(x, y, kCaption, ui.colors->t2,
                          std::to_string(now.changes.size() - shown) + " more") +
             12;
    if (ui.link("change/all", right, y, "Remove all")) next = {};
    if (ui.link("change/undo", right - ui.text.width(kCaption, "Remove all") - 20, y, "Undo")) {
        s.send("undo");
        return 40;
    }
    ui.hairline(area.x, area.y + 40, area.right(), area.y + 40);
    s.session.document.intervene(std::move(next));
    return 40;
}

void replace_changes(Session& session, const std::vector<ChangeKind>& kinds, int block, int head,
                     const std::optional<Change>& change) {
    Intervention next = session.document.intervention;
    const auto replaced = [&](const Change& c) {
        return c.block == block && c.head == head && c.blocks == Blocks::usual &&
               std::find(kinds.begin(), kinds.end(), c.kind) != kinds.end();
    };
    next.changes.erase(std::remove_if(next.changes.begin(), next.changes.end(), replaced),
                       next.changes.end());
    if (change) next.changes.push_back(*change);
    session.document.intervene(std::move(next));
}

bool paints_blocks(const Session& session) {
    return session.of<Painting>().brush == Brush::forbid_block ||
           session.of<Painting>().brush == Brush::allow_block;
}

namespace {

/// A change of the brush's kind and scope, at a cell.
Change painted_change(const Scene& s, std::pair<int, int> cell) {
    const bool forbid = (s.of<Painting>().brush == Brush::forbid ||
                         s.of<Painting>().brush == Brush::forbid_block) != s.ui.shift;
    Change change;
    change.kind = forbid ? ChangeKind::mask : ChangeKind::unmask;
    const bool cross = s.model()->config.block(s.block()).kind == AttentionKind::cross;
    change.block = s.of<Painting>().all_heads && !cross ? -1 : s.session.selection.block;
    change.head = s.of<Painting>().all_heads ? -1 : s.session.selection.head;
    std::tie(change.query, change.key) = cell;
    return change;
}

}  // namespace

void paint_cell(Scene& s, std::pair<int, int> cell) {
    if (s.of<Painting>().last == cell) return;
    s.session.document.same_step = s.of<Painting>().last.first >= 0;
    s.of<Painting>().last = cell;
    const Change change = painted_change(s, cell);
    const bool forbid = change.kind == ChangeKind::mask;
    Intervention next = s.session.document.intervention;
    Change opposite = change;
    opposite.kind = forbid ? ChangeKind::unmask : ChangeKind::mask;
    const auto same = std::find(next.changes.begin(), next.changes.end(), change),
               other = std::find(next.changes.begin(), next.changes.end(), opposite);
    if (other != next.changes.end())
        next.changes.erase(other);
    else if (same == next.changes.end() &&
             s.sentence()->trace->rule(s.block()).mask_of(s.head()).allows(cell.first, cell.second) == forbid)
        next.changes.push_back(change);
    const bool first = next != s.session.document.intervention;
    s.session.document.intervene(std::move(next));
    if (!first && !s.session.document.same_step)
        s.of<Painting>().last = {-1, -1};  // nothing was done yet: the step has not begun
    s.session.document.same_step = false;
}

void paint_block(Scene& s, std::pair<int, int> from, std::pair<int, int> to) {
    Change change = painted_change(s, {std::min(from.first, to.first), std::min(from.second, to.second)});
    change.queries = std::abs(from.first - to.first) + 1;
    change.keys = std::abs(from.second - to.second) + 1;
    const bool cross = s.model()->config.block(s.block()).kind == AttentionKind::cross;
    if (cross && change.query + change.queries == s.queries())
        change.queries = kToEnd;  // it goes on as more rows are written
    Intervention next = s.session.document.intervention;
    next.changes.push_back(std::move(change));
    s.session.document.intervene(std::move(next));
}

namespace {

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
    const float step = moved != 0 ? moved : 0.5f * static_cast<float>(-ui.take_step("change/score"));
    if (!h.pressed) s.of<Painting>().scored = {-1, -1};
    if (step == 0) return;
    if (moved != 0) ImGui::ResetMouseDragDelta();
    Intervention next = s.session.document.intervention;
    const float value = std::clamp(now + step, -kLargestScore, kLargestScore);
    if (set != changes.end()) {
        next.changes[static_cast<size_t>(set - changes.begin())].value = value;
    } else {
        Change change;
        change.kind = ChangeKind::score;
        std::tie(change.block, change.head) = std::pair{s.session.selection.block, s.session.selection.head};
        std::tie(change.query, change.key) = cell;
        change.value = value;
        next.changes.push_back(std::move(change));
    }
    s.session.document.same_step = h.pressed && s.of<Painting>().scored == cell;
    s.session.document.intervene(std::move(next));
    s.session.document.same_step = false;
    if (h.pressed) s.of<Painting>().scored = cell;
    s.lock(cell);  // so that it stays the shown one
}

}  // namespace

float draw_change_buttons(Scene& s, Rect column, float bottom, std::pair<int, int> cell) {
    Ui& ui = s.ui;
    const float w = (column.w - 8) / 2, y = bottom - size::button;
    Change ablate, forbid;
    ablate.block = forbid.block = s.session.selection.block;
    ablate.head = forbid.head = s.session.selection.head;
    forbid.kind = ChangeKind::mask;
    std::tie(forbid.query, forbid.key) = cell;
    const auto& changes = s.session.document.intervention.changes;
    const bool ablated = std::find(changes.begin(), changes.end(), ablate) != changes.end(),
               forbidden = std::find(changes.begin(), changes.end(), forbid) != changes.end();
    if (ui.button("change/forbid", {column.x, y, w, size::button},
                  forbidden ? "Unmask this cell" : "Mask this cell")) {
        toggle_change(s.session.document, forbid);
        s.lock(cell);  // the inspector goes on showing it
    }
    if (ui.button("change/ablate", {column.x + w + 8, y, w, size::button},
                  ablated ? "Restore head" : "Ablate head")) {
        toggle_change(s.session.document, ablate);
        s.lock(cell);
    }
    if (column.h < 620) return y - 12;
    draw_score_edit(s, {column.x, y - (8 + size::button), column.w, size::button}, cell);
    return y - (8 + size::button + 12);
}

}  // namespace headlight

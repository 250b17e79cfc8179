// What is changed: chips that take changes away again, the mask, and the buttons that make changes.
#include "views/changes.h"

#include <algorithm>

namespace headlight {

namespace {

/// "red 16 → ball 10", "1.2 mean": a change as people read it.
std::string chip_text(const Scene& s, const Change& c) {
    const ModelConfig& config = s.model()->config;
    const std::string head = c.site < 0 ? "" : c.head < 0 ? " in " + site_name(config, c.site) : " in " + head_name(config, c.site, c.head);
    const auto token = [&](const std::vector<std::string>& labels, int i) { return i >= 0 && i < static_cast<int>(labels.size()) ? token_at(labels, i) : "#" + std::to_string(i); };
    const std::string pair = token(s.query_labels(), c.query) + " → " + token(s.key_labels(), c.key);
    switch (c.kind) {
        case ChangeKind::forbid: return pair + head;
        case ChangeKind::allow: return "+ " + pair + head;
        case ChangeKind::score: return pair + head + " = " + decimals(c.value, 2);
        case ChangeKind::temperature: return "temperature " + decimals(c.value, 2) + head;
        case ChangeKind::skip_attention: return "no attention " + site_name(config, c.site);
        case ChangeKind::skip_mlp: return "no MLP " + site_name(config, c.site);
        case ChangeKind::freeze: return "frozen" + head;
        default: break;
    }
    for (const ChangeRow& row : ablations())
        if (row.kind == c.kind) return head_name(config, c.site, c.head) + " " + row.name;
    return "";
}

/// One chip with a cross; true when it was pressed.
bool draw_chip(Ui& ui, float& x, float y, const std::string& path, const std::string& label) {
    const float w = ui.text.width(kCaptionMono, label) + ui.px(36);
    const Rect r{x, y - ui.px(14), w, ui.px(28)};
    const Hit h = ui.control(path, r);
    ui.fill(r, ui.colors->accent_fill, size::corner);
    ui.frame(r, ui.colors->accent, 1, size::corner);
    ui.text.draw(r.x + ui.px(10), y, kCaptionMono, ui.colors->accent_text, label);
    const float cx = r.right() - ui.px(14), d = ui.px(4);
    const ImU32 ink = h.hovered ? ui.colors->t1 : ui.colors->accent_text;
    ui.stroke({cx - d, y - d}, {cx + d, y + d}, ink, ui.px(1.3f));
    ui.stroke({cx - d, y + d}, {cx + d, y - d}, ink, ui.px(1.3f));
    x += w + ui.px(8);
    return h.clicked;
}

}  // namespace

float draw_changes(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const Intervention& now = s.state.intervention;
    if (now == Intervention{} || s.queries() == 0) return 0;
    const float y = area.y + ui.px(20), right = area.right() - ui.px(24);
    const float links = ui.text.width(kCaption, "Undo") + ui.text.width(kCaption, "Remove all") + ui.px(48);
    float x = area.x + ui.px(24);
    x += ui.text.draw(x, y, kCaption, ui.colors->t3, "Changes") + ui.px(10);
    Intervention next = now;
    if (!now.mask.is_own() && draw_chip(ui, x, y, "change/mask", "mask " + now.mask.name())) next.mask = Mask();
    size_t shown = 0;
    for (; shown < now.changes.size(); ++shown) {
        const std::string label = chip_text(s, now.changes[shown]);
        if (x + ui.text.width(kCaptionMono, label) + ui.px(36 + 80) > right - links) break;
        if (draw_chip(ui, x, y, "change/" + std::to_string(shown), label)) next.changes.erase(next.changes.begin() + static_cast<std::ptrdiff_t>(shown));
    }
    if (shown < now.changes.size()) x += ui.text.draw(x, y, kCaption, ui.colors->t2, std::to_string(now.changes.size() - shown) + " more") + ui.px(12);
    if (ui.link("change/all", right, y, "Remove all")) next = {};
    if (ui.link("change/undo", right - ui.text.width(kCaption, "Remove all") - ui.px(20), y, "Undo")) {
        s.state.undo_change();
        return ui.px(40);
    }
    ui.hairline(area.x, area.y + ui.px(40), area.right(), area.y + ui.px(40));
    s.state.intervene(std::move(next));
    return ui.px(40);
}

void toggle_change(ViewState& state, const Change& change) {
    Intervention next = state.intervention;
    const auto it = std::find(next.changes.begin(), next.changes.end(), change);
    if (it == next.changes.end()) next.changes.push_back(change);
    else next.changes.erase(it);
    state.intervene(std::move(next));
}

void paint_cell(Scene& s, std::pair<int, int> cell) {
    if (s.state.painted == cell) return;
    s.state.painted = cell;
    const bool forbid = (s.state.brush == Brush::forbid) != s.ui.shift;
    Change change{forbid ? ChangeKind::forbid : ChangeKind::allow, s.state.brush_all ? -1 : s.state.site, s.state.brush_all ? -1 : s.state.head, cell.first, cell.second, 0, nullptr};
    if (s.model()->config.site(s.site()).kind == AttentionKind::cross && s.state.brush_all) change.site = s.site();
    Intervention next = s.state.intervention;
    Change opposite = change;
    opposite.kind = forbid ? ChangeKind::allow : ChangeKind::forbid;
    const auto same = std::find(next.changes.begin(), next.changes.end(), change), other = std::find(next.changes.begin(), next.changes.end(), opposite);
    if (other != next.changes.end()) next.changes.erase(other);
    else if (same == next.changes.end() && s.sentence()->trace->rule(s.site()).mask_of(s.state.head).allows(cell.first, cell.second) == forbid) next.changes.push_back(change);
    s.state.intervene(std::move(next));
}

float draw_change_buttons(Scene& s, Rect column, float bottom, std::pair<int, int> cell) {
    Ui& ui = s.ui;
    const float w = (column.w - ui.px(8)) / 2, y = bottom - ui.px(size::button);
    const Change ablate{ChangeKind::zero, s.state.site, s.state.head, -1, -1, 0, nullptr}, forbid{ChangeKind::forbid, s.state.site, s.state.head, cell.first, cell.second, 0, nullptr};
    const auto& changes = s.state.intervention.changes;
    const bool ablated = std::find(changes.begin(), changes.end(), ablate) != changes.end(), forbidden = std::find(changes.begin(), changes.end(), forbid) != changes.end();
    if (ui.button("change/forbid", {column.x, y, w, ui.px(size::button)}, forbidden ? "Allow this cell" : "Mask this cell")) toggle_change(s.state, forbid);
    if (ui.button("change/ablate", {column.x + w + ui.px(8), y, w, ui.px(size::button)}, ablated ? "Bring it back" : "Ablate head")) toggle_change(s.state, ablate);
    return y - ui.px(12);
}

float draw_effects(Scene& s, Rect column, float y, float bottom) {
    Ui& ui = s.ui;
    const auto& effects = s.sentence()->effects;
    if (effects.empty() || y + ui.px(80) > bottom) return y;
    ui.text.draw(column.x, y, kCaption, ui.colors->t3, "Prediction before → after the changes");
    ui.text.draw_right(column.right(), y, kCaption, ui.colors->t3, "points");
    for (const ProbabilityChange& p : effects) {
        y += ui.px(24);
        if (y + ui.px(12) > bottom) break;
        const float points = 100 * (p.after - p.before), left = column.x + ui.px(84), w = column.w - ui.px(84 + 64);
        ui.text.draw(column.x, y, kBodyMono, ui.colors->t1, ui.text.fitted(kBodyMono, prediction_label(*s.model(), p.id), ui.px(80)));
        ui.fill({left, y - ui.px(6), std::max(ui.line(), w * p.before), ui.px(5)}, ui.colors->t3);
        ui.fill({left, y + ui.px(1), std::max(ui.line(), w * p.after), ui.px(5)}, ui.colors->accent);
        ui.text.draw_right(column.right(), y, kBodyMono, points < 0 ? ui.colors->minus : ui.colors->plus, (points > 0 ? "+" : "") + number(points, 1));
    }
    return y + ui.px(24);
}

}  // namespace headlight

// The row of masks, brush, temperature and ablations: everything that can be changed, in every view.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/changes.h"
#include "views/parts.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kLine = 40;

/// Every mask, those with numbers with some of them.
std::vector<std::string> offered_masks() {
    std::vector<std::string> out;
    for (const MaskKind& kind : mask_kinds()) {
        const std::vector<const char*> numbers[] = {{""}, {":2", ":4", ":8"}, {":1:4"}};
        for (const char* number : numbers[kind.numbers]) out.push_back(std::string(kind.name) + number);
    }
    return out;
}

constexpr std::pair<float, const char*> kTemperatures[] = {
    {1.0f, "1"}, {0.0f, "0, hard"}, {0.25f, "0.25"},         {0.5f, "0.5"},
    {2.0f, "2"}, {4.0f, "4"},       {INFINITY, "∞, uniform"}};

std::string label_of_mask(const Scene& s, const std::string& name) {
    const Mask& now = s.session.document.intervention.mask;
    return name == now.name() ? now.label() : Mask::parse(name)->label();
}

void choose_mask(Scene& s, Toolbar& bar) {
    std::vector<std::string> names = offered_masks();
    auto current = std::find(names.begin(), names.end(), s.session.document.intervention.mask.name());
    if (current == names.end())
        current = names.insert(names.end(), s.session.document.intervention.mask.name());
    std::vector<std::string> labels;
    for (const std::string& name : names) labels.push_back(label_of_mask(s, name));
    const int chosen = bar.choice("Mask", "mask", labels, narrow<int>(current - names.begin()));
    if (chosen >= 0) s.send("mask", names[chosen]);
}

/// The change of some kinds with exactly this place, or null.
const Change* change_at(const Session& session, std::initializer_list<ChangeKind> kinds, int block,
                        int head) {
    for (const Change& c : session.document.intervention.changes)
        if (c.block == block && c.head == head && c.blocks == Blocks::usual &&
            std::find(kinds.begin(), kinds.end(), c.kind) != kinds.end())
            return &c;
    return nullptr;
}

void choose_temperature(Scene& s, Toolbar& bar) {
    const int block = s.of<Painting>().all_heads ? -1 : s.session.selection.block,
              head = s.of<Painting>().all_heads ? -1 : s.session.selection.head;
    const Change* set = change_at(s.session, {ChangeKind::temperature}, block, head);
    const float now = set ? set->value : 1;
    std::vector<std::string> items;
    int current = -1;
    for (const auto& [value, name] : kTemperatures) {
        if (value == now) current = isize(items);
        items.push_back(name);
    }
    if (current < 0) {
        current = isize(items);
        items.push_back(decimals(now, 2));
    }
    const int chosen = bar.choice("Temperature", "temperature", items, current);
    if (chosen < 0 || chosen == current || chosen >= std::ssize(kTemperatures)) return;
    Change change;
    change.kind = ChangeKind::temperature;
    change.block = block;
    change.head = head;
    change.value = kTemperatures[chosen].first;
    s.change(change);
}

void choose_ablation(Scene& s, Toolbar& bar) {
    const auto [block, head] = std::pair{s.session.selection.block, s.session.selection.head};
    const Change* set = change_at(s.session,
                                  {ChangeKind::zero, ChangeKind::mean, ChangeKind::uniform, ChangeKind::hard,
                                   ChangeKind::keep, ChangeKind::freeze},
                                  block, head);
    std::vector<std::string> items{"unchanged"};
    int current = 0;
    for (const ChangeRow& row : ablations()) {
        if (set && set->kind == row.kind) current = isize(items);
        items.push_back(row.kind == ChangeKind::keep ? "keep only this head" : row.name);
    }
    if (set && set->kind == ChangeKind::freeze) {
        current = isize(items);
        items.push_back("frozen");
    }
    const std::string label = "Head " + head_name(s.model()->config, block, head);
    const int chosen = bar.choice(label, "ablation", items, current);
    if (chosen < 0 || chosen == current) return;
    if (chosen == 0) return s.change(*set);  // which takes it away
    if (chosen > std::ssize(ablations())) return;
    Change change;
    change.kind = ablations()[chosen - 1].kind;
    std::tie(change.block, change.head) = std::tie(block, head);
    s.change(change);
}

void choose_skips(Scene& s, Toolbar& bar) {
    const int block = s.session.selection.block;
    const bool attention = change_at(s.session, {ChangeKind::skip_attention}, block, -1),
               mlp = change_at(s.session, {ChangeKind::skip_mlp}, block, -1);
    const bool cross = s.model()->config.block(block).kind ==
                       AttentionKind::cross;  // the MLP belongs to self-attention's layer
    const std::string label = "Layer " + block_name(s.model()->config, block);
    std::vector<std::string> items{"unchanged", "skip attention"};
    if (!cross) items.insert(items.end(), {"skip MLP", "skip both"});
    const int chosen = bar.choice(label, "skip", items, (attention ? 1 : 0) + (mlp ? 2 : 0));
    if (chosen < 0) return;
    Change change;
    change.block = block;
    change.kind = ChangeKind::skip_attention;
    const bool other_attention = attention != ((chosen & 1) != 0), other_mlp = mlp != ((chosen & 2) != 0);
    if (other_attention) s.change(change);
    change.kind = ChangeKind::skip_mlp;
    if (other_mlp) s.change(change, other_attention);
}

/// The last change of positions that concerns every text.
void choose_positions(Scene& s, Toolbar& bar) {
    if (s.model()->config.positions == PositionScheme::none) return;
    const Change* set = change_at(s.session, {ChangeKind::positions}, -1, -1);
    const int current = !set ? 0 : set->value == kNoPositions ? 1 : 2;
    const int chosen = bar.choice("Positions", "positions", {"own", "off", "shuffled"}, current);
    if (chosen < 0 || chosen == current) return;
    if (chosen == 0) return s.change(*set);  // which takes it away
    Change change;
    change.kind = ChangeKind::positions;
    change.value = chosen == 1 ? kNoPositions : 1;
    s.change(change);
}

}  // namespace

float draw_change_bar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (!s.session.preferences.change_bar || !s.sentence() || !s.sentence()->trace->has_weights()) return 0;
    auto& painting = s.of<Painting>();
    const Rect first = take_top(area, kLine);
    Toolbar bar(ui, {first.x + size::center_pad, first.y, first.w - size::center_pad - gap::small, kLine},
                Toolbar::Lines::many);
    if (!s.model()->config.can.read_image) choose_mask(s, bar);
    if (bar.choose("Brush", "brush", {"off", "mask", "unmask", "mask rectangle", "unmask rectangle"},
                   painting.brush) &&
        painting.brush != Brush::off)
        s.send("view head");
    if (const int c = bar.choice("on", "scope", {"all heads", "this head"}, painting.all_heads ? 0 : 1);
        c >= 0)
        painting.all_heads = c == 0;
    choose_temperature(s, bar);
    choose_ablation(s, bar);
    choose_skips(s, bar);
    choose_positions(s, bar);
    ui.hairline(first.x, bar.bottom(), first.right(), bar.bottom());
    return bar.bottom() - first.y;
}

}  // namespace headlight

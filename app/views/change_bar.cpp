// The row of masks, brush, temperature and ablations: everything that can be changed, in every view.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "views/changes.h"
#include "views/views.h"

namespace headlight {

namespace {

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

/// Choices after one another, in as many lines as they need.
class Flow {
public:
    Flow(Ui& ui, Rect area) : ui_(ui), area_(area), x_(area.x + 24), y_(area.y + 20) {}

    int choose(const char* label, const char* path, const std::vector<std::string>& items, int current) {
        if (x_ + ui_.choice_width(label, items) > area_.right() - 8 && x_ > area_.x + 24) {
            x_ = area_.x + 24;
            y_ += 36;
        }
        return ui_.choice(x_, y_, label, path, items, current);
    }
    float bottom() const { return y_ + 20; }

private:
    Ui& ui_;
    Rect area_;
    float x_, y_;
};

std::string label_of_mask(const Scene& s, const std::string& name) {
    const Mask& now = s.session.document.intervention.mask;
    return name == now.name() ? now.label() : Mask::parse(name)->label();
}

void choose_mask(Scene& s, Flow& flow) {
    std::vector<std::string> names = offered_masks();
    auto current = std::find(names.begin(), names.end(), s.session.document.intervention.mask.name());
    if (current == names.end())
        current = names.insert(names.end(), s.session.document.intervention.mask.name());
    std::vector<std::string> labels;
    for (const std::string& name : names) labels.push_back(label_of_mask(s, name));
    const int chosen = flow.choose("Mask", "mask", labels, narrow<int>(current - names.begin()));
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

void choose_temperature(Scene& s, Flow& flow) {
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
    const int chosen = flow.choose("Temperature", "temperature", items, current);
    if (chosen < 0 || chosen == current || chosen >= std::ssize(kTemperatures)) return;
    Change change;
    change.kind = ChangeKind::temperature;
    change.block = block;
    change.head = head;
    change.value = kTemperatures[chosen].first;
    s.change(change);
}

void choose_ablation(Scene& s, Flow& flow) {
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
    const int chosen = flow.choose(label.c_str(), "ablation", items, current);
    if (chosen < 0 || chosen == current) return;
    if (chosen == 0) return s.change(*set);  // which takes it away
    if (chosen > std::ssize(ablations())) return;
    Change change;
    change.kind = ablations()[chosen - 1].kind;
    std::tie(change.block, change.head) = std::tie(block, head);
    s.change(change);
}

void choose_skips(Scene& s, Flow& flow) {
    const int block = s.session.selection.block;
    const bool attention = change_at(s.session, {ChangeKind::skip_attention}, block, -1),
               mlp = change_at(s.session, {ChangeKind::skip_mlp}, block, -1);
    const bool cross = s.model()->config.block(block).kind ==
                       AttentionKind::cross;  // the MLP belongs to self-attention's layer
    const std::string label = "Layer " + block_name(s.model()->config, block);
    std::vector<std::string> items{"unchanged", "skip attention"};
    if (!cross) items.insert(items.end(), {"skip MLP", "skip both"});
    const int chosen = flow.choose(label.c_str(), "skip", items, (attention ? 1 : 0) + (mlp ? 2 : 0));
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
void choose_positions(Scene& s, Flow& flow) {
    if (s.model()->config.positions == PositionScheme::none) return;
    const Change* set = change_at(s.session, {ChangeKind::positions}, -1, -1);
    const int current = !set ? 0 : set->value == kNoPositions ? 1 : 2;
    const int chosen = flow.choose("Positions", "positions", {"own", "off", "shuffled"}, current);
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
    Flow flow(ui, area);
    if (!s.model()->config.can.read_image) choose_mask(s, flow);
    if (const int c =
            flow.choose("Brush", "brush", {"off", "mask", "unmask", "mask rectangle", "unmask rectangle"},
                        static_cast<int>(s.of<Painting>().brush));
        c >= 0) {
        s.of<Painting>().brush = static_cast<Brush>(c);
        if (c > 0) s.send("view head");
    }
    if (const int c =
            flow.choose("on", "scope", {"all heads", "this head"}, s.of<Painting>().all_heads ? 0 : 1);
        c >= 0)
        s.of<Painting>().all_heads = c == 0;
    choose_temperature(s, flow);
    choose_ablation(s, flow);
    choose_skips(s, flow);
    choose_positions(s, flow);
    ui.hairline(area.x, flow.bottom(), area.right(), flow.bottom());
    return flow.bottom() - area.y;
}

}  // namespace headlight

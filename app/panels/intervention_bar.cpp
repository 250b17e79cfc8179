#include "panels/intervention_bar.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/cast.h"
#include "parts/controls.h"
#include "views/views.h"

namespace headlight {

namespace {

constexpr float kLine = 40, kLineOfMore = 36;

/// Parameter values to offer for a mask, by their number; clicking again selects the next.
constexpr std::array<std::array<const char*, 3>, 3> kMaskNumbers{
    {{"", "", ""}, {":4", ":8", ":2"}, {":1:4", ":1:8", ":2:4"}}};

/// A kind of mask, as the bar shows it.
struct MaskOption {
    const MaskKind* kind;  // null: a mask from a file
    std::string label, help;
};

/// "window", "global"; with its values while active.
std::string short_label(const MaskKind& kind) {
    if (std::string_view(kind.name) == "own") return "default";
    if (std::string_view(kind.name) == "block") return "sentence";
    return kind.name;
}

/// The mask's description without its spelling ("window:W, a query sees …").
std::string help_of_mask(const MaskKind& kind) {
    const std::string help = kind.help;
    return kind.numbers ? help.substr(help.find(", ") + 2) : help;
}

std::vector<MaskOption> mask_options(const Scene& s, int& current) {
    const Mask& now = s.session.document.intervention.mask;
    const std::string name = now.name();
    std::vector<MaskOption> out;
    for (const MaskKind& kind : mask_kinds()) {
        const bool on = name == kind.name || name.starts_with(std::string(kind.name) + ":");
        if (std::string_view(kind.name) == "block" && !s.model()->config.can.read_pair && !on) continue;
        if (on) current = isize(out);
        std::string label = short_label(kind);
        if (on && kind.numbers > 0) label += " " + name.substr(name.find(':') + 1);
        std::replace(label.begin(), label.end(), ':', '+');
        out.push_back(
            {&kind, label,
             "Mask: " + help_of_mask(kind) + (kind.numbers ? ". Click again for other values." : ".")});
    }
    if (current >= 0) return out;
    current = isize(out);
    out.push_back({nullptr, now.label(), "Mask: " + now.label() + "."});
    return out;
}

/// The mask that a click on an option sets: if active, with its next values.
std::string wanted_mask(const MaskKind& kind, const std::string& now) {
    const auto& numbers = kMaskNumbers[kind.numbers];
    const std::string name = kind.name;
    for (size_t i = 0; i < numbers.size(); ++i)
        if (now == name + numbers[i]) return name + numbers[(i + 1) % numbers.size()];
    return name + numbers[0];
}

/// Draws options side by side if they fit, else as a list.
void choose_mask(Scene& s, Toolbar& bar, float room) {
    int current = -1;
    const auto options = mask_options(s, current);
    Ui::Segments segments{{}, {}, current};
    for (const MaskOption& option : options) {
        segments.labels.push_back(option.label);
        segments.helps.push_back(option.help);
    }
    const char* label = bar.labels ? "Mask" : "";
    const int chosen = bar.segments_width(label, segments.labels) <= room
                           ? bar.segments(label, "mask", segments)
                           : bar.choice("Mask", "mask", segments.labels, current);
    if (chosen >= 0 && options[chosen].kind)
        s.send("mask", wanted_mask(*options[chosen].kind, s.session.document.intervention.mask.name()));
}

/// Draws mask and unmask, and whether a drag paints cells or a rectangle; clicking the active one turns it
/// off.
void choose_brush(Scene& s, Toolbar& bar) {
    Brush& brush = s.of<Painting>().brush;
    const Brush before = brush;
    const bool rectangles = paints_rectangles(s.session);
    const int current = brush == Brush::off                                      ? -1
                        : brush == Brush::mask || brush == Brush::mask_rectangle ? 0
                                                                                 : 1;
    const int chosen =
        bar.segments(bar.labels ? "Brush" : "", "brush",
                     {{"mask", "unmask"},
                      {"Drag on the heat map to mask cells; click again to turn the brush off.",
                       "Drag on the heat map to unmask cells; click again to turn the brush off."},
                      current});
    constexpr Brush kCells[] = {Brush::mask, Brush::unmask},
                    kRectangles[] = {Brush::mask_rectangle, Brush::unmask_rectangle};
    if (chosen >= 0) brush = chosen == current ? Brush::off : (rectangles ? kRectangles : kCells)[chosen];
    const Rect at = band(bar.take(size::chip, gap::medium), size::chip);
    const Hit h = s.ui.control("brush/rectangle", at);
    s.ui.fill(at,
              rectangles  ? s.ui.colors->bg4
              : h.hovered ? s.ui.colors->bg3
                          : s.ui.colors->bg2,
              size::corner);
    s.ui.frame(at, s.ui.colors->l2, 1, size::corner);
    s.ui.frame(inset(at, 7, 9), rectangles ? s.ui.colors->t1 : s.ui.colors->t2);
    s.ui.tooltip("brush/rectangle", h, "Drag to paint a rectangle instead of single cells.");
    if (h.clicked) brush = (rectangles ? kCells : kRectangles)[std::max(current, 0)];
    const bool on_map = std::string_view(shown_view(s.session, *s.model()).key) == "head";
    if (brush != before && brush != Brush::off && !on_map) s.send("view head");
}

constexpr std::pair<float, const char*> kTemperatures[] = {
    {1.0f, "1"}, {0.0f, "0, hard"}, {0.25f, "0.25"},         {0.5f, "0.5"},
    {2.0f, "2"}, {4.0f, "4"},       {INFINITY, "∞, uniform"}};

/// The change of some kinds at exactly this place, or null.
const Change* change_at(const Session& session, std::initializer_list<ChangeKind> kinds, int block,
                        int head) {
    for (const Change& c : session.document.intervention.changes)
        if (c.block == block && c.head == head && c.blocks == Blocks::usual &&
            std::find(kinds.begin(), kinds.end(), c.kind) != kinds.end())
            return &c;
    return nullptr;
}

void choose_temperature(Scene& s, Toolbar& bar) {
    const BrushScope scope = s.of<Painting>().scope;
    const int block = scope == BrushScope::all_heads ? -1 : s.session.selection.block,
              head = scope == BrushScope::this_head ? s.session.selection.head : -1;
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
    if (chosen == 0) return s.change(*set);  // removes it
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
    const bool second = s.model()->config.block(block).is_second();  // the MLP belongs to the first block
    const std::string label = "Layer " + block_name(s.model()->config, block);
    std::vector<std::string> items{"unchanged", "skip attention"};
    if (!second) items.insert(items.end(), {"skip MLP", "skip both"});
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

/// The last change of positions that applies to every text.
void choose_positions(Scene& s, Toolbar& bar) {
    if (s.model()->config.positions == PositionScheme::none) return;
    const Change* set = change_at(s.session, {ChangeKind::positions}, -1, -1);
    const int current = !set ? 0 : set->value == kNoPositions ? 1 : 2;
    const int chosen = bar.choice("Positions", "positions", {"own", "off", "shuffled"}, current);
    if (chosen < 0 || chosen == current) return;
    if (chosen == 0) return s.change(*set);  // removes it
    Change change;
    change.kind = ChangeKind::positions;
    change.value = chosen == 1 ? kNoPositions : 1;
    s.change(change);
}

void choose_scope(Scene& s, Toolbar& bar) {
    bar.choose("", "scope", {"all heads", "this layer", "this head"}, s.of<Painting>().scope);
}

void choose_mask_in_list(Scene& s, Toolbar& bar) {
    if (!s.model()->config.can.read_image) choose_mask(s, bar, 0);
}

/// Draws the changes of head, layer and positions, one below the other; in a low window, mask and scope too.
void draw_more(Scene& s, Rect inside, bool low) {
    Rect rest = inset(inside, gap::large, gap::medium);
    if (low)
        for (const auto& choose : {choose_mask_in_list, choose_scope}) {
            Toolbar line(s.ui, take_top(rest, kLineOfMore));
            choose(s, line);
        }
    for (const auto& choose : {choose_ablation, choose_temperature, choose_skips, choose_positions}) {
        Toolbar line(s.ui, take_top(rest, kLineOfMore));
        choose(s, line);
    }
}

/// Draws the button for the controls that do not fit beside masks and brush.
void draw_more_button(Scene& s, Toolbar& bar, bool low) {
    constexpr float kWide = 300;
    const float lines = low ? 6 : 4;
    const bool open = ImGui::IsPopupOpen("change/more/panel");
    const Hit h = bar.press("change/more", "Advanced…", open);
    s.ui.tooltip(
        "change/more", h,
        "Ablate the head, change its softmax temperature, skip parts of the layer, or switch positions off.");
    s.ui.pop_up("change/more", bar.last(), h.clicked, {kWide, lines * kLineOfMore + 2 * gap::medium},
                [&](Rect inside) { draw_more(s, inside, low); });
}

/// Approximate width of the four choices of head, layer and positions side by side.
float width_of_rest(Scene& s) {
    float all = 0;
    for (const char* label : {"Temperature", "Head 10.10", "Layer cross.2", "Positions"})
        all += s.ui.choice_width(label, {"keep only this head"});
    return all;
}

/// A cross that closes the bar and puts the brush down; what is changed stays.
void close_change_bar(Scene& s, Rect& line) {
    if (!press_cross(s.ui, "change/close", line)) return;
    s.send("intervene", "off");
    s.send("brush", "off");
}

}  // namespace

float draw_change_bar(Scene& s, Rect area) {
    Ui& ui = s.ui;
    if (!s.session.preferences.change_bar || !s.sentence() || !s.sentence()->trace->can_run()) return 0;
    constexpr float kRoomy = 700;
    const Rect line = take_top(area, kLine);
    Rect inside{line.x + size::center_pad, line.y, line.w - size::center_pad - gap::small, kLine};
    close_change_bar(s, inside);
    Toolbar bar(ui, inside);
    bar.labels = bar.rest().w > kRoomy;
    const float others = bar.segments_width("Brush", {"mask", "unmask"}) + size::chip + 3 * gap::medium +
                         ui.choice_width("", {"all heads"}) + ui.text.width(kCaption, "Advanced…") + 24;
    if (!s.model()->config.can.read_image) choose_mask(s, bar, bar.rest().w - others);
    choose_brush(s, bar);
    choose_scope(s, bar);
    if (bar.rest().w > width_of_rest(s)) {
        for (const auto& choose : {choose_ablation, choose_temperature, choose_skips, choose_positions})
            choose(s, bar);
    } else {
        draw_more_button(s, bar, false);
    }
    ui.hairline(line.x, line.bottom(), line.right(), line.bottom());
    return kLine;
}

void draw_change_controls(Scene& s, Rect& line) {
    if (!s.session.preferences.change_bar) return;
    close_change_bar(s, line);
    Toolbar bar(s.ui, line);
    bar.labels = false;
    bar.apart = gap::small;
    choose_brush(s, bar);
    draw_more_button(s, bar, true);
    line = bar.rest();
}

}  // namespace headlight

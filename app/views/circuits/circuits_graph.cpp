// Draws heads as nodes by layer, the strongest compositions as edges.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/engine.h"
#include "views/circuits/circuits.h"

namespace headlight {

namespace {

constexpr float kBesideRows = 40, kUnderColumns = 28, kGraphNotes = 106, kNumberedNode = 8.5f;
constexpr int kBends = 24;  // segments of an edge

/// A column for each block, in the order of the residual stream.
struct CircuitsPlan {
    Grid grid;
    std::vector<int> block_of, column_of;  // of a column; of a block
    float radius = 4;

    ImVec2 place(AttentionHead h) const { return {grid.middle_x(column_of[h.block]), grid.middle_y(h.head)}; }
};

CircuitsPlan plan_circuits(const ModelConfig& c, Rect area) {
    constexpr float kLargest = 11, kSmallest = 3, kOfCell = 0.34f;
    CircuitsPlan p;
    p.block_of.resize(c.blocks());
    std::iota(p.block_of.begin(), p.block_of.end(), 0);
    std::stable_sort(p.block_of.begin(), p.block_of.end(), [&](int a, int b) {
        const AttentionBlock x = c.block(a), y = c.block(b);
        return std::pair(x.stack, x.layer) < std::pair(y.stack, y.layer);
    });
    p.column_of.resize(c.blocks());
    for (int i = 0; i < c.blocks(); ++i) p.column_of[p.block_of[i]] = i;
    take_left(area, kBesideRows);
    take_bottom(area, kGraphNotes + kUnderColumns);
    const int rows = c.max_heads();
    p.grid = grid_at(area.min(), rows, c.blocks(), area.w / float(c.blocks()), area.h / float(rows));
    p.radius = std::clamp(kOfCell * std::min(p.grid.w, p.grid.h), kSmallest, kLargest);
    return p;
}

using ComposedEdge = std::array<ImVec2, kBends + 1>;

/// The curve from writer to reader, bent between other heads; the three kinds of a pair lie side by side.
ComposedEdge edge_of(const ModelConfig& c, const CircuitsPlan& p, const ComposedPair& pair) {
    constexpr float kAside[] = {-0.75f, 0.6f, -0.42f}, kNear = 0.4f, kReach = 0.4f;
    const ImVec2 from = p.place(c.head_at(pair.writer)), to = p.place(c.head_at(pair.reader));
    const bool beyond = to.x - from.x > 1.5f * p.grid.w;
    const float bend = (to.x - from.x) * kReach,
                aside = kAside[static_cast<int>(pair.kind)] * p.grid.h * (beyond ? 1 : kNear);
    const ImVec2 leaves{from.x + bend, from.y + aside}, arrives{to.x - bend, to.y + aside};
    ComposedEdge out;
    for (int i = 0; i <= kBends; ++i) {
        const float t = float(i) / kBends, s = 1 - t;
        const float a = s * s * s, b = 3 * s * s * t, d = 3 * s * t * t, e = t * t * t;
        out[i] = {a * from.x + b * leaves.x + d * arrives.x + e * to.x,
                  a * from.y + b * leaves.y + d * arrives.y + e * to.y};
    }
    return out;
}

float distance_to(ImVec2 point, ImVec2 from, ImVec2 to) {
    const float x = to.x - from.x, y = to.y - from.y, long2 = x * x + y * y;
    const float t =
        long2 > 0 ? std::clamp(((point.x - from.x) * x + (point.y - from.y) * y) / long2, 0.0f, 1.0f) : 0.0f;
    return std::hypot(from.x + t * x - point.x, from.y + t * y - point.y);
}

/// Three distinct hues, none of them the accent color.
ImU32 kind_ink(const Ui& ui, CompositionKind kind, float alpha = 1) {
    constexpr int kHues[] = {7, 5, 10}, kOf = 12;  // blue, green, magenta
    const Rgb c = head_color(kHues[static_cast<int>(kind)], kOf, ui.colors->dark);
    return faded(IM_COL32(c.r, c.g, c.b, 255), alpha);
}

struct DrawnComposition {
    ComposedPair pair;
    ComposedEdge edge;
    bool of_chosen;
};

/// Draws stronger compositions wider and more opaque; dims those without the selected head.
void draw_composed(Ui& ui, const DrawnComposition& d, float low, float high, bool others_fade, bool pointed) {
    constexpr float kThin = 0.8f, kWide = 4.2f, kFaint = 0.3f;
    const float place = high > low ? (d.pair.value - low) / (high - low) : 1;
    const bool back = others_fade && !d.of_chosen;
    const float alpha = pointed ? 1 : back ? kFaint * (0.5f + 0.5f * place) : 0.55f + 0.4f * place;
    ui.polyline(d.edge, kind_ink(ui, d.pair.kind, alpha), kThin + kWide * place + (pointed ? 1.0f : 0.0f));
}

/// The edge under the mouse, or −1.
int edge_at(const std::vector<DrawnComposition>& all, ImVec2 mouse) {
    constexpr float kNearby = 6;
    float min = kNearby;
    int out = -1;
    for (int i = 0; i < isize(all); ++i)
        for (int k = 0; k < kBends; ++k)
            if (const float d = distance_to(mouse, all[i].edge[k], all[i].edge[k + 1]); d < min) {
                min = d;
                out = i;
            }
    return out;
}

/// The number of shown compositions by ModelConfig::head_index: {as reader, as writer}.
std::vector<std::pair<int, int>> count_edges(const ModelConfig& c, const std::vector<DrawnComposition>& all) {
    std::vector<std::pair<int, int>> out(c.head_count());
    for (const DrawnComposition& d : all) {
        ++out[d.pair.reader].first;
        ++out[d.pair.writer].second;
    }
    return out;
}

void draw_heads_of_circuits(Scene& s, const CircuitsPlan& p, const std::vector<std::pair<int, int>>& edges) {
    Ui& ui = s.ui;
    const ModelConfig& c = full_config(*s.model());
    const AttentionHead chosen = chosen_head(s);
    for (int i = 0; i < c.head_count(); ++i) {
        const AttentionHead h = c.head_at(i);
        const ImVec2 at = p.place(h);
        const bool on = h == chosen, has_edges = edges[i].first + edges[i].second > 0;
        if (!has_edges && !on) {
            ui.disc(at, std::max(1.5f, p.radius * 0.3f), ui.colors->l2);
            continue;
        }
        ui.disc(at, p.radius + 1.5f, ui.colors->bg1);
        ui.disc(at, p.radius, on ? ui.colors->accent : ui.colors->bg3);
        ui.ring(at, p.radius, on ? ui.colors->accent : ui.colors->t3, 1);
        if (p.radius >= kNumberedNode)
            ui.text.draw_centered(at.x, at.y, kCaptionMono, on ? ui.colors->on_accent : ui.colors->t1,
                                  std::to_string(h.head));
    }
}

/// Draws layers below their columns, heads left of their rows.
void name_circuits(Scene& s, const CircuitsPlan& p) {
    Ui& ui = s.ui;
    const ModelConfig& c = full_config(*s.model());
    const AttentionHead chosen = chosen_head(s);
    const Rect under{p.grid.view.x, p.grid.view.bottom(), p.grid.view.w, kUnderColumns};
    float written = -1e9f;
    for (int i = 0; i < p.grid.columns; ++i) {
        const std::string name = block_name(c, p.block_of[i]);
        const float wide = ui.text.width(kCaptionMono, name), x = p.grid.middle_x(i) - wide / 2;
        if (x < written + gap::close) continue;
        const ImU32 ink = p.block_of[i] == chosen.block ? ui.colors->accent_text : ui.colors->t2;
        ui.text.draw(x, under.middle_y(), kCaptionMono, ink, name);
        written = x + wide;
    }
    const float apart = 15;
    const int step = std::max(1, int_of(std::ceil(double(apart / p.grid.h))));
    for (int h = 0; h < p.grid.rows; h += step)
        write(ui, {p.grid.view.x - kBesideRows, p.grid.y(h), kBesideRows - gap::medium, p.grid.h},
              kCaptionMono, h == chosen.head ? ui.colors->accent_text : ui.colors->t3, std::to_string(h),
              Flush::right);
    caption(ui, {p.grid.view.x - kBesideRows, under.y, kBesideRows - gap::tight, under.h}, "layer",
            Flush::right);
}

/// The nearest head to the mouse within its circle, or −1.
int head_at_mouse(const ModelConfig& c, const CircuitsPlan& p, ImVec2 mouse) {
    const auto [row, column] = p.grid.at(mouse);
    const AttentionHead h{p.block_of[column], row};
    if (!c.has_head(h)) return -1;
    const ImVec2 at = p.place(h);
    return std::hypot(at.x - mouse.x, at.y - mouse.y) <= p.radius + 3 ? c.head_index(h) : -1;
}

std::string counted_as(int count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// Names the hovered head or edge; click selects a head. Returns the hovered edge, or −1.
int answer_circuits(Scene& s, const CircuitsPlan& p, const std::vector<DrawnComposition>& all,
                    const std::vector<std::pair<int, int>>& edges) {
    const ModelConfig& c = full_config(*s.model());
    auto& pointed = s.of<CircuitsState>().pointed;
    const Hit hit = s.ui.hit("circuits/graph", p.grid.view);
    if (!s.ui.on_page()) pointed.reset();
    if (!hit.hovered) return -1;
    if (const int head = head_at_mouse(c, p, hit.mouse); head >= 0) {
        const AttentionHead h = c.head_at(head);
        s.ui.ring(p.place(h), p.radius + 3, s.ui.colors->hover, 2);
        s.ui.tooltip("circuits/graph/" + head_path(c, h), hit,
                     "Head " + head_name(c, h) + ": reader in " + std::to_string(edges[head].first) +
                         ", writer in " + std::to_string(edges[head].second) + " of the compositions shown.");
        if (!hit.clicked) return -1;
        s.select(h.block, h.head);
        s.leave_text();
        return -1;
    }
    const int edge = edge_at(all, hit.mouse);
    if (edge < 0) return -1;
    const ComposedPair& pair = all[edge].pair;
    const AttentionHead reader = c.head_at(pair.reader);
    pointed = std::pair{pair.reader, pair.writer};
    s.ui.tooltip("circuits/graph/" + std::to_string(edge), hit,
                 composed_text(c, pair.reader, pair.writer, pair.value) + ", into its " +
                     kReadBy[static_cast<int>(pair.kind)] + ". Click to select the reader.");
    if (hit.clicked) {
        s.select(reader.block, reader.head);
        s.leave_text();
    }
    return edge;
}

/// Draws the kinds with their colors as toggles, then the caption.
void draw_circuits_legend(Scene& s, Rect foot, const Composition& of,
                          const std::vector<DrawnComposition>& all) {
    constexpr float kSample = 26, kEntry = 34;
    Ui& ui = s.ui;
    auto& kinds = s.of<CircuitsState>().kinds;
    Rect line = take_top(foot, kEntry, gap::close);
    for (int k = 0; k < kCompositionKinds; ++k) {
        const auto kind = static_cast<CompositionKind>(k);
        const std::string label = std::string(kCompositionNames[k]) + ": into " + kReadBy[k];
        const float wide = kSample + gap::small + ui.text.width(kCaption, label);
        Rect entry = band(take_left(line, wide, gap::wide), size::chip);
        const Rect whole = inset(entry, -gap::close, 0);
        const std::string path = std::string("circuits/kind/") + kCompositionNames[k];
        const Hit h = ui.control(path, whole);
        if (h.hovered) ui.fill(whole, ui.colors->bg3, size::corner);
        const Rect sample = take_left(entry, kSample, gap::small);
        ui.fill(band(sample, 4), kinds[k] ? kind_ink(ui, kind) : ui.colors->l2, 2);
        write(ui, {entry.x, entry.y, entry.w + 1, entry.h}, kCaption,
              kinds[k] ? ui.colors->t1 : ui.colors->t3, label);
        ui.explain(path, whole);
        if (h.clicked) kinds[k] = !kinds[k];
    }
    const std::string shown =
        kinds == std::array<bool, kCompositionKinds>{} ? "Select a kind of composition."
        : all.empty()
            ? "Composition needs at least two layers."
            : "The " + counted_as(isize(all), "strongest composition", "strongest compositions") + ", from " +
                  number(all.back().pair.value, 3) + " to " + number(all.front().pair.value, 3) +
                  ": ‖A B‖ ÷ (‖A‖ ‖B‖) of the left head's output and the right head's input. Random "
                  "matrices: " +
                  number(of.random, 3) + ".";
    ui.text.draw_wrapped(foot.x, foot.y + gap::small, foot.w, kCaption, ui.colors->t2, shown);
}

}  // namespace

void choose_composed(Scene& s, Toolbar& bar) {
    constexpr float kTrack = 120, kNumber = 30;
    const float range = std::log(float(kMaxComposed) / kLeastComposed);
    auto& strongest = s.of<CircuitsState>().strongest;
    bar.say(kCaption, s.ui.colors->t3, "Strongest", gap::small);
    const Rect track = band(bar.take(kTrack, gap::tight), size::chip);
    const float place = std::log(float(strongest) / kLeastComposed) / range;
    if (const auto to = s.ui.slider("circuits/strongest", track, place))
        strongest = std::clamp(int(std::lround(kLeastComposed * std::exp(*to * range))), kLeastComposed,
                               kMaxComposed);
    if (const int step = s.ui.take_step("circuits/strongest"))
        strongest = std::clamp(strongest - 5 * step, kLeastComposed, kMaxComposed);
    write(s.ui, bar.take(kNumber), kCaptionMono, s.ui.colors->t1, std::to_string(strongest));
}

void draw_circuits_graph(Scene& s, Rect area, const Composition& of) {
    const ModelConfig& c = full_config(*s.model());
    const CircuitsState& state = s.of<CircuitsState>();
    const CircuitsPlan plan = plan_circuits(c, area);
    const int chosen = c.head_index(chosen_head(s));
    std::vector<DrawnComposition> all;
    for (const ComposedPair& pair : strongest_ranked(of, state.strongest, state.kinds))
        all.push_back({pair, edge_of(c, plan, pair), pair.reader == chosen || pair.writer == chosen});
    const float low = all.empty() ? 0 : all.back().pair.value,
                high = all.empty() ? 1 : all.front().pair.value;
    const bool fade =
        std::any_of(all.begin(), all.end(), [](const DrawnComposition& d) { return d.of_chosen; });
    for (const bool of_chosen : {false, true})
        for (size_t i = all.size(); i-- > 0;)
            if (all[i].of_chosen == of_chosen) draw_composed(s.ui, all[i], low, high, fade, false);
    const auto edges = count_edges(c, all);
    const int pointed = answer_circuits(s, plan, all, edges);
    if (pointed >= 0) draw_composed(s.ui, all[pointed], low, high, fade, true);
    draw_heads_of_circuits(s, plan, edges);
    name_circuits(s, plan);
    Rect foot = area;
    draw_circuits_legend(s, take_bottom(foot, kGraphNotes), of, all);
}

}  // namespace headlight

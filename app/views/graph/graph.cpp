// Draws tokens as nodes and attention as edges through all layers, and traces one token back to the input.
#include "views/graph/graph.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "io/json.h"
#include "parts/controls.h"
#include "session/commands/commands.h"
#include "views/views.h"

namespace headlight {

void GraphState::visit(FieldVisitor& v) {
    v.share("graph_share", share, kShareOption);
    v.choose_among(share, kShares,
                   {"graph share", "Graph: share of each row", kShareOption.help, share_words()});
    v.choose(
        "graph_by", by,
        {"graph by",
         "Graph: origins by",
         "method to trace a token to the input; auto: rollout, or contributions if an attention sink takes "
         "more than half",
         {"auto", "rollout", "flow", "contribution", "relevance"}},
        {"origins"});
    v.choose("graph_sink_apart", sink_apart,
             {"graph sink",
              "Graph: the first token",
              "show the first token among the others, or apart and renormalize the rest",
              {"among", "apart"}},
             {.name = "sink-apart",
              .help = "show the first token separately and renormalize the other shares",
              .flag = true,
              .figure_alone = true});
    v.report("left_out", included.left_out);
}

namespace {

constexpr float kLevelLeast = 20, kMaxLevel = 48, kLevelNames = 24, kGraphFoot = 44, kHighestChip = 26,
                kNodeRoom = 14;  // the radius of a node with a share of 1

struct GraphLayout {
    Grid tokens;  // one row per token, across the whole view
    Rect nodes;
    Rect left, right;  // columns of tokens: at the input, and at the top
    int levels;        // embeddings and layers
    float x(int level) const { return nodes.x + nodes.w * float(level) / float(levels - 1); }
    float y(int token) const { return tokens.middle_y(token); }
    bool sees(float y) const { return y >= nodes.y - 1 && y <= nodes.bottom() + 1; }
};

GraphLayout arrange(Scene& s, Rect area, int tokens, int levels) {
    constexpr float kLeft = 256, kRight = 132;
    auto& state = s.of<GraphState>();
    GraphLayout g{};
    g.levels = levels;
    g.tokens.view = area;
    g.tokens.rows = tokens;
    g.tokens.w = area.w;
    g.tokens.h = std::clamp(area.h / float(tokens), kLevelLeast, kMaxLevel);
    g.nodes = area;
    g.left = inset(take_left(g.nodes, kLeft), gap::large, 0);
    g.right = take_right(g.nodes, kRight);
    take_left(g.right, kNodeRoom + gap::close);
    scrolled(s.ui, {area.x, area.y, area.w - gap::small, area.h}, g.tokens.h * float(tokens), state.seen);
    if (const int token = graph_token(s); state.followed != token && !s.session.selection.hovered.cell) {
        state.followed = token;
        state.seen.y =
            scrolled_to(state.seen.y, g.tokens.h * float(token), g.tokens.h * float(token + 1), area.h);
    }
    g.tokens.y0 = state.seen.y;
    return g;
}

void draw_graph_toolbar(Scene& s, Toolbar bar) {
    choose_share(bar, "Show", "graph/share", s.of<GraphState>().share);
    auto& state = s.of<GraphState>();
    bar.choose("Method", "graph/origins", {"automatic", "rollout", "flow", "contributions", "relevance"},
               state.by);
    bar.choose("First token", "graph/sink", {"among others", "apart"}, state.sink_apart);
}

/// share of an edge = share of its upper node · share that attention moves · weight.
float carried(const Rollout* rollout, int layer, int query, float weight) {
    if (!rollout || layer + 1 >= rollout->accumulated.rows() || query >= rollout->accumulated.cols())
        return 0;
    const float moving = rollout->accumulated(layer + 1, query) - rollout->replaced(layer + 1, query);
    return rollout->scales[layer] * moving * weight;
}

constexpr float kStrong = 0.004f;  // larger shares are amber

void draw_part(Ui& ui, ImVec2 from, ImVec2 to, ImU32 ink, float part) {
    constexpr float kThinnest = 0.8f, kPerPart = 14;
    ui.stroke(from, to, faded(ink, 0.25f + 0.75f * std::min(1.0f, part * 4)),
              std::max(kThinnest, kPerPart * part));
}

void draw_residual(Ui& ui, const GraphLayout& g, const Graph& graph, const Rollout& rollout) {
    for (int l = 0; l + 1 < g.levels; ++l)
        for (int i = 0; i < rollout.accumulated.cols(); ++i) {
            const float share = graph.residual_weight.empty() ? 1 : graph.residual_weight[l][i], y = g.y(i),
                        stays = carried(&rollout, l, i, share) + rollout.replaced(l + 1, i);
            if (stays > kStrong && g.sees(y))
                draw_part(ui, {g.x(l), y}, {g.x(l + 1), y}, ui.colors->t2, stays);
        }
}

void draw_edges(Scene& s, const GraphLayout& g, const Found<GraphRequest>& graph, const Rollout* rollout) {
    Ui& ui = s.ui;
    ui.clip(inset(g.nodes, -gap::small, 0));
    struct Strong {
        ImVec2 from, to;
        float part;
    };
    std::vector<Strong> strong;
    const EdgesInSight& seen = edges_in_sight(s, graph, g.tokens);
    for (const auto& [layer, query, link] : seen.edges) {
        const float part = carried(rollout, layer, query, link.weight);
        if (link.weight < seen.faintest && part <= kStrong) continue;
        const ImVec2 from{g.x(layer), g.y(link.key)}, to{g.x(layer + 1), g.y(query)};
        if (part > kStrong)
            strong.push_back({from, to, part});
        else
            ui.stroke(from, to, faded(ui.colors->t3, 0.06f + 0.18f * link.weight),
                      std::max(0.6f, 2 * link.weight));
    }
    for (const Strong& e : strong) draw_part(ui, e.from, e.to, ui.colors->accent, e.part);
    if (rollout) draw_residual(ui, g, graph.answer, *rollout);
    ui.unclip();
}

/// Draws at each node a stub that leads to no token: the weight that the heads below it leave to their sinks,
/// longer for more, brighter for what the traced token loses there.
void draw_sinks(Scene& s, const GraphLayout& g, const Graph& graph, const Rollout* rollout) {
    constexpr float kFaintest = 0.05f, kEnd = 3;
    Ui& ui = s.ui;
    if (!has_sinks(graph)) return;
    const float reach = std::min(g.tokens.h, (g.x(1) - g.x(0))) * 0.45f;
    ui.clip(inset(g.nodes, -gap::small, 0));
    for (int l = 0; l + 1 < g.levels; ++l)
        for (int i = 0; i < graph.sinks[l].size(); ++i) {
            const float weight = graph.sinks[l][i], long_ = reach * std::sqrt(weight), y = g.y(i);
            if (weight < kFaintest || !g.sees(y)) continue;
            const float part = carried(rollout, l, i, weight);
            const ImU32 ink = part > kStrong ? ui.colors->t2 : faded(ui.colors->t3, 0.55f);
            const ImVec2 from{g.x(l + 1), y}, to{from.x - long_, y + long_};
            const float wide = std::max(0.8f, 2 * weight);
            ui.stroke(from, to, ink, wide);
            ui.stroke({to.x - kEnd, to.y - kEnd}, {to.x + kEnd, to.y + kEnd}, ink, wide);
        }
    ui.unclip();
}

void draw_nodes(Scene& s, const GraphLayout& g, const Rollout* rollout) {
    constexpr float kSmall = 4, kLeast = 2;
    Ui& ui = s.ui;
    const float max = std::min(g.tokens.h * 0.48f, std::max(2.0f, (g.x(1) - g.x(0)) * 0.42f));
    ui.clip(inset(g.nodes, -kNodeRoom, 0));
    for (int l = 0; l < g.levels; ++l)
        for (int i = 0; i < g.tokens.rows; ++i) {
            const ImVec2 at{g.x(l), g.y(i)};
            if (!g.sees(at.y)) continue;
            const bool known = rollout && i < rollout->accumulated.cols() && l < rollout->accumulated.rows();
            const float mass = known ? rollout->accumulated(l, i) : 0;
            if (mass > kStrong)
                ui.disc(at, std::min(kLeast + (kNodeRoom - kLeast) * std::sqrt(mass), max),
                        ui.colors->accent);
            else
                ui.fill(square_at(at, kSmall), ui.colors->l2);  // a square: faster, and there are hundreds
        }
    ui.unclip();
}

/// Says how much of the traced token a node under the mouse carries.
void answer_nodes(Scene& s, const GraphLayout& g, const Rollout* rollout) {
    constexpr float kNear = 14;
    const std::string path = "graph/nodes";
    const Hit h = s.ui.hit(path, inset(g.nodes, -kNodeRoom, 0));
    std::string said;
    if (h.hovered && rollout) {
        const float apart = g.nodes.w / float(g.levels - 1);
        const int level = std::clamp(int(std::lround((h.mouse.x - g.nodes.x) / apart)), 0, g.levels - 1),
                  token = g.tokens.row_at(h.mouse.y);
        const bool known = level < rollout->accumulated.rows() && token < rollout->accumulated.cols();
        if (known && std::hypot(h.mouse.x - g.x(level), h.mouse.y - g.y(token)) < kNear) {
            const auto& labels = s.sentence()->labels[graph_stack(s)];
            said = token_at(labels, token) +
                   (level ? ", after layer " + std::to_string(level - 1) : std::string(", input")) +
                   ": carries " + fine_number(rollout->accumulated(level, token), 3) + " of " +
                   token_at(labels, graph_token(s));
        }
    }
    s.ui.tooltip(path, h, said, 0);
}

/// Returns each input token's share of the traced token.
std::vector<float> shares_of(const Scene& s, const Rollout* rollout, int tokens) {
    std::vector<float> out = rollout ? rollout->shares() : std::vector<float>();
    out.resize(tokens);
    return s.of<GraphState>().sink_apart ? Rollout::without_sink(std::move(out)) : out;
}

struct InputLine {
    Rect position, word, bar, share;
};

InputLine input_line(Rect line) {
    constexpr float kPosition = 26, kWord = 76, kBar = 44, kShare = 42;
    InputLine l;
    l.position = take_left(line, kPosition, gap::small);
    l.word = take_left(line, kWord, gap::close);
    l.bar = band(take_left(line, kBar, gap::close), size::bar);
    l.share = take_left(line, kShare);
    return l;
}

/// Traces a hovered token; a click locks it.
void answer_token(Scene& s, const std::string& path, Rect r, int i) {
    const Hit h = s.ui.hit(path, r);
    if (!h.hovered || s.model()->config.block(s.block()).stack != graph_stack(s)) return;
    s.point_at(std::pair{i, s.strongest_key(i)});
    if (h.clicked) lock_token(s, i);
}

void draw_tokens(Scene& s, const GraphLayout& g, const std::vector<float>& shares) {
    Ui& ui = s.ui;
    const auto& labels = s.sentence()->labels[graph_stack(s)];
    const int token = graph_token(s);
    const bool apart = s.of<GraphState>().sink_apart && shares.size() > 1;
    const float largest = std::max(1e-6f, *std::max_element(shares.begin() + (apart ? 1 : 0), shares.end()));
    ui.clip(g.tokens.view);
    for (int i = 0; i < isize(labels); ++i) {
        if (!g.sees(g.y(i))) continue;
        const Rect left = line_at(g.left, g.y(i), g.tokens.h), right = line_at(g.right, g.y(i), g.tokens.h);
        const std::string path = "graph/token/" + std::to_string(i);
        answer_token(s, path, left, i);
        s.ui.tooltip(
            path, s.ui.over(left),
            token_at(labels, i) + ": " + fine_number(shares[i], 3) + " of " + token_at(labels, token));
        answer_token(s, path + "/top", right, i);
        const InputLine l = input_line(left);
        write(ui, l.position, kCaptionMono, ui.colors->t3, std::to_string(i), Flush::right);
        write(ui, l.word, kBodyMono, ui.colors->t1, labels[i]);
        const bool sink = apart && i == 0;
        ui.bar(l.bar, std::min(1.0f, shares[i] / (sink ? 1 : largest)),
               sink ? ui.colors->t3 : ui.colors->accent);
        write(ui, l.share, kCaptionMono, ui.colors->t2, number(shares[i], 3), Flush::right);
        Chip chip{labels[i], ui.colors->t1};
        if (i == token) chip = token_chip(ui, labels[i], ChipRole::query);
        chip.font = kBodyMono;
        const float wide = std::min(chip_width(ui, chip), right.w);
        draw_chip(ui, band({right.x, right.y, wide, right.h}, std::min(g.tokens.h, kHighestChip)), chip);
    }
    ui.unclip();
}

void draw_levels(Scene& s, const GraphLayout& g, Rect line, const Rollout* rollout) {
    constexpr float kWide = 80;
    Ui& ui = s.ui;
    const float apart = g.nodes.w / float(g.levels - 1);
    const InputLine left = input_line({g.left.x, line.y, g.left.w, line.h});
    if (rollout)
        caption(ui, {left.bar.x, line.y, left.share.right() - left.bar.x, line.h}, origins_name(rollout->by),
                Flush::right);
    const int step = label_step(apart, 44);
    for (int l = 0; l < g.levels; ++l)
        if (l == 0 || l + 1 == g.levels || l % step == 0)
            caption(ui, {g.x(l) - kWide / 2, line.y, kWide, line.h},
                    l == 0          ? "input"
                    : apart > kWide ? "after " + std::to_string(l - 1)
                                    : std::to_string(l - 1),
                    Flush::center);
}

}  // namespace

void draw_graph(Scene& s, Rect area) {
    const auto* graph = s.found<GraphRequest>();
    const Rollout* reached = shown_origins(s);
    Rect rest = area;
    draw_graph_toolbar(s, view_toolbar(s.ui, rest));
    if (!graph || !s.answer->picture || graph->asked.included.stack != graph_stack(s)) return;
    const Rect levels = take_top(rest, kLevelNames),
               foot = inset(take_bottom(rest, kGraphFoot), size::center_pad, 0);
    const int tokens = isize(s.sentence()->labels[graph_stack(s)]);
    const GraphLayout g = arrange(s, rest, tokens, isize(graph->answer.blocks) + 1);
    draw_levels(s, g, {levels.x, levels.y - gap::close, levels.w, levels.h}, reached);
    draw_edges(s, g, *graph, reached);
    draw_sinks(s, g, graph->answer, reached);
    draw_nodes(s, g, reached);
    answer_nodes(s, g, reached);
    draw_tokens(s, g, shares_of(s, reached, tokens));
    if (reached) caption(s.ui, foot, first_that_fits(s.ui, kCaption, origins_notes(s, *reached), foot.w));
}

View graph_view() {
    return {.key = "graph",
            .name = "Flow",
            .answers = ViewGroup::explain,
            .synonyms = "rollout, maximum flow, graph",
            .draw = draw_graph,
            .offered = reads_text,
            .shows = View::Shows::model,
            .ask = ask_graph,
            .beside = {always<draw_graph_list>, always<draw_graph_inspector>},
            .least_high = 160,
            .numbers = graph_numbers,
            .visit = visit_state<GraphState>,
            .seen = seen_of<GraphState>,
            .commands = graph_commands};
}

}  // namespace headlight

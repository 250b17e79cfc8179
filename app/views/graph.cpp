// Tokens as nodes, attention as edges through all layers of a stack; where one token at the top comes from.
#include "views/graph.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "io/json.h"
#include "session/commands.h"
#include "views/parts.h"
#include "views/views.h"

namespace headlight {

void GraphState::visit(FieldVisitor& v) {
    v.number("graph_share", share, 0.01f, 1);
    v.choose_among(share, kShares,
                   {"graph share", "Graph: share of each row", "how much of each row is drawn, in percent",
                    share_words()});
    v.choose("graph_flow", flow,
             {"graph by", "Graph: origins by", "attention rollout, or attention flow", {"rollout", "flow"}});
    v.report("left_out", included.left_out);
}

namespace {

constexpr float kLevelLeast = 20, kLevelMost = 48;

struct GraphLayout {
    Rect area;            // of the nodes
    float pitch, scroll;  // down
    int levels;           // embeddings and layers
    float x(int level) const { return area.x + area.w * float(level) / float(levels - 1); }
    float y(int token) const { return area.y + pitch * (float(token) + 0.5f) - scroll; }
    bool sees(float y) const { return y >= area.y - 1 && y <= area.bottom() + 1; }
};

GraphLayout arrange(Scene& s, Rect area, int tokens, int levels) {
    Ui& ui = s.ui;
    GraphLayout g{};
    g.area = {area.x + 256, area.y + 72, area.w - (256 + 132), area.h - (72 + 44)};
    g.levels = levels;
    g.pitch = std::clamp(g.area.h / float(tokens), kLevelLeast, kLevelMost);
    s.of<GraphState>().scroll = scrolled(ui, {area.x, g.area.y, area.w - 8, g.area.h},
                                         g.pitch * float(tokens), s.of<GraphState>().scroll);
    if (const int token = graph_token(s);
        s.of<GraphState>().followed != token && !s.session.selection.hovered.cell) {
        s.of<GraphState>().followed = token;
        s.of<GraphState>().scroll = scrolled_to(s.of<GraphState>().scroll, g.pitch * float(token),
                                                g.pitch * float(token + 1), g.area.h);
    }
    g.scroll = s.of<GraphState>().scroll;
    return g;
}

void draw_graph_toolbar(Scene& s, float x, float y) {
    Ui& ui = s.ui;
    choose_share(ui, x, y, "Show", "graph/share", s.of<GraphState>().share);
    if (const int c =
            ui.choice(x, y, "Method", "graph/origins", {"rollout", "flow"}, s.of<GraphState>().flow ? 1 : 0);
        c >= 0)
        s.of<GraphState>().flow = c == 1;
}

/// An edge's part of what the token is made of: what reaches its upper end, times its weight in ½ pattern + ½
/// identity.
float carried(const Rollout* rollout, int layer, int query, const Link& link) {
    if (!rollout || layer + 1 >= rollout->reached.rows()) return 0;
    return 0.5f * rollout->reached(layer + 1, query) * link.weight;
}

constexpr float kStrong = 0.004f;  // parts from here on are drawn in amber

/// The weight under which faint edges are left out: the heaviest in sight are drawn.
float faintest_drawn(const Ui& ui, const GraphLayout& g, const Graph& graph) {
    std::vector<float> weights;
    for (const auto& layer : graph.links)
        for (int q = 0; q < isize(layer); ++q)
            for (const Link& link : layer[q])
                if (g.sees(g.y(q)) || g.sees(g.y(link.key))) weights.push_back(link.weight);
    return faintest_of(weights, ui.most_lines);
}

void draw_edges(Scene& s, const GraphLayout& g, const Graph& graph, const Rollout* rollout) {
    Ui& ui = s.ui;
    ui.clip({g.area.x - 8, g.area.y, g.area.w + 16, g.area.h});
    struct Strong {
        ImVec2 from, to;
        float part;
    };
    std::vector<Strong> strong;
    const float faintest = faintest_drawn(ui, g, graph);
    for (int l = 0; l < isize(graph.links); ++l)
        for (int q = 0; q < isize(graph.links[l]); ++q) {
            const float y1 = g.y(q);
            for (const Link& link : graph.links[l][q]) {
                const float y0 = g.y(link.key);
                const bool faint = link.weight < faintest && carried(rollout, l, q, link) <= kStrong;
                if (faint || (!g.sees(y0) && !g.sees(y1))) continue;
                const ImVec2 from{g.x(l), y0}, to{g.x(l + 1), y1};
                const float part = carried(rollout, l, q, link);
                if (part > kStrong)
                    strong.push_back({from, to, part});
                else
                    ui.stroke(from, to, faded(ui.colors->t3, 0.06f + 0.18f * link.weight),
                              std::max(0.6f, 2 * link.weight));
            }
        }
    for (const Strong& e : strong)
        ui.stroke(e.from, e.to, faded(ui.colors->accent, 0.25f + 0.75f * std::min(1.0f, e.part * 4)),
                  std::max(0.8f, 14 * e.part));
    if (rollout)  // what stays: the residual stream
        for (int l = 0; l + 1 < g.levels; ++l)
            for (int i = 0; i < rollout->reached.cols(); ++i) {
                const float stays = 0.5f * rollout->reached(l + 1, i), y = g.y(i);
                if (stays > 0.004f && g.sees(y))
                    ui.stroke({g.x(l), y}, {g.x(l + 1), y},
                              faded(ui.colors->t2, 0.25f + 0.75f * std::min(1.0f, stays * 4)),
                              std::max(0.8f, 14 * stays));
            }
    ui.unclip();
}

void draw_nodes(Scene& s, const GraphLayout& g, int tokens, const Rollout* rollout) {
    Ui& ui = s.ui;
    ui.clip({g.area.x - 12, g.area.y, g.area.w + 24, g.area.h});
    for (int l = 0; l < g.levels; ++l)
        for (int i = 0; i < tokens; ++i) {
            const float y = g.y(i),
                        mass = rollout && i < rollout->reached.cols() && l < rollout->reached.rows()
                                   ? rollout->reached(l, i)
                                   : 0;
            if (!g.sees(y)) continue;
            const float radius = std::min(
                {2 + 12 * std::sqrt(mass), g.pitch * 0.48f, std::max(2.0f, (g.x(1) - g.x(0)) * 0.42f)});
            if (mass > kStrong)
                ui.disc({g.x(l), y}, radius, ui.colors->accent);
            else
                ui.fill({g.x(l) - 2, y - 2, 4, 4}, ui.colors->l2);  // hundreds of them
        }
    ui.unclip();
}

void draw_tokens(Scene& s, const GraphLayout& g, Rect area, const Found<RolloutWanted>* rollout) {
    Ui& ui = s.ui;
    const auto& labels = s.sentence()->labels[graph_stack(s)];
    const int token = graph_token(s);
    const bool flow = s.of<GraphState>().flow && rollout && !rollout->answer.flow.empty();
    float largest = 1e-6f;
    const auto share = [&](int i) {
        return !rollout || i >= rollout->answer.reached.cols() ? 0.0f
               : flow                                          ? rollout->answer.flow[i]
                                                               : rollout->answer.reached(0, i);
    };
    for (int i = 0; i < isize(labels); ++i) largest = std::max(largest, share(i));
    ui.clip({area.x, g.area.y, area.w, g.area.h});
    for (int i = 0; i < isize(labels); ++i) {
        const float y = g.y(i);
        if (!g.sees(y)) continue;
        const std::string path = "graph/token/" + std::to_string(i);
        const bool on = i == token;
        const Rect right{g.area.right() + 20, y - g.pitch / 2, 110, g.pitch},
            left{area.x + 16, y - g.pitch / 2, 226, g.pitch};
        for (const auto& [side, r] : {std::pair{path, left}, std::pair{path + "/top", right}}) {
            const Hit h = ui.hit(side, r);
            if (!h.hovered || s.model()->config.block(s.block()).stack != graph_stack(s)) continue;
            s.point_at(std::pair{i, s.heaviest_key(i)});
            if (h.clicked) lock_token(s, i);
        }
        const ImU32 ink = on ? ui.colors->accent_text : ui.colors->t1;
        ui.text.draw_right(area.x + 42, y, kCaptionMono, ui.colors->t3, std::to_string(i));
        ui.text.draw(area.x + 50, y, kBodyMono, ui.colors->t1, ui.text.fitted(kBodyMono, labels[i], 76));
        ui.bar({area.x + 132, y - 4, 44, 8}, share(i) / largest, ui.colors->accent);
        ui.text.draw_right(area.x + 224, y, kCaptionMono, ui.colors->t2, number(share(i), 3));
        if (on) {
            const Rect box{right.x - 4, y - std::min(g.pitch, 26.0f) / 2,
                           ui.text.width(kBodyMono, ui.text.fitted(kBodyMono, labels[i], 84)) + 16,
                           std::min(g.pitch, 26.0f)};
            ui.fill(box, ui.colors->accent_fill, size::corner);
            ui.frame(box, ui.colors->accent, 1, size::corner);
        }
        ui.text.draw(right.x + 4, y, kBodyMono, ink, ui.text.fitted(kBodyMono, labels[i], 84));
    }
    ui.unclip();
}

void draw_levels(Scene& s, const GraphLayout& g, Rect area, bool flow) {
    Ui& ui = s.ui;
    const float y = g.area.y - 18, apart = g.area.w / float(g.levels - 1);
    ui.text.draw_right(area.x + 216, y, kCaption, ui.colors->t3, flow ? "flow" : "rollout");
    const int step = label_step(apart, 44);
    for (int l = 0; l < g.levels; ++l)
        if (l == 0 || l + 1 == g.levels || l % step == 0)
            ui.text.draw_centered(g.x(l), y, kCaption, ui.colors->t3,
                                  l == 0       ? "input"
                                  : apart > 80 ? "after " + std::to_string(l - 1)
                                               : std::to_string(l - 1));
}

}  // namespace

std::vector<Question> ask_graph(const Scene& s) {
    IncludedHeads included = s.of<GraphState>().included;
    included.stack = graph_stack(s);
    return {GraphWanted{included, s.of<GraphState>().share},
            RolloutWanted{included, graph_token(s), s.of<GraphState>().flow}};
}

void draw_graph(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* graph = s.found<GraphWanted>();
    const auto* rollout = s.found<RolloutWanted>();
    draw_graph_toolbar(s, area.x + 24, area.y + 24);
    if (!graph || !s.answer->picture || graph->asked.included.stack != graph_stack(s)) return;
    if (rollout && rollout->asked.included.stack != graph_stack(s)) rollout = nullptr;
    const int tokens = isize(s.sentence()->labels[graph_stack(s)]), levels = isize(graph->answer.blocks) + 1;
    const GraphLayout g = arrange(s, area, tokens, levels);
    const bool too_long = s.of<GraphState>().flow && rollout && rollout->answer.flow.empty();
    draw_levels(s, g, area, s.of<GraphState>().flow && !too_long);
    draw_edges(s, g, graph->answer, rollout ? &rollout->answer : nullptr);
    draw_nodes(s, g, tokens, rollout ? &rollout->answer : nullptr);
    draw_tokens(s, g, area, rollout);
    const std::string token = token_at(s.sentence()->labels[graph_stack(s)], graph_token(s));
    const std::string note = too_long ? "Flow is computed for at most " + std::to_string(kMaxFlowTokens) +
                                            " tokens; this is the rollout."
                                      : "Origins of " + token +
                                            ": each layer counts as half attention, half residual stream "
                                            "(Abnar and Zuidema 2020).";
    ui.text.draw(area.x + 24, area.bottom() - 20, kCaption, ui.colors->t3,
                 ui.text.fitted(kCaption, note, area.w - 48));
}

namespace {

/// "2.0,1.3": these alone carry attention; "all".
Status include_heads(CommandContext& c, const std::string& words) {
    const ModelConfig& config = c.model()->config;
    std::set<std::pair<int, int>> left_out;
    if (words != "all") {
        TRY(const auto included, heads_named(c, words));
        for (int i = 0; i < config.head_count(); ++i)
            left_out.insert({config.head_at(i).block, config.head_at(i).head});
        for (const AttentionHead head : included) left_out.erase({head.block, head.head});
    }
    c.session.of<GraphState>().included.left_out = std::move(left_out);
    return success();
}

std::vector<Command> graph_commands() {
    return {opens_view("graph", row({"graph heads all|LAYER.HEAD,LAYER.HEAD", "Graph: heads included",
                                     "the heads that carry attention on: graph heads 2.0,1.3"},
                                    include_heads))};
}

}  // namespace

View graph_view() {
    return {.key = "graph",
            .name = "Graph",
            .digit = '6',
            .draw = draw_graph,
            .offered = reads_text,
            .shows = View::Shows::model,
            .ask = ask_graph,
            .beside = {draw_graph_list, draw_graph_inspector},
            .numbers = graph_numbers,
            .visit = visit_state<GraphState>,
            .commands = graph_commands};
}

}  // namespace headlight

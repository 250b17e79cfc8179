// Draws the graph's side panels: the heads included, and the shares of input tokens.
#include <algorithm>

#include "base/cast.h"
#include "parts/controls.h"
#include "parts/side_panel.h"
#include "session/commands/commands.h"
#include "views/graph/graph.h"
#include "views/tables.h"
#include "views/views.h"

namespace headlight {

int graph_stack(const Scene& s) { return s.model()->config.block(s.session.selection.block).stack; }

int graph_token(const Scene& s) {
    const int n = isize(s.sentence()->labels[graph_stack(s)]);
    const auto cell = s.shown_cell();
    const bool queries = s.model()->config.block(s.block()).stack == graph_stack(s);
    return cell && queries ? std::min(cell->first, n - 1) : n - 1;
}

namespace {

/// "Heads included     All   Only 2.0"
void choose_included(Scene& s, Rect line) {
    constexpr float kOnly = 100;
    const ModelConfig& c = s.model()->config;
    const auto& selection = s.session.selection;
    auto& out = s.of<GraphState>().included.left_out;
    caption(s.ui, line, "Heads included");
    if (s.ui.link("graph/all", line.right() - kOnly, line.middle_y(), "All")) out.clear();
    if (!s.ui.link("graph/selected", line.right(), line.middle_y(),
                   "Only " + head_name(c, selection.block, selection.head)))
        return;
    for (const int block : self_blocks(c, graph_stack(s)))
        for (int h = 0; h < c.heads(block); ++h) out.insert({block, h});
    out.erase({selection.block, selection.head});
}

void draw_included_head(Scene& s, Rect r, int block, int head) {
    Ui& ui = s.ui;
    auto& out = s.of<GraphState>().included.left_out;
    const bool on = !out.count({block, head});
    const Hit hit = ui.control("graph/head/" + head_name(s.model()->config, block, head), r);
    draw_chip(ui, r,
              {std::to_string(head), on ? ui.colors->t1 : ui.colors->t3, on ? ui.colors->bg4 : ui.colors->bg1,
               hit.hovered ? ui.colors->hover
               : on        ? ui.colors->l2
                           : ui.colors->l1});
    if (hit.hovered) s.pointed.head = std::pair{block, head};
    if (hit.clicked && !out.insert({block, head}).second) out.erase({block, head});
}

}  // namespace

void draw_graph_list(Scene& s, Rect area) {
    constexpr float kHead = 26, kLeastHead = 21, kNumber = 30, kLine = 30, kChip = 24, kApart = 3, kNote = 46,
                    kTop = 12;
    Ui& ui = s.ui;
    const auto blocks = self_blocks(s.model()->config, graph_stack(s));
    const int heads = s.model()->config.stacks[graph_stack(s)].max_heads();
    Rect rest = area;
    take_top(rest, 0, kTop);
    choose_included(s, take_top(rest, size::line, 10));
    caption_lines(ui, take_bottom(rest, kNote, gap::close),
                  "Click toggles a head. A layer without heads passes its input through.");
    const int max = std::max(1, int((rest.w - kNumber) / kLeastHead)), lines = (heads + max - 1) / max,
              across = (heads + lines - 1) / lines;
    const float wide = std::min(kHead, (rest.w - kNumber) / float(across));
    const Rect rows = inset(rest, -gap::tight, 0);
    float& scroll = s.of<GraphState>().list_scroll;
    scroll = scrolled(ui, {rows.x, rows.y, rows.w + gap::tight, rows.h},
                      kLine * float(lines) * float(blocks.size()), scroll);
    Grid g{rest, lines * isize(blocks), across, wide, kLine, -kNumber, scroll};
    ui.clip(rows);
    for (int l = 0; l < isize(blocks); ++l)
        for (int h = 0; h < s.model()->config.heads(blocks[l]); ++h) {
            const int row = lines * l + h / across;
            if (!g.touches_row(row)) continue;
            if (h == 0) write(ui, g.row(row), kCaptionMono, ui.colors->t3, std::to_string(l));
            Rect r = band(g.cell(row, h % across), kChip);
            r.w -= kApart;
            draw_included_head(s, r, blocks[l], h);
        }
    ui.unclip();
}

namespace {

std::string capital_first(std::string word) {
    word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
}

const char* definition_of(const Rollout& r) {
    switch (r.by) {
        case Origins::contribution:
            return "Contributions: norms of the vectors that attention moves between tokens, against the "
                   "residual, through all layers; MLPs are skipped. Shares sum to 1.";
        case Origins::relevance:
            return "Relevance: patterns times the metric’s gradients at this token, positive parts only, "
                   "through all layers. Shares sum to 1.";
        case Origins::flow:
            if (!r.flow.empty())
                return "Attention flow: the maximum flow from an input token to this one, with weights as "
                       "capacities.";
            break;
        default:
            break;
    }
    return "Attention rollout: the product over layers of ½ mean pattern + ½ identity (the residual stream). "
           "Shares sum to 1.";
}

/// Says that a decoder also reads a source, which these shares leave out; "" elsewhere.
std::string source_note(const Scene& s) {
    return graph_stack(s) > 0 && s.model()->config.stacks[graph_stack(s)].cross()
               ? " Only the target: what cross-attention brings from the source is not in it."
           : s.model()->config.stacks[graph_stack(s)].beside()
               ? " Only attention: what the state spaces beside it bring is not in it."
               : "";
}

/// Opens the same measure for all tokens, as a map in Influence.
void link_to_map(Scene& s, SidePanel& panel, Origins by) {
    const Rect line = panel.line(size::row);
    panel.skip(size::row);
    if (!s.ui.link("graph/map", line.right(), line.middle_y(), "Map of all tokens")) return;
    if (by == Origins::relevance) {
        s.send("influence of", "relevance");
    } else {
        s.send("influence of", "hidden");
        s.send("influence beside", by == Origins::contribution ? "contribution" : "rollout");
    }
}

void list_shares(SidePanel& panel, const std::vector<std::string>& labels, const std::vector<float>& all) {
    const Vector shares = Eigen::Map<const Vector>(all.data(), isize(all));
    const auto order =
        ranked_ids(shares, int(std::max(1.0f, (panel.end() - panel.y - 116 - size::row) / 26)));
    for (const int i : order)
        panel.bar({std::to_string(i), labels[i], shares[i] / std::max(shares[order[0]], 1e-9f),
                   number(shares[i], 3)});
}

/// Lists the weight that the traced token's heads leave to their sinks, layer by layer.
void list_sinks(SidePanel& panel, const Graph& graph, int token) {
    if (!panel.fold("sinks", "Left to sinks, by layer")) return;
    for (size_t layer = 0; layer < graph.sinks.size(); ++layer)
        if (const Vector& of_layer = graph.sinks[layer]; token < of_layer.size())
            panel.bar({std::to_string(layer), "sink", of_layer[token], number(of_layer[token], 3)});
}

/// Tabulates the mean weight that the heads of each layer leave to their sinks.
std::vector<NumberTable> sink_numbers(const Scene& s, const std::vector<std::string>& tokens) {
    const auto* graph = s.found<GraphRequest>();
    if (!graph || !has_sinks(graph->answer)) return {};
    const auto& sinks = graph->answer.sinks;
    NumberTable out{.name = "left to sinks",
                    .rows_are = "layer",
                    .columns_are = "token",
                    .rows = counted(isize(sinks)),
                    .columns = tokens,
                    .values = Matrix(isize(sinks), isize(tokens)),
                    .beside = true};
    for (int layer = 0; layer < isize(sinks); ++layer) out.values.row(layer) = sinks[layer].transpose();
    return {std::move(out)};
}

}  // namespace

void draw_graph_inspector(Scene& s, Rect area) {
    const auto* found = s.found<RolloutRequest>();
    if (!found || found->asked.included.stack != graph_stack(s)) return;
    const auto& labels = s.sentence()->labels[graph_stack(s)];
    draw_inspector_title(s, area, token_at(labels, std::min(found->asked.token, isize(labels) - 1)),
                         "comes from");
    SidePanel panel(s, area);
    panel.values = 60;
    const Rollout& r = found->answer;
    std::vector<float> all = r.shares();
    if (s.of<GraphState>().sink_apart && all.size() > 1) {
        panel.pair("first token, apart", number(all[0], 3));
        all = Rollout::without_sink(std::move(all));
        all[0] = 0;
    }
    if (panel.fold("shares", r.by == Origins::flow && !r.flow.empty()
                                 ? "Maximum flow, as a share"
                                 : capital_first(origins_name(r.by)) + " of the input"))
        list_shares(panel, labels, all);
    if (const auto* graph = s.found<GraphRequest>(); graph && has_sinks(graph->answer))
        list_sinks(panel, graph->answer, found->asked.token);
    panel.rule();
    if (r.by != Origins::relevance || s.model()->has_logits()) link_to_map(s, panel, r.by);
    panel.note(definition_of(r) + source_note(s));
    panel.finish();
}
std::vector<NumberTable> graph_numbers(const Scene& s) {
    const auto* found = s.found<RolloutRequest>();
    if (!found) return {};
    const auto& tokens = s.sentence()->labels[found->asked.included.stack];
    std::vector<std::string> depths{"embeddings"};
    for (Index layer = 0; layer + 1 < found->answer.accumulated.rows(); ++layer)
        depths.push_back("layer " + std::to_string(layer));
    const Origins by = found->answer.by == Origins::flow ? Origins::rollout : found->answer.by;
    std::vector<NumberTable> out{
        {std::string(origins_name(by)) + " from token " + std::to_string(found->asked.token), "depth",
         "token", depths, tokens, found->answer.accumulated}};
    if (!found->answer.flow.empty())
        out.push_back({"flow to token " + std::to_string(found->asked.token),
                       "",
                       "token",
                       {"flow"},
                       tokens,
                       matrix_of_columns({found->answer.flow}).transpose()});
    for (NumberTable& table : sink_numbers(s, tokens)) out.push_back(std::move(table));
    return out;
}

namespace {

/// Parses "2.0,1.3" or "all".
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

}  // namespace

std::vector<Command> graph_commands() {
    return {opens_view("graph", row({"graph heads all|LAYER.HEAD,LAYER.HEAD", "Graph: heads included",
                                     "heads to include: graph heads 2.0,1.3"},
                                    include_heads))};
}

}  // namespace headlight

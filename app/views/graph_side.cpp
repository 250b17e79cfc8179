// Beside the graph: the heads that carry, what the token is made of, and the numbers.
#include <algorithm>

#include "base/cast.h"
#include "views/graph.h"
#include "views/numbers.h"
#include "views/parts.h"
#include "views/side_panel.h"

namespace headlight {

int graph_stack(const Scene& s) { return s.model()->config.block(s.session.selection.block).stack; }

/// The token at the top that is followed down: the focused one of the graph's stack.
int graph_token(const Scene& s) {
    const int n = isize(s.sentence()->labels[graph_stack(s)]);
    const auto cell = s.shown_cell();
    const bool queries = s.model()->config.block(s.block()).stack == graph_stack(s);
    return cell && queries ? std::min(cell->first, n - 1) : n - 1;
}

void draw_graph_list(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const ModelConfig& c = s.model()->config;
    const auto blocks = self_blocks(c, graph_stack(s));
    const int heads = c.stacks[graph_stack(s)].heads;
    auto& out = s.of<GraphState>().included.left_out;
    ui.text.draw(area.x, area.y + 22, kCaption, ui.colors->t3, "Heads included");
    if (ui.link("graph/all", area.right() - 100, area.y + 22, "All")) out.clear();
    if (ui.link("graph/selected", area.right(), area.y + 22,
                "Only " + head_name(c, s.session.selection.block, s.session.selection.head))) {
        for (const int block : blocks)
            for (int h = 0; h < c.heads(block); ++h) out.insert({block, h});
        out.erase({s.session.selection.block, s.session.selection.head});
    }
    const float w = 26, names = 30, pitch = 30;
    const int across = std::max(1, int((area.w - names) / w)), lines = (heads + across - 1) / across;
    const Rect rows{area.x - 4, area.y + 42, area.w + 12, area.h - (42 + 52)};
    s.of<GraphState>().list_scroll =
        scrolled(ui, rows, pitch * float(lines) * float(blocks.size()), s.of<GraphState>().list_scroll);
    ui.clip(rows);
    for (int l = 0; l < isize(blocks); ++l)
        for (int h = 0; h < heads; ++h) {
            const int line = lines * l + h / across;
            const float y = rows.y + pitch * (float(line) + 0.5f) - s.of<GraphState>().list_scroll;
            if (y + pitch < rows.y || y - pitch > rows.bottom()) continue;
            if (h == 0) ui.text.draw(area.x, y, kCaptionMono, ui.colors->t3, std::to_string(l));
            const Rect r{area.x + names + w * float(h % across), y - 12, w - 3, 24};
            const std::pair<int, int> head{blocks[l], h};
            const bool on = !out.count(head);
            const std::string path = "graph/head/" + head_name(c, blocks[l], h);
            const Hit hit = ui.control(path, r);
            ui.fill(r, on ? ui.colors->bg4 : ui.colors->bg1, size::corner);
            ui.frame(r, hit.hovered ? ui.colors->hover : on ? ui.colors->l2 : ui.colors->l1, 1, size::corner);
            ui.text.draw_centered(r.middle_x(), y, kCaptionMono, on ? ui.colors->t1 : ui.colors->t3,
                                  std::to_string(h));
            if (hit.hovered) s.pointed.head = head;
            if (hit.clicked && !out.insert(head).second) out.erase(head);
        }
    ui.unclip();
    ui.text.draw_wrapped(area.x, area.bottom() - 46, area.w, kCaption, ui.colors->t3,
                         "Click toggles a head. A layer without heads passes on its input unchanged.");
}

void draw_graph_inspector(Scene& s, Rect area) {
    const auto* found = s.found<RolloutWanted>();
    if (!found || found->asked.included.stack != graph_stack(s)) return;
    const auto& labels = s.sentence()->labels[graph_stack(s)];
    const bool flow = !found->answer.flow.empty() && s.of<GraphState>().flow;
    draw_inspector_title(s, area, token_at(labels, std::min(found->asked.token, isize(labels) - 1)),
                         "comes from");
    SidePanel panel(s, area);
    panel.values = 60;
    panel.heading(flow ? "Largest flow, as a share" : "Rollout onto the input");
    Vector shares = found->answer.reached.row(0).transpose();
    if (flow) shares = Eigen::Map<const Vector>(found->answer.flow.data(), shares.size());
    const auto order = ranked_ids(shares, int(std::max(1.0f, (panel.end() - panel.y - 116) / 26)));
    for (const int i : order)
        panel.bar({std::to_string(i), labels[i], shares[i] / std::max(shares[order[0]], 1e-9f),
                   number(shares[i], 3)});
    panel.rule();
    panel.note(flow ? "Attention flow: the most that can run from an input token to this one when each edge "
                      "carries at most its weight."
                    : "Attention rollout: the layers’ mean patterns, each mixed half and half with the "
                      "residual stream, multiplied. The shares sum to 1.");
    panel.finish();
}

std::vector<NumberTable> graph_numbers(const Scene& s) {
    const auto* found = s.found<RolloutWanted>();
    if (!found) return {};
    const auto& tokens = s.sentence()->labels[found->asked.included.stack];
    std::vector<std::string> depths{"embeddings"};
    for (Index layer = 0; layer + 1 < found->answer.reached.rows(); ++layer)
        depths.push_back("layer " + std::to_string(layer));
    std::vector<NumberTable> out{{"rollout from token " + std::to_string(found->asked.token), "depth",
                                  "token", depths, tokens, found->answer.reached}};
    if (!found->answer.flow.empty())
        out.push_back({"flow to token " + std::to_string(found->asked.token),
                       "",
                       "token",
                       {"flow"},
                       tokens,
                       matrix_of_columns({found->answer.flow}).transpose()});
    return out;
}

}  // namespace headlight

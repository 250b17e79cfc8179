// Ranks heads by ‖ΔE‖ at the token, and lists the numbers of one layer.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "parts/metric.h"
#include "parts/side_panel.h"
#include "views/delta/delta.h"
#include "views/tables.h"

namespace headlight {

void draw_delta_list(Scene& s, Rect area) {
    const auto* found = s.found<DeltaSplitRequest>();
    if (!found) return;
    const ModelConfig& c = s.model()->config;
    const auto& values = found->answer.norm_by_head;
    const Rect rest = list_heading(s.ui, area,
                                   "‖ΔE‖ per head at “" +
                                       s.sentence()->query_labels(found->asked.block)[found->asked.query] +
                                       "” " + std::to_string(found->asked.query));
    RankedHeads heads{"delta/head/", order_by(values, false), values,
                      std::pair{s.session.selection.block, s.session.selection.head}};
    heads.order.erase(std::remove_if(heads.order.begin(), heads.order.end(),
                                     [&](size_t i) { return std::isnan(values[i]); }),
                      heads.order.end());
    if (const auto pressed = draw_ranked(s, rest, c, heads)) s.select(pressed->first, pressed->second);
}

namespace {

/// Lists the logit lens after each layer.
void draw_next_by_layer(Scene& s, SidePanel& c, const DeltaSplit& split, int layer) {
    if (!c.fold("next token", "Next token after each layer", "p")) return;
    const int count = isize(split.after_layer),
              first = count > 9 ? std::min(count - 8, std::max(0, layer - 2) + 1) : 1;
    for (int i = first; i < std::min(count, first + 8); ++i)
        c.bar({std::to_string(i - 1), listed_label(*s.model(), split.after_layer[i].id),
               split.after_layer[i].probability, number(split.after_layer[i].probability, 3),
               int(i) == layer + 1});
}

constexpr float kAdds = 50;  // width of a head's contribution

void draw_promoted_by_head(Scene& s, SidePanel& c, const Found<DeltaSplitRequest>& found) {
    constexpr float kWidestNamed = 60;
    const DeltaSplit& split = found.answer;
    const std::string of = explained_text(*s.model(), split.token, split.against);
    if (!c.fold("promoted", "Promoted by each head", "Δ logit " + of)) return;
    const float named = c.ui.text.width(kCaptionMono, of);  // the number is of this token, not of the chips
    for (size_t h = 0; h < found.answer.promoted_by_head.size(); ++h, c.skip(34)) {
        std::vector<std::string> tokens;
        for (const int id : found.answer.promoted_by_head[h]) tokens.push_back(listed_label(*s.model(), id));
        const std::string name = head_name(s.model()->config, found.asked.block, int(h));
        const float room = std::max(44.0f, c.ui.text.width(kBodyMono, name) + gap::medium);
        Rect line = c.line();
        write(c.ui, take_left(line, room), kBodyMono, c.ui.colors->t2, name);
        const float adds = found.answer.explained_by_head[h];
        write(c.ui, take_right(line, kAdds, gap::tight), kCaptionMono, c.ui.colors->t2,
              effect_text(MetricKind::logit, adds), Flush::right);
        if (named <= kWidestNamed)
            write(c.ui, take_right(line, named, gap::small), kCaptionMono, c.ui.colors->t3, of);
        draw_token_row(c.ui, line, tokens, c.ui.colors->plus);
    }
}

}  // namespace

void draw_delta_inspector(Scene& s, Rect area) {
    const auto* maps = s.found<DeltaMapsRequest>();
    const auto* found = s.found<DeltaSplitRequest>();
    if (!maps || !found || !s.shown_cell()) return;
    const ModelConfig& c = s.model()->config;
    const int block = delta_block(s),
              token = std::min<int>(delta_query(s), narrow<int>(maps->answer.delta.rows()) - 1);
    const auto place = std::find(maps->answer.blocks.begin(), maps->answer.blocks.end(), block);
    if (place == maps->answer.blocks.end()) return;
    draw_inspector_title(s, area, token_at(s.sentence()->labels[maps->asked.stack], token),
                         "layer " + block_name(c, block));
    const auto at = static_cast<Index>(place - maps->answer.blocks.begin());
    const float before = maps->answer.before(token, at), delta = maps->answer.delta(token, at);
    const DeltaShow show = s.of<DeltaState>().show;
    SidePanel panel(s, area);
    if (panel.fold("Update")) {
        panel.pair("‖E‖ before", number(before, 2));
        panel.pair("‖ΔE‖", number(delta, 2), show == DeltaShow::norm);
        panel.pair("‖ΔE‖ ÷ ‖E‖", number(delta / std::max(before, 1e-12f), 3), show == DeltaShow::ratio);
        panel.pair("cosine E, E + ΔE", number(maps->answer.cosine(token, at), 3), show == DeltaShow::cosine);
    }
    if (!found->answer.after_layer.empty()) draw_next_by_layer(s, panel, found->answer, c.block(block).layer);
    if (!found->answer.promoted_by_head.empty()) draw_promoted_by_head(s, panel, *found);
    panel.finish();
}

namespace {

/// Adds the logits of promoted and suppressed tokens, and each head's contribution.
void add_split_logits(const Scene& s, const Found<DeltaSplitRequest>& found, const std::string& at,
                      std::vector<NumberTable>& out) {
    const DeltaSplit& split = found.answer;
    const ModelConfig& c = s.model()->config;
    std::vector<std::string> tokens, heads;
    std::vector<float> logits;
    for (const auto* moved : {&split.promoted, &split.suppressed})
        for (const TokenShift& shift : *moved) {
            tokens.push_back(listed_label(*s.model(), shift.id));
            logits.push_back(shift.logit);
        }
    if (!tokens.empty())
        out.push_back({"tokens promoted and suppressed" + at,
                       "token",
                       "",
                       tokens,
                       {"logit"},
                       matrix_of_columns({logits})});
    if (split.explained_by_head.empty()) return;
    for (int h = 0; h < isize(split.explained_by_head); ++h)
        heads.push_back(head_name(c, found.asked.block, h));
    out.push_back(
        {"contribution to the logit of " + explained_text(*s.model(), split.token, split.against) + at,
         "head",
         "",
         std::move(heads),
         {"logit"},
         matrix_of_columns({split.explained_by_head})});
}

/// Adds the parts of one ΔE, and its logits.
void add_split(const Scene& s, const Found<DeltaSplitRequest>& found, std::vector<NumberTable>& out) {
    const DeltaSplit& split = found.answer;
    const ModelConfig& c = s.model()->config;
    const std::string at = " of " +
                           token_at(s.sentence()->query_labels(found.asked.block), found.asked.query) +
                           " in layer " + block_name(c, found.asked.block);
    const auto add_parts = [&](const char* name, const char* rows_are, std::vector<std::string> rows,
                               const std::vector<DeltaPart>& parts) {
        Matrix values(parts.size(), 2);
        for (int i = 0; i < isize(parts); ++i) values.row(i) << parts[i].norm, parts[i].along;
        out.push_back({name + at, rows_are, "length", std::move(rows), {"norm", "along delta"}, values});
    };
    std::vector<std::string> heads;
    for (int h = 0; h < isize(split.heads); ++h)
        heads.push_back(h < c.heads(found.asked.block) ? head_name(c, found.asked.block, h)
                        : split.given                  ? "patched"
                                                       : "bias");
    add_parts("delta by head", "head", std::move(heads), split.heads);
    add_parts("delta by key", "key", s.sentence()->key_labels(found.asked.block), split.keys);
    add_split_logits(s, found, at, out);
}

/// Adds the coordinates in the plane; NaN for omitted tokens.
void add_plane(const Scene& s, const Found<ProjectionRequest>& found, std::vector<NumberTable>& out) {
    const Projection& p = found.answer;
    const auto& tokens = s.sentence()->labels[found.asked.stack];
    std::vector<std::string> columns;
    Matrix values =
        Matrix::Constant(tokens.size(), 2 * p.steps.size(), std::numeric_limits<float>::quiet_NaN());
    for (int step = 0; step < isize(p.steps); ++step) {
        for (const char* axis : {"x ", "y "}) columns.push_back(axis + std::to_string(step));
        for (int i = 0; i < isize(p.tokens); ++i)
            values.block(p.tokens[i], 2 * step, 1, 2) = p.steps[step].row(i);
    }
    out.push_back({"plane", "token", "step", tokens, std::move(columns), std::move(values)});
}

}  // namespace

std::vector<NumberTable> delta_numbers(const Scene& s) {
    const auto* found = s.found<DeltaMapsRequest>();
    if (!found) return {};
    const DeltaMaps& m = found->answer;
    std::vector<std::string> names;
    for (const int block : m.blocks) names.push_back(block_name(s.model()->config, block));
    const auto& tokens = s.sentence()->labels[found->asked.stack];
    std::vector<NumberTable> out{{"norm before", "token", "block", tokens, names, m.before},
                                 {"norm of delta", "token", "block", tokens, names, m.delta},
                                 {"cosine", "token", "block", tokens, names, m.cosine}};
    const size_t maps = out.size();
    if (const auto* split = s.found<DeltaSplitRequest>()) add_split(s, *split, out);
    if (const auto* plane = s.found<ProjectionRequest>()) add_plane(s, *plane, out);
    for (size_t i = maps; i < out.size(); ++i) out[i].beside = true;
    return out;
}

}  // namespace headlight

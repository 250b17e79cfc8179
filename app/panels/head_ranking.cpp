// Ranks heads by a statistic, the locked cell, or the effects of interventions and ablations.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "panels/head_list.h"
#include "parts/head_tags.h"
#include "parts/interventions.h"
#include "parts/metric.h"
#include "parts/result.h"
#include "session/commands/commands.h"
#include "views/views.h"

namespace headlight {

namespace {

/// An entry of the ranking list.
struct RankChoice {
    int rank;
    std::string label;
};

/// The weights of the locked cell, which stay while another one or another head is hovered; null: none.
const Found<CellWeightsRequest>* cell_weights(const Scene& s) {
    return s.session.selection.locked ? s.found<CellWeightsRequest>() : nullptr;
}

/// "red 16 → ball 4".
std::string ranked_cell(const Scene& s, const CellWeightsRequest& cell) {
    const auto label = [&](const std::vector<std::string>& labels, int i) {
        return s.ui.text.fitted(kCaption, labels[i], 56) + " " + std::to_string(i);
    };
    return label(s.sentence()->query_labels(cell.block), cell.query) + " → " +
           label(s.sentence()->key_labels(cell.block), cell.key);
}

/// `room`: for the longest label.
std::vector<RankChoice> rank_choices(const Scene& s, float room = 1e9f) {
    std::vector<RankChoice> out;
    if (const auto* cell = cell_weights(s)) {
        const std::string named = ranked_cell(s, cell->asked);
        out.push_back({kRankByCell, first_that_fits(s.ui, kCaption, {"Weight of " + named, named}, room)});
    }
    for (int i = 0; i < kStatistics; ++i) out.push_back({i, head_statistics()[i].label});
    if (s.sentence()->unchanged) out.push_back({kRankByMoved, moved_title(s)});
    if (!s.sentence()->predictions.empty()) out.push_back({kRankBySweep, "effect on " + metric_text(s)});
    return out;
}

/// The active ranking: the chosen one if available, else the first statistic.
int rank_of(const Scene& s) {
    const int chosen = s.session.preferences.rank;
    const auto choices = rank_choices(s);
    const bool offered =
        std::any_of(choices.begin(), choices.end(), [&](const RankChoice& c) { return c.rank == chosen; });
    return offered ? chosen : 0;
}

std::vector<float> rank_values(const Scene& s, int rank) {
    std::vector<float> out;
    if (rank == kRankByCell) return cell_weights(s)->answer;
    if (rank == kRankByMoved) return moved_heads(s) ? moved_heads(s)->distances.values() : out;
    if (rank == kRankBySweep) {
        const auto effects = sweep_effects(s);
        return effects ? effects->change : out;
    }
    for (const auto& h : s.sentence()->heads) out.push_back(h.statistics[rank]);
    return out;
}

constexpr float kRankTitle = 52;

void draw_rank_choice(Scene& s, Rect line) {
    constexpr float kSigns = 40;  // of the drop-down, beside its label
    Ui& ui = s.ui;
    const Rect title = take_left(line, kRankTitle);
    const auto choices = rank_choices(s, line.w - kSigns);
    std::vector<std::string> items;
    int current = 0;
    for (int i = 0; i < isize(choices); ++i) {
        items.push_back(choices[i].label);
        if (choices[i].rank == rank_of(s)) current = i;
    }
    caption(ui, title, "Sort by");
    float width = 0;
    if (const int chosen = ui.drop_down("rank", line.x, line.middle_y(), items, current, width, line.w);
        chosen >= 0) {
        const int wanted = choices[chosen].rank;
        s.send("rank", rank_word(wanted));
        if (wanted == kRankBySweep) s.send("sweep", "on");
    }
    const int rank = rank_of(s);
    const std::string help = rank >= 0              ? head_statistics()[rank].definition
                             : rank == kRankByMoved ? moved_help(s)
                             : rank == kRankBySweep ? "Change in the metric when the head is ablated (z = 0)."
                                                    : "Weight of the locked cell in each head.";
    ui.tooltip("rank/help", ui.hit("rank/help", title), help);
}

enum class Among { all, cross_attention };

/// The heads in ranked order, restricted to those that the ranking covers.
std::vector<int> ordered(const ModelConfig& c, const std::vector<float>& strength, bool ascending,
                         Among among) {
    std::vector<int> order = order_by(strength, ascending);
    const auto other = [&](int i) { return c.block(c.head_at(i).block).kind != AttentionKind::cross; };
    if (among == Among::cross_attention)
        order.erase(std::remove_if(order.begin(), order.end(), other), order.end());
    return order;
}

/// No head gives the cell any weight.
bool is_masked_everywhere(const std::vector<float>& weights) {
    return std::all_of(weights.begin(), weights.end(), [](float w) { return std::isnan(w) || w == 0; });
}

void draw_ranked_heads(Scene& s, Rect area, Among among) {
    const int rank = rank_of(s);
    if (rank == kRankBySweep) {
        Rect line = take_top(area, size::row, gap::small);
        caption(s.ui, take_left(line, kRankTitle), "Metric");
        draw_metric_chip(s, "rank", line);
        draw_sweep_state(s, area);
    }
    RankedHeads heads{"ranked/",
                      {},
                      rank_values(s, rank),
                      std::pair{s.session.selection.block, s.session.selection.head},
                      true,
                      rank == kRankBySweep || (rank == kRankByCell && s.is_mixing())};
    if (rank == kRankByCell && is_masked_everywhere(heads.values))
        return void(caption_lines(s.ui, take_top(area, size::row),
                                  ranked_cell(s, cell_weights(s)->asked) + " is masked in every head."));
    std::vector<float> strength = heads.values;
    if (heads.is_signed)
        for (float& v : strength) v = std::abs(v);
    heads.order = ordered(s.model()->config, strength, rank >= 0 && head_statistics()[rank].ascending, among);
    if (rank == kRankBySweep) std::erase_if(heads.order, [&](int i) { return std::isnan(strength[i]); });
    heads.previews = shown_view(s.session, *s.model()).shows != View::Shows::model;
    heads.tag = [&](int head) -> std::optional<HeadTag> {
        const auto tags = tags_of(s, s.model()->config.head_at(head));
        return tags.empty() ? std::nullopt : std::optional(tags.front());
    };
    if (rank == kRankBySweep) heads.detail = sweep_details(s);
    const auto pressed = draw_ranked(s, area, s.model()->config, heads);
    if (pressed) show_head(s, pressed->first, pressed->second);
}

}  // namespace

std::vector<Question> ask_about_ranking(const Scene& s) {
    const auto cell = s.session.selection.locked;
    const bool ranks = cell && s.session.preferences.rank == kRankByCell &&
                       !shown_view(s.session, *s.model()).fills_window();
    if (!ranks) return {};
    const ModelConfig& c = s.model()->config;
    CellWeightsRequest asked{0, cell->first, cell->second};
    while (!read_alike(c, asked.block, s.session.selection.block)) ++asked.block;  // one question for all
    return {asked};
}

void draw_head_ranking(Scene& s, Rect area) {
    const bool cross = shown_view(s.session, *s.model()).of_target;
    take_top(area, 0, gap::small);
    draw_rank_choice(s, take_top(area, size::row, gap::small));
    draw_ranked_heads(s, area, cross ? Among::cross_attention : Among::all);
}

}  // namespace headlight

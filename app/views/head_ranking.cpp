// Heads in the order of a statistic, of the focused cell, or of what changes and ablations do.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "session/commands.h"
#include "views/changes.h"
#include "views/head_list.h"

namespace headlight {

namespace {

/// A way of ranking heads that the list offers.
struct RankChoice {
    int rank;
    std::string label;
};

std::vector<RankChoice> rank_choices(const Scene& s) {
    Ui& ui = s.ui;
    std::vector<RankChoice> out;
    for (int i = 0; i < kStatistics; ++i) out.push_back({i, head_statistics()[i].label});
    if (const auto cell = s.shown_cell()) {
        const auto label = [&](const std::vector<std::string>& labels, int i) {
            return ui.text.fitted(kCaption, labels[i], 56) + " " + std::to_string(i);
        };
        out.push_back({kRankByCell, "weight " + label(s.query_labels(), cell->first) + " → " +
                                        label(s.key_labels(), cell->second)});
    }
    if (s.sentence()->unchanged) out.push_back({kRankByMoved, "affected by interventions"});
    if (!s.sentence()->predictions.empty())
        out.push_back({kRankBySweep, "effect on “" + s.sentence()->predictions[0].tokens[0].label + "”"});
    return out;
}

/// The rank in force: the chosen one where it says something, else the first statistic.
int rank_of(const Scene& s) {
    const auto choices = rank_choices(s);
    const auto it = std::find_if(choices.begin(), choices.end(),
                                 [&](const RankChoice& c) { return c.rank == s.session.preferences.rank; });
    return it == choices.end() ? 0 : it->rank;
}

std::vector<float> rank_values(const Scene& s, int rank) {
    std::vector<float> out;
    if (rank == kRankByCell) return s.answer->cell ? s.answer->cell->weight_by_head : out;
    if (rank == kRankByMoved) return s.found<MovedWanted>() ? s.found<MovedWanted>()->answer.distances : out;
    if (rank == kRankBySweep) return s.sweep() && s.sweep()->ended() ? s.sweep()->change() : out;
    for (const auto& h : s.sentence()->heads) out.push_back(h.statistics[rank]);
    return out;
}

void draw_rank_choice(Scene& s, Rect line) {
    constexpr float kTitle = 40;
    Ui& ui = s.ui;
    const Rect title = take_left(line, kTitle);
    const auto choices = rank_choices(s);
    std::vector<std::string> items;
    int current = 0;
    for (int i = 0; i < isize(choices); ++i) {
        items.push_back(choices[i].label);
        if (choices[i].rank == rank_of(s)) current = i;
    }
    caption(ui, title, "Rank");
    float width = 0;
    if (const int chosen = ui.drop_down("rank", line.x, line.middle_y(), items, current, width, line.w);
        chosen >= 0) {
        const int wanted = choices[chosen].rank;
        s.send("rank", rank_word(wanted));
        if (wanted == kRankBySweep) s.send("sweep", "on");
    }
    const int rank = rank_of(s);
    const char* help =
        rank >= 0              ? head_statistics()[rank].definition
        : rank == kRankByMoved ? "Jensen–Shannon divergence of each head’s rows before and "
                                 "after the interventions, averaged over the queries; 0 to 1 bit."
        : rank == kRankBySweep ? "Change of the token’s probability when the head is ablated (its z is 0)."
                               : "Weight of the shown cell in each head.";
    ui.tooltip("rank/help", ui.hit("rank/help", title), help);
}

void draw_ranked_heads(Scene& s, Rect area) {
    const int rank = rank_of(s);
    if (rank == kRankBySweep && !draw_sweep_state(s, area)) return;
    RankedHeads heads{"ranked/",
                      {},
                      rank_values(s, rank),
                      std::pair{s.session.selection.block, s.session.selection.head},
                      true,
                      rank == kRankBySweep};
    std::vector<float> strength = heads.values;
    if (rank == kRankBySweep)
        for (float& v : strength) v = std::abs(v);
    heads.order = order_by(strength, rank >= 0 && head_statistics()[rank].ascending);
    const auto pressed = draw_ranked(s, area, s.model()->config, heads);
    if (!pressed) return;
    s.select(pressed->first, pressed->second);
    s.leave_text();
}

}  // namespace

void draw_head_ranking(Scene& s, Rect area) {
    take_top(area, 0, gap::small);
    draw_rank_choice(s, take_top(area, size::row, gap::small));
    draw_ranked_heads(s, area);
}

}  // namespace headlight

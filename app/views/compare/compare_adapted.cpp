// Lists the heads that an adapter changes: how far their patterns move, and ‖ΔQK‖ and ‖ΔOV‖.
#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "model/loading/adapter.h"
#include "views/compare/compare.h"

namespace headlight {

namespace {

constexpr float kPercents = 44;  // of one column of percents
constexpr const char* kRanks[] = {"change of pattern, bits", "change of QK", "change of OV"};

/// "24 %", "< 1 %"; "–" of a head without the matrices.
std::string share_text(float share) {
    if (std::isnan(share)) return "–";
    return share > 0 && share < 0.01f ? "< 1 %" : std::to_string(std::lround(100 * share)) + " %";
}

/// "rank 4 in 16 matrices".
std::string adapter_line(const AdapterInfo& info) {
    return "rank " + std::to_string(info.rank) + " in " + std::to_string(info.matrices) + " matrices";
}

/// Draws what the adapter is, and by what its heads are ranked; returns the rest.
Rect draw_adapted_head(Scene& s, Rect area) {
    Ui& ui = s.ui;
    Rect title = take_top(area, size::row, gap::tight);
    const AdapterInfo info = s.model()->adapter->info();
    const std::string right = adapter_line(info);
    write(ui, title, kCaption, ui.colors->t3, right, Flush::right);
    take_right(title, ui.text.width(kCaption, right), gap::small);
    write(ui, title, kBody, ui.colors->t1, "Adapter");
    Rect line = take_top(area, size::row, gap::small);
    caption(ui, take_left(line, 52), "Sort by");
    float width = 0;
    const auto rank = static_cast<int>(s.of<CompareState>().adapted_rank);
    const int chosen = ui.drop_down("compare/rank", line.x, line.middle_y(),
                                    {std::begin(kRanks), std::end(kRanks)}, rank, width, line.w);
    if (chosen >= 0) s.of<CompareState>().adapted_rank = static_cast<AdaptedRank>(chosen);
    return area;
}

/// Names the columns beside the bars.
Rect name_columns(Scene& s, Rect area, bool matrices) {
    Rect line = take_top(area, size::line, gap::tight);
    if (matrices)
        for (const char* name : {"ΔOV", "ΔQK"})
            write(s.ui, take_right(line, kPercents), kCaption, s.ui.colors->t3, name, Flush::right);
    s.ui.name("compare/columns", line);
    if (matrices)
        s.ui.tooltip("compare/columns", s.ui.hit("compare/columns", {area.x, line.y, area.w, line.h}),
                     "‖W_Q W_Kᵀ − W_Q⁰ W_K⁰ᵀ‖ ÷ ‖W_Q⁰ W_K⁰ᵀ‖, and the same of W_V W_O; ⁰: the base.");
    return area;
}

/// The heads' values of the chosen rank; empty until they are known.
std::vector<float> values_of(const Scene& s, const HeadPair* pair, const AdapterChanges& changes) {
    switch (s.of<CompareState>().adapted_rank) {
        case AdaptedRank::pattern:
            return pair && pair->each_to_itself ? pair->distances.values() : std::vector<float>();
        case AdaptedRank::qk:
            return changes.qk.values();
        case AdaptedRank::ov:
            return changes.ov.values();
    }
    return {};
}

}  // namespace

void draw_adapted_list(Scene& s, Rect area) {
    if (!s.model()->adapter) return;
    const auto* pair = s.found<HeadPairRequest>();
    const AdapterChanges changes = measured(s, AdapterChangesRequest{});
    const ModelConfig& c = s.model()->config;
    take_top(area, 0, gap::small);
    const bool known = isize(changes.qk) == c.head_count();
    const Rect rest = name_columns(s, draw_adapted_head(s, area), known);
    const auto values = values_of(s, pair ? &pair->answer : nullptr, changes);
    if (isize(values) != c.head_count()) return;
    RankedHeads heads{"compare/row/", order_by(values, false), values,
                      std::pair{s.session.selection.block, s.session.selection.head}, true};
    std::erase_if(heads.order, [&](int i) { return std::isnan(values[i]); });
    if (known) {
        heads.beside_width = kPercents;
        heads.beside = [&](int i) {
            const bool known_yet = c.head_at(i).block < changes.blocks;
            return known_yet
                       ? std::vector{share_text(changes.qk[size_t(i)]), share_text(changes.ov[size_t(i)])}
                       : std::vector<std::string>{"…", "…"};
        };
    }
    if (const auto pressed = draw_ranked(s, rest, c, heads)) s.select(pressed->first, pressed->second);
}

}  // namespace headlight

// Draws two sentences with lines between paired tokens.
#include <algorithm>

#include "base/cast.h"
#include "views/compare/compare.h"

namespace headlight {

namespace {

/// Places the chips of a sentence on a line, which may exceed the view.
std::vector<Rect> place_tokens(Ui& ui, const std::vector<std::string>& labels, Rect line) {
    std::vector<Rect> out;
    for (const std::string& label : labels) out.push_back(take_left(line, chip_width(ui, label), gap::tight));
    return out;
}

/// Pairs a token of A with one of B, or unpairs them.
void toggle_pair(const Scene& s, const TokenPairs& pairs, int a, int b) {
    const bool tied = std::find(pairs.begin(), pairs.end(), TokenPair{a, b}) != pairs.end();
    s.send("tie", std::to_string(a) + "," + std::to_string(tied ? -1 : b));
}

void draw_token(Scene& s, Rect r, const std::string& label, bool lone, bool waiting, bool hovered) {
    const Ui& ui = s.ui;
    Chip chip = token_chip(ui, label, waiting ? ChipRole::query : ChipRole::token);
    if (hovered && !waiting) chip.back = ui.colors->bg3;
    if (lone && !waiting) chip.ink = ui.colors->t3, chip.edge = ui.colors->l2;
    draw_chip(s.ui, r, chip);
}

/// Both sentences: labels, chips and pairs.
struct PairedSentences {
    const std::vector<std::string>&labels_a, &labels_b;
    std::vector<Rect> a, b;
    const TokenPairs& pairs;
    Rect seen;

    /// No chip is cut: one that scrolls out of sight is left out.
    bool sees(const Rect& r) const { return r.x >= seen.x - 1 && r.right() <= seen.right() + 1; }
};

void draw_lines(Ui& ui, const PairedSentences& t) {
    for (const TokenPair& p : t.pairs) {
        if (!p.both()) continue;
        const Rect &from = t.a[p.a], &to = t.b[p.b];
        const bool same = t.labels_a[p.a] == t.labels_b[p.b];
        ui.stroke({from.middle_x(), from.bottom()}, {to.middle_x(), to.y},
                  same ? ui.colors->l2 : ui.colors->accent, same ? 1 : 1.5f);
    }
}

/// Draws the chips; clicking one of A, then one of B, pairs or unpairs them.
void draw_paired_tokens(Scene& s, const PairedSentences& t) {
    auto& selected = s.of<CompareState>().selected;
    std::vector<bool> paired_b(t.b.size());
    for (const TokenPair& p : t.pairs) {
        if (p.both()) paired_b[p.b] = true;
        if (p.a < 0 || !t.sees(t.a[p.a])) continue;
        const Hit h = s.ui.hit("compare/a/" + std::to_string(p.a), t.a[p.a]);
        if (h.clicked) selected = selected == p.a ? std::nullopt : std::optional(p.a);
        draw_token(s, t.a[p.a], t.labels_a[p.a], p.b < 0, selected == p.a, h.hovered);
    }
    for (int i = 0; i < isize(t.b); ++i) {
        if (!t.sees(t.b[i])) continue;
        const Hit h = s.ui.hit("compare/b/" + std::to_string(i), t.b[i]);
        if (h.clicked && selected) {
            toggle_pair(s, t.pairs, *selected, i);
            selected.reset();
        }
        draw_token(s, t.b[i], t.labels_b[i], !paired_b[i], false, h.hovered);
    }
}

}  // namespace

float draw_token_pairing(Scene& s, Rect area) {
    constexpr float kBetween = 30;
    Ui& ui = s.ui;
    const auto* found = s.found<HeadPairRequest>();
    const auto& other = s.answer->other;
    if (!found || !other || !other->trace || found->asked.runs.versus != Versus::other) return 0;
    Rect rest = inset(area, size::center_pad, gap::close);
    const Rect line_a = take_top(rest, size::row_low, kBetween), line_b = take_top(rest, size::row_low);
    const Rect inside{line_a.x, area.y, line_a.w, line_b.bottom() - area.y};
    PairedSentences both{s.sentence()->labels[0], other->labels[0], {}, {}, found->answer.texts, inside};
    both.a = place_tokens(ui, both.labels_a, line_a);
    both.b = place_tokens(ui, both.labels_b, line_b);
    const float wide = std::max(both.a.back().right(), both.b.back().right()) - inside.x;
    Viewport& seen = s.of<CompareState>().seen;
    seen.x -= ui.take_wheel(inside) * seen.across;
    scrolled_across(ui, inside, wide, seen);
    for (auto* row : {&both.a, &both.b})
        for (Rect& r : *row) r.x -= seen.x;
    ui.clip(inside);
    draw_lines(ui, both);
    draw_paired_tokens(s, both);
    ui.unclip();
    return inside.h + gap::small;
}

}  // namespace headlight

// Two sentences over each other, with lines between the tokens that stand for each other.
#include <algorithm>

#include "base/cast.h"
#include "views/compare.h"

namespace headlight {

namespace {

struct Token {
    float x = 0, w = 0;
};

std::vector<Token> place_tokens(Ui& ui, const std::vector<std::string>& labels, float left) {
    std::vector<Token> out;
    for (const std::string& label : labels) {
        const float w = ui.text.width(kCaptionMono, label) + 14;
        out.push_back({left, w});
        left += w + 5;
    }
    return out;
}

/// Ties a token of A to one of B, or parts them where they were tied.
void tie_tokens(const Scene& s, const TokenPairs& pairs, int a, int b) {
    const bool tied = std::find(pairs.begin(), pairs.end(), TokenPair{a, b}) != pairs.end();
    s.send("tie", std::to_string(a) + "," + std::to_string(tied ? -1 : b));
}

void draw_token(Scene& s, Rect r, const std::string& label, bool lone, bool waiting, bool hovered) {
    Ui& ui = s.ui;
    ui.fill(r, waiting ? ui.colors->accent_fill : hovered ? ui.colors->bg3 : ui.colors->bg2, size::corner);
    if (waiting || lone) ui.frame(r, waiting ? ui.colors->accent : ui.colors->l2, 1, size::corner);
    ui.text.draw_centered(r.middle_x(), r.middle_y(), kCaptionMono,
                          waiting ? ui.colors->accent_text
                          : lone  ? ui.colors->t3
                                  : ui.colors->t1,
                          label);
}

}  // namespace

float draw_ties(Scene& s, Rect area) {
    Ui& ui = s.ui;
    const auto* found = s.found<HeadPairWanted>();
    const auto& other = s.answer->other;
    if (!found || !other || !other->trace || found->asked.runs.versus != Versus::other) return 0;
    const auto &labels_a = s.sentence()->labels[0], &labels_b = other->labels[0];
    const TokenPairs& pairs = found->answer.texts;
    const float left = area.x + 24, right = area.right() - 24, top = area.y + 6, high = 24, below = top + 54;
    const Rect inside{left, area.y, right - left, below + high - area.y};
    const auto a = place_tokens(ui, labels_a, left), b = place_tokens(ui, labels_b, left);
    const float wide = std::max(a.back().x + a.back().w, b.back().x + b.back().w) - left;
    s.of<CompareState>().ties_scroll = std::clamp(
        s.of<CompareState>().ties_scroll - ui.take_wheel(inside) * 80, 0.0f, std::max(0.0f, wide - inside.w));
    const float shift = s.of<CompareState>().ties_scroll;
    ui.clip(inside);
    std::vector<bool> paired_b(b.size());
    for (const TokenPair& p : pairs) {
        if (!p.both()) continue;
        paired_b[p.b] = true;
        const Token &from = a[p.a], &to = b[p.b];
        const bool same = labels_a[p.a] == labels_b[p.b];
        ui.stroke({from.x + from.w / 2 - shift, top + high}, {to.x + to.w / 2 - shift, below},
                  same ? ui.colors->l2 : ui.colors->accent, same ? 1 : 1.5f);
    }
    for (const TokenPair& p : pairs) {
        if (p.a < 0) continue;
        const Token& t = a[p.a];
        const Rect r{t.x - shift, top, t.w, high};
        const Hit h = ui.hit("compare/a/" + std::to_string(p.a), r);
        if (h.clicked)
            s.of<CompareState>().tied = s.of<CompareState>().tied == p.a ? std::nullopt : std::optional(p.a);
        draw_token(s, r, labels_a[p.a], p.b < 0, s.of<CompareState>().tied == p.a, h.hovered);
    }
    for (int i = 0; i < isize(b); ++i) {
        const Rect r{b[i].x - shift, below, b[i].w, high};
        const Hit h = ui.hit("compare/b/" + std::to_string(i), r);
        if (h.clicked && s.of<CompareState>().tied) {
            tie_tokens(s, pairs, *s.of<CompareState>().tied, i);
            s.of<CompareState>().tied.reset();
        }
        draw_token(s, r, labels_b[i], !paired_b[i], false, h.hovered);
    }
    ui.unclip();
    return below + high + 10 - area.y;
}

}  // namespace headlight

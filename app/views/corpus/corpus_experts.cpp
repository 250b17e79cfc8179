// Draws how often each expert is chosen over many texts, and the tokens that choose it most.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/cast.h"
#include "parts/matrix_view.h"
#include "views/corpus/corpus.h"

namespace headlight {

namespace {

constexpr float kExpertRow = 26;

/// The row of the selected head's layer, or of the nearest that has experts.
int shown_row(const Scene& s, const Dossier& d) {
    const int layer = s.model()->config.block(chosen_head(s).block).layer;
    int out = 0;
    for (int row = 1; row < isize(d.experts); ++row)
        if (std::abs(d.experts[size_t(row)].layer - layer) < std::abs(d.experts[size_t(out)].layer - layer))
            out = row;
    return out;
}

std::string expert_tip(const Dossier& d, int row, int expert) {
    const LayerExperts& layer = d.experts[size_t(row)];
    if (expert >= isize(layer.experts)) return "";
    const ExpertOverTexts& e = layer.experts[size_t(expert)];
    std::string out = "Layer " + std::to_string(layer.layer) + ", expert " + std::to_string(expert) + ": " +
                      percent(e.share) + " of the tokens";
    if (e.tokens > 0) out += ", mean weight " + number(e.weight, 3);
    return out + ".";
}

MatrixView shares_matrix(const Scene& s, const Dossier& d, const Matrix& shares) {
    constexpr float kNames = 72, kWidest = 96, kHighest = 44;
    const Colormap& colors = colormap(s.session.preferences.colormap, s.ui.colors->dark);
    const float largest = std::max(1e-6f, largest_size(shares));
    MatrixView out{
        .path = "corpus/experts",
        .cells = {places_of(shares, largest), colors},
        .rows = {[&d](int i) { return "layer " + std::to_string(d.experts[size_t(i)].layer); }},
        .columns = {index_name, "expert"},
        .bar = range_bar(colors, double(largest)),
        .note = {"Share of the tokens that choose an expert. A layer sums to the number of experts "
                 "that each token chooses.",
                 "Share of the tokens that choose an expert.", "Share of the tokens"},
        .max_w = kWidest,
        .max_h = kHighest,
        .level = true,
        .number =
            [&shares](int row, int expert) {
                return std::isnan(shares(row, expert)) ? "" : percent(shares(row, expert));
            },
        .tip = [&d](int row, int expert) { return expert_tip(d, row, expert); }};
    out.rows.room = kNames;
    out.rows.lit = shown_row(s, d);
    out.rows.lit_ink = s.ui.colors->accent_text;
    out.columns.ink = [&s](int) { return s.ui.colors->t2; };
    return out;
}

/// "the 12, of 9, …": as many as fit.
std::string tokens_text(Ui& ui, const ExpertOverTexts& expert, float room) {
    std::string out;
    for (const auto& [token, count] : expert.often) {
        const std::string more = out + (out.empty() ? "" : "  ") + token + " " + std::to_string(count);
        if (ui.text.width(kCaptionMono, more) > room) break;
        out = more;
    }
    return out;
}

/// "3  31 %  ▬▬▬  the 12  of 9".
void draw_expert(Scene& s, Rect line, int number_of, const ExpertOverTexts& expert, double largest) {
    constexpr float kNumber = 34, kShare = 62, kBarShare = 0.24f;
    Ui& ui = s.ui;
    write(ui, take_left(line, kNumber, gap::small), kBodyMono, ui.colors->t1, std::to_string(number_of));
    const Rect bar = band(take_left(line, line.w * kBarShare, gap::small), size::bar);
    ui.bar(bar, largest > 0 ? float(expert.share / largest) : 0, ui.colors->accent);
    write(ui, take_left(line, kShare, gap::medium), kCaptionMono, ui.colors->t2, percent(expert.share),
          Flush::right);
    write(ui, line, kCaptionMono, ui.colors->t2, tokens_text(ui, expert, line.w));
}

/// Lists the experts of a layer, the most chosen first.
void draw_layer_experts(Scene& s, Rect area, const LayerExperts& layer) {
    Ui& ui = s.ui;
    const Rect head = take_top(area, size::row, gap::tight);
    write(ui, head, kBody, ui.colors->t1, "Experts of layer " + std::to_string(layer.layer));
    write(ui, head, kCaption, ui.colors->t3, "share of tokens, its most frequent tokens and how often",
          Flush::right);
    std::vector<int> order(layer.experts.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return layer.experts[size_t(a)].tokens > layer.experts[size_t(b)].tokens;
    });
    const double largest = order.empty() ? 0 : layer.experts[size_t(order[0])].share;
    float& hidden = s.of<CorpusState>().seen.y;
    hidden = scrolled(ui, area, kExpertRow * float(order.size()), hidden);
    ui.scroll_area(area);
    for (int i = 0; i < isize(order); ++i)
        draw_expert(s, {area.x, area.y + kExpertRow * float(i) - hidden, area.w, kExpertRow},
                    order[size_t(i)], layer.experts[size_t(order[size_t(i)])], largest);
    ui.end_scroll_area();
}

}  // namespace

void draw_corpus_experts(Scene& s, Rect area, const Dossier& d) {
    constexpr float kListShare = 0.44f, kLeastList = 380;
    const Rect list =
        take_right(area, std::max(area.w * kListShare, std::min(kLeastList, area.w / 2)), gap::section);
    const Matrix shares = expert_shares(d);
    MatrixView view = shares_matrix(s, d, shares);
    const MatrixLayout l = arrange_matrix(s.ui, area, view);
    const MatrixAnswer answer = answer_matrix(s, l, view);
    draw_matrix_view(s, l, view);
    draw_layer_experts(s, list, d.experts[size_t(shown_row(s, d))]);
    if (!answer.pressed) return;
    const int layer = d.experts[size_t(answer.hovered->first)].layer;
    const ModelConfig& c = s.model()->config;
    s.select_block(c.blocks_of(isize(c.stacks) - 1, layer).front());
}

}  // namespace headlight

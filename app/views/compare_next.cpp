// The predictions of two runs as a table, and their divergence position by position.
#include <algorithm>
#include <cmath>

#include "views/compare.h"
#include "views/numbers.h"

namespace headlight {

namespace {

void draw_table(Scene& s, Rect area, const PredictionPair& pair) {
    Ui& ui = s.ui;
    const float token_w = 150, value_w = 78, points_w = 70,
                bars = (area.w - token_w - 2 * value_w - points_w - 24) / 2;
    const float a = area.x + token_w, b = a + bars + value_w + 12, y0 = area.y + 10;
    ui.text.draw(area.x, y0, kCaption, ui.colors->t3, "token");
    ui.text.draw(a, y0, kCaption, ui.colors->accent_text, "A");
    ui.text.draw(b, y0, kCaption, ui.colors->t1, "B");
    ui.text.draw_right(area.right(), y0, kCaption, ui.colors->t3, "A − B, points");
    ui.hairline(area.x, y0 + 14, area.right(), y0 + 14);
    float max = 1e-6f;
    for (const ProbabilityChange& p : pair.tokens) max = std::max({max, p.a, p.b});
    float y = y0 + 32;
    for (const ProbabilityChange& p : pair.tokens) {
        if (y + 13 > area.bottom()) break;
        ui.text.draw(area.x, y, kBodyMono, ui.colors->t1, ui.text.fitted(kBodyMono, p.label, token_w - 10));
        ui.bar({a, y - 4, bars, 8}, p.a / max, ui.colors->accent);
        ui.text.draw_right(a + bars + value_w - 8, y, kBodyMono, ui.colors->t1, percent(p.a));
        ui.bar({b, y - 4, bars, 8}, p.b / max, ui.colors->t3);
        ui.text.draw_right(b + bars + value_w - 8, y, kBodyMono, ui.colors->t1, percent(p.b));
        ui.text.draw_right(area.right(), y, kBodyMono, change_ink(ui, p.a - p.b), points_text(p.a - p.b));
        y += 28;
    }
}

}  // namespace

void draw_prediction_pair(Scene& s, Rect area, const PredictionPair& pair) {
    Ui& ui = s.ui;
    const Rect inside{area.x + 24, area.y + 8, area.w - 48, area.h - 16};
    if (pair.tokens.empty()) {
        ui.text.draw_wrapped(inside.x, inside.y + 16, inside.w, kBody, ui.colors->t2,
                             "One of the two predicts nothing here: an encoder needs a mask token, and some "
                             "models have no head.");
        return;
    }
    const bool diverges = !pair.divergence.empty() && inside.h > 360;
    const float high = diverges ? inside.h - 230 : inside.h;
    draw_table(s, {inside.x, inside.y, inside.w, high}, pair);
    if (!diverges) return;
    const float below = inside.y + high;
    ui.hairline(area.x, below, area.right(), below);
    draw_by_token(s, {inside.x, below + 14, inside.w, inside.bottom() - below - 14},
                  "How far apart the predictions are, position by position",
                  "Kullback–Leibler divergence of B from A in bits", pair.divergence, pair.labels,
                  index_of(pair.positions, pair.position_a));
}

std::vector<NumberTable> compare_numbers(const Scene& s) {
    if (s.of<CompareState>().show == ComparedShow::next) {
        const auto* found = s.found<PredictionPairWanted>();
        if (!found) return {};
        std::vector<std::string> labels;
        std::vector<float> a, b;
        for (const ProbabilityChange& p : found->answer.tokens) {
            labels.push_back(p.label);
            a.push_back(p.a);
            b.push_back(p.b);
        }
        std::vector<NumberTable> out{
            {"probability", "token", "run", labels, {"A", "B"}, matrix_of_columns({a, b})}};
        if (!found->answer.divergence.empty())
            out.push_back({"Kullback-Leibler divergence",
                           "position",
                           "",
                           found->answer.labels,
                           {"bits"},
                           matrix_of_columns({found->answer.divergence})});
        return out;
    }
    const bool delta = s.of<CompareState>().show == ComparedShow::delta;
    const auto* pair = s.found<HeadPairWanted>();
    const auto* lengths = s.found<DeltaPairWanted>();
    const PairedMap* m = delta  ? lengths ? &lengths->answer.map : nullptr
                         : pair ? &pair->answer.map
                                : nullptr;
    if (!m || m->a.size() == 0) return {};
    const char *rows = delta ? "block" : "query", *columns = delta ? "token" : "key";
    return {{"A", rows, columns, m->row_labels, m->column_labels, shown_only(m->a)},
            {"B", rows, columns, m->row_labels, m->column_labels, shown_only(m->b)},
            {"A - B", rows, columns, m->row_labels, m->column_labels, m->difference}};
}

}  // namespace headlight

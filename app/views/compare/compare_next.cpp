// Draws the predictions of two runs as a table, and their divergence by position.
#include <algorithm>
#include <cmath>

#include "parts/metric.h"
#include "views/compare/compare.h"
#include "views/tables.h"

namespace headlight {

namespace {

struct NextLine {
    Rect whole, token, bar_a, value_a, bar_b, value_b, points;
};

NextLine line_parts(Rect line) {
    constexpr float kToken = 150, kValue = 70, kPoints = 70;
    NextLine l;
    l.whole = line;
    l.token = take_left(line, kToken - gap::small, gap::small);
    l.points = take_right(line, kPoints, gap::medium);
    const Rect a = nth_column(line, 0, 2, gap::large), b = nth_column(line, 1, 2, gap::large);
    l.bar_a = a;
    l.bar_b = b;
    l.value_a = take_right(l.bar_a, kValue);
    l.value_b = take_right(l.bar_b, kValue);
    return l;
}

void draw_table(Scene& s, Rect area, const PredictionPair& pair) {
    Ui& ui = s.ui;
    const NextLine head = line_parts(take_top(area, size::row, gap::tight));
    caption(ui, head.token, "token");
    const bool changes = s.session.document.comparison.what == Compared::changes;
    const auto [a, b] = names_of_sides(s);
    write(ui, head.bar_a, kCaption, ui.colors->accent_text, changes ? "A, after" : a);
    write(ui, head.bar_b, kCaption, ui.colors->t1, changes ? "B, before" : b);
    caption(ui, {head.value_b.x, head.points.y, head.points.right() - head.value_b.x, head.points.h},
            a + " − " + b + ", points", Flush::right);
    ui.hairline(head.whole.x, head.whole.bottom(), head.whole.right(), head.whole.bottom());
    float max = 1e-6f;
    for (const ProbabilityChange& p : pair.tokens) max = std::max({max, p.a, p.b});
    for (const ProbabilityChange& p : pair.tokens) {
        if (area.h < size::row) break;
        const NextLine l = line_parts(take_top(area, size::row));
        write(ui, l.token, kBodyMono, ui.colors->t1, p.label);
        ui.bar(band(l.bar_a, size::bar), p.a / max, ui.colors->accent);
        write(ui, l.value_a, kBodyMono, ui.colors->t1, percent(p.a), Flush::right);
        ui.bar(band(l.bar_b, size::bar), p.b / max, ui.colors->t3);
        write(ui, l.value_b, kBodyMono, ui.colors->t1, percent(p.b), Flush::right);
        write(ui, l.points, kBodyMono, change_ink(ui, p.a - p.b), points_text(p.a - p.b), Flush::right);
        if (std::isnan(p.logit)) continue;
        const std::string path = "compare/next/" + p.label;
        ui.tooltip(path, ui.hit(path, l.whole),
                   a + " − " + b + ": " + effect_details({0, p.a - p.b, -p.logit, -p.log_probability}));
    }
}

/// "Both continue with ball: A 98.9 %, B 97.3 %." or "A continues with ball (98.9 %; B 20.1 %), B with car …"
std::string continuations(const PredictionPair& pair, const std::array<std::string, 2>& names) {
    const auto likeliest = [&](float ProbabilityChange::*of) -> const ProbabilityChange* {
        const ProbabilityChange* out = nullptr;
        for (const ProbabilityChange& p : pair.tokens)
            if (!std::isnan(p.*of) && (!out || p.*of > out->*of)) out = &p;
        return out;
    };
    const ProbabilityChange *a = likeliest(&ProbabilityChange::a), *b = likeliest(&ProbabilityChange::b);
    if (!a || !b) return "";
    const auto& [of_a, of_b] = names;
    if (a == b)
        return "Both predict " + a->label + ": " + of_a + " " + percent(double(a->a)) + ", " + of_b + " " +
               percent(double(b->b)) + ".";
    const auto with = [](const ProbabilityChange& p, float here, const std::string& name, float there) {
        return p.label + " (" + percent(double(here)) +
               (std::isnan(there) ? "" : "; " + name + " " + percent(double(there))) + ")";
    };
    if (of_a != "A")
        return "The base predicts " + with(*b, b->b, of_a, b->a) + ", with the adapter " +
               with(*a, a->a, of_b, a->b) + ".";
    return "A predicts " + with(*a, a->a, "B", a->b) + ", B predicts " + with(*b, b->b, "A", b->a) + ".";
}

/// "Head 1.0 differs most (0.040 bits)."
std::string most_different(const Scene& s) {
    const auto* found = s.found<HeadPairRequest>();
    if (!found || !found->answer.each_to_itself || found->answer.distances.empty()) return "";
    const auto& distances = found->answer.distances;
    const int most = order_by(distances, false).front();
    if (!(distances[most] >= kNoise)) return "";
    return " Head " + head_name(s.model()->config, s.model()->config.head_at(most)) + " differs most (" +
           number(double(distances[most]), 3) + " bits).";
}

}  // namespace

float draw_what_differs(Scene& s, Rect area) {
    const auto* pair = s.found<PredictionPairRequest>();
    const Rect inside = inset(area, size::center_pad, gap::tight);
    const auto names = names_of_sides(s);
    std::string text = pair ? continuations(pair->answer, names) : "";
    if (s.sentence()->unchanged)
        text += names[0] == "A" ? " The interventions are A’s alone." : " The base has no interventions.";
    text += most_different(s);
    s.ui.name("compare/what differs", {inside.x, inside.y, inside.w, size::line});
    return s.ui.text.draw_wrapped(inside.x, inside.y, inside.w, kBody, s.ui.colors->t1, text) +
           2 * gap::tight;
}

void draw_prediction_pair(Scene& s, Rect area, const PredictionPair& pair) {
    constexpr float kDivergence = 230, kLeastTable = 130;
    Ui& ui = s.ui;
    Rect inside = inset(area, size::center_pad, gap::small);
    if (pair.tokens.empty()) {
        ui.text.draw_wrapped(inside.x, inside.y + gap::large, inside.w, kBody, ui.colors->t2,
                             "A or B predicts no token here: an encoder needs a mask token, and some models "
                             "have no unembedding.");
        return;
    }
    const bool diverges = !pair.divergence.empty() && inside.h > kDivergence + kLeastTable;
    Rect below = diverges ? take_bottom(inside, kDivergence) : Rect{};
    draw_table(s, inside, pair);
    if (!diverges) return;
    ui.hairline(area.x, below.y, area.right(), below.y);
    take_top(below, 0, gap::medium);
    draw_by_token(s, below, "Divergence of predictions by position",
                  "Kullback–Leibler divergence of B from A in bits", pair.divergence, pair.labels,
                  index_of(pair.positions, pair.position_a));
}

namespace {

std::vector<NumberTable> next_token_numbers(const Scene& s) {
    const auto* found = s.found<PredictionPairRequest>();
    if (!found) return {};
    std::vector<std::string> labels;
    std::vector<float> a, b, logits, log_probabilities;
    for (const ProbabilityChange& p : found->answer.tokens) {
        labels.push_back(p.label);
        a.push_back(p.a);
        b.push_back(p.b);
        logits.push_back(-p.logit);
        log_probabilities.push_back(-p.log_probability);
    }
    std::vector<NumberTable> out{
        {"probability", "token", "run", labels, {"A", "B"}, matrix_of_columns({a, b})}};
    out.push_back({"A - B",
                   "token",
                   "",
                   std::move(labels),
                   {"logit", "log p"},
                   matrix_of_columns({logits, log_probabilities})});
    if (!found->answer.divergence.empty())
        out.push_back({"Kullback-Leibler divergence",
                       "position",
                       "",
                       found->answer.labels,
                       {"bits"},
                       matrix_of_columns({found->answer.divergence})});
    return out;
}

}  // namespace

std::vector<NumberTable> compare_numbers(const Scene& s) {
    if (s.of<CompareState>().show == ComparedShow::next) return next_token_numbers(s);
    if (shows_encodings(s)) return encoding_numbers(s);
    const bool delta = s.of<CompareState>().show == ComparedShow::delta;
    const auto* pair = s.found<HeadPairRequest>();
    const auto* lengths = s.found<DeltaPairRequest>();
    const PairedMap* m = delta  ? lengths ? &lengths->answer.map : nullptr
                         : pair ? &pair->answer.map
                                : nullptr;
    if (!m || m->a.size() == 0) return {};
    const char *rows = delta ? "block" : "query", *columns = delta ? "token" : "key";
    if (const PairedMap* alone = !delta && pair->answer.alone ? &*pair->answer.alone : nullptr)
        return {{"A", rows, columns, m->row_labels, m->column_labels, shown_only(m->a)},
                {"B", rows, columns, alone->row_labels, alone->column_labels, shown_only(alone->b)}};
    std::vector<NumberTable> out{{"A", rows, columns, m->row_labels, m->column_labels, shown_only(m->a)},
                                 {"B", rows, columns, m->row_labels, m->column_labels, shown_only(m->b)},
                                 {"A - B", rows, columns, m->row_labels, m->column_labels, m->difference}};
    for (NumberTable& table : strength_numbers(s)) out.push_back(std::move(table));
    return out;
}

}  // namespace headlight

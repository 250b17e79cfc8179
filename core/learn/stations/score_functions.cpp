// Computes the station "Score functions".
#include "learn/stations/score_functions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/quoted.h"
#include "learn/normalizers.h"
#include "learn/page_parts.h"
#include "learn/score_function_table.h"
#include "learn/stations/query_key.h"
#include "learn/stations/small_vectors.h"
#include "learn/trained_scores.h"

namespace headlight::learn {

void ScoreFunctionsState::visit(ControlVisitor& v) {
    static constexpr std::array kNormalizers{"softmax", "sum", "sparsemax", "hard max"};
    v.choice("normalizer", "Normalizer", normalizer, kNormalizers);
    v.number("sharpness", "β of the cosine", sharpness, 0, 100);
    v.number("width", "σ of the kernel (0: √d)", width, 0, 1000);
    v.whole("seed", "Seed of W and v", seed, 1, 999);
}

namespace {

ScoreParameters parameters(const ScoreFunctionsState& state, const QueryKey& input) {
    ScoreParameters p = ScoreParameters::random(input.q.cols(), input.k.rows(), state.seed);
    p.sharpness = state.sharpness;
    p.width = state.width;
    return p;
}

/// Shows every score function under the selected normalizer.
BarRows by_score(const QueryKey& input, const ScoreParameters& p, const NormalizerKind& normalizer,
                 ThreadPool& pool) {
    BarRows out{input.keys, {}, input.cells};
    for (const ScoreKind& kind : score_functions()) {
        pool.stop_point();
        const Matrix scores = input.masked(kind.scores(input.q, input.k, p));
        BarRows::Row row = bar_row(scores, normalize_rows(normalizer, scores), input.query);
        row.title = kind.title;
        row.formula = kind.formula;
        row.source = kind.source;
        row.emphasized = &kind == &score_functions()[static_cast<int>(ScoreFunction::scaled_dot)];
        out.rows.push_back(std::move(row));
    }
    return out;
}

/// Shows every normalizer on the scaled dot product.
BarRows by_normalizer(const QueryKey& input, int chosen) {
    BarRows out{input.keys, {}, input.cells};
    const Matrix scores = input.masked(scaled_dot_scores(input.q, input.k));
    for (int i = 0; i < isize(normalizers()); ++i) {
        const NormalizerKind& kind = normalizers()[i];
        BarRows::Row row = bar_row(scores, normalize_rows(kind, scores), input.query);
        row.title = kind.title;
        row.formula = kind.formula;
        row.source = kind.source;
        row.emphasized = i == chosen;
        out.rows.push_back(std::move(row));
    }
    return out;
}

/// Trains an additive score to look where the head looks; of long texts at the first words.
struct LearnedScore {
    BarRows bars;   // of the selected query: the head's weights, the network's before and after
    Curves losses;  // by step
};

/// Plots the loss by step, above the entropy of the target [queries, keys], which no network can go below.
Curves loss_curves(const Matrix& target, const std::vector<float>& losses) {
    double least = 0;
    for (Index i = 0; i < target.size(); ++i)
        if (const auto t = double(target.data()[i]); t > 0) least -= t * std::log(t) / double(target.rows());
    std::vector<float> steps(losses.size());
    std::iota(steps.begin(), steps.end(), 0.0f);
    return {.title = "Gradient descent teaches it where the head looks",
            .x_is = "steps",
            .y_is = "cross-entropy, in nats",
            .lines = {line_of("loss", steps, losses),
                      line_of("entropy of the head's weights: the least possible", {0, steps.back()},
                              {float(least), float(least)}, true)}};
}

LearnedScore learned_score(const QueryKey& input, int seed) {
    constexpr int kMaxTaught = 32, kHidden = 16, kSteps = 200;
    const Index n = std::min<Index>(kMaxTaught, input.q.rows()),
                m = std::min<Index>(kMaxTaught, input.k.rows());
    const NormalizerKind& softmax = normalizers()[static_cast<int>(RowNormalizer::softmax)];
    const Matrix scores = input.masked(scaled_dot_scores(input.q, input.k)).topLeftCorner(n, m);
    const Matrix target = scores.array().isNaN().select(scores, normalize_rows(softmax, scores));
    const Matrix q = input.q.topRows(n), k = input.k.topRows(m);
    const Index query = std::min<Index>(input.query, n - 1);
    LearnedScore out{
        {.columns = {input.keys.begin(), input.keys.begin() + m}, .rows = {}, .cells = input.cells}, {}};
    out.bars.cells.keys.resize(std::min(out.bars.cells.keys.size(), size_t(m)));
    const auto add = [&](const AdditiveScore& s, const std::string& title, const std::string& source) {
        const Matrix hidden =
            ((k * s.of_key.transpose()).rowwise() + (q.row(query) * s.of_query.transpose())).array().tanh();
        Matrix row = (hidden * s.v).transpose();
        for (Index j = 0; j < m; ++j)
            if (std::isnan(target(query, j))) row(0, j) = target(query, j);
        BarRows::Row bar = bar_row(row, normalize_rows(softmax, row), 0);
        bar.title = title;
        bar.formula = "vᵀ tanh(W₁ q + W₂ k), 16 hidden numbers";
        bar.source = source;
        bar.all.reset();
        out.bars.rows.push_back(std::move(bar));
    };
    const TrainedScore trained = train_additive(q, k, target, kHidden, kSteps, narrow<unsigned>(seed)),
                       random = train_additive(q, k, target, kHidden, 0, narrow<unsigned>(seed));
    add(random.score, "Additive, random", "before training");
    add(trained.score, "Additive, trained", std::to_string(kSteps) + " steps on this head's weights");
    out.losses = loss_curves(target, trained.losses);
    return out;
}

/// Shows the query along the x axis and each key at its own angle to it, of its own length; every second one
/// below, so that names have room.
Plane angles(const QueryKey& input) {
    constexpr int kMaxKeys = 6;  // names of more would cover each other
    const Eigen::RowVectorXf q = input.q.row(input.query);
    const Eigen::RowVectorXf cosine = cosines(q, input.k).row(0);
    std::vector<int> keys;
    for (int i = 0; i < isize(input.keys); ++i)
        if (input.allowed[input.query][i]) keys.push_back(i);
    std::stable_sort(keys.begin(), keys.end(), [&](int a, int b) { return cosine[a] > cosine[b]; });
    keys.resize(std::min(kMaxKeys, isize(keys)));
    Plane out{
        .title = "The keys nearest to q, each at its angle: of two as long, the nearer has the larger q · k",
        .points = {{"q of " + input.queries[input.query], q.norm(), 0, true}},
        .arrows = true};
    for (int i = 0; i < isize(keys); ++i) {
        const float angle = std::acos(std::clamp(cosine[keys[i]], -1.0f, 1.0f)),
                    length = input.k.row(keys[i]).norm();
        out.points.push_back({input.keys[keys[i]] + " " + decimals(double(angle) * 180 / M_PI, 0) + "°",
                              length * std::cos(angle), (i % 2 ? -1.0f : 1.0f) * length * std::sin(angle),
                              false});
    }
    return out;
}

/// Counts what the dot product and the additive score take on these words.
Table cost_table(const QueryKey& input) {
    const Index n = input.q.rows(), m = input.k.rows(), d = input.q.cols();
    Table out{.title = "What they cost: " + std::to_string(n) + " queries, " + std::to_string(m) +
                       " keys of " + std::to_string(d) + " numbers",
              .columns = {"", "multiplications", "tanh", "numbers kept for training"}};
    for (const auto& [name, cost] :
         {std::pair{"dot, scaled dot", dot_cost(n, m, d)}, std::pair{"additive", additive_cost(n, m, d, d)}})
        add_cells(out, {words_cell(name), count_cell(cost.products), count_cell(cost.tanhs),
                        count_cell(cost.kept)});
    return out;
}

}  // namespace

Result<Page> score_functions_page(const StationInput& in, const ScoreFunctionsState& state,
                                  ThreadPool& pool) {
    const QueryKey input = has_head(in) ? head_query_key(in) : small_query_key(in);
    const BarRows scores = by_score(input, parameters(state, input), normalizers()[state.normalizer], pool);
    Page page;
    page.note = input.origin + "; W and v drawn at random";
    LearnedScore learned = learned_score(input, state.seed);
    page.blocks = {scores,
                   angles(input),
                   by_normalizer(input, state.normalizer),
                   std::move(learned.bars),
                   std::move(learned.losses),
                   cost_table(input)};
    page.main = 2;
    return page;
}

}  // namespace headlight::learn

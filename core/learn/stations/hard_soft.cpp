// Computes the station "Hard and soft, global and local".
#include "learn/stations/hard_soft.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/attention/score_steps.h"
#include "base/quoted.h"
#include "learn/attention_reach.h"
#include "learn/hard_attention.h"
#include "learn/normalizers.h"
#include "learn/page_parts.h"
#include "model/loading/parameters.h"

namespace headlight::learn {

namespace {

constexpr float kLongest = 1 << 20;

/// Holds one query of the selected head: its allowed keys and scores.
struct ScoredRow {
    int query = 0;
    std::vector<float> scores, weights;
    std::vector<bool> allowed;
};

ScoredRow scored_row(const StationInput& input) {
    ScoredRow out;
    const Trace& trace = *input.trace;
    out.query = input.query_of(trace.query_count(input.block));
    out.scores = head_scores(input, out.query);
    const AttentionRule& rule = trace.rule(input.block);
    const MaskPlan& mask = rule.mask_of(input.head);
    for (int key = 0; key < isize(out.scores); ++key) out.allowed.push_back(mask.has_weight(out.query, key));
    if (weights_by(rule, input.head, out.query) == WeightsBy::softmax) {
        const Matrix row = trace.pattern_rows(input.block, input.head, out.query, 1);
        out.weights.assign(row.data(), row.data() + row.size());
    } else {  // the page is about softmax, which the user removed here
        out.weights = local_weights(out.scores, out.allowed,
                                    {.center = 0, .half = isize(out.scores), .gaussian = false});
    }
    return out;
}

Eigen::Map<const Vector> as_vector(const std::vector<float>& weights) {
    return {weights.data(), isize(weights)};
}

/// Adds a row of bars; masks what is not allowed.
void add_bars(BarRows& bars, const ScoredRow& row, const char* title, const char* formula, const char* source,
              std::vector<float> weights, std::string note = "") {
    if (note.empty()) note = "entropy " + decimals(entropy_bits(as_vector(weights)), 2) + " bits";
    if (std::abs(as_vector(weights).sum() - 1) > 0.005f)
        note = "sum " + decimals(as_vector(weights).sum(), 2);
    for (int i = 0; i < isize(weights); ++i)
        if (!row.allowed[i]) weights[i] = std::numeric_limits<float>::quiet_NaN();
    bars.rows.push_back({.title = title,
                         .formula = formula,
                         .source = source,
                         .values = std::move(weights),
                         .note = std::move(note),
                         .emphasized = bars.rows.empty()});
}

std::vector<float> heaviest_alone(const std::vector<float>& weights) {
    std::vector<float> out(weights.size(), 0);
    out[std::max_element(weights.begin(), weights.end()) - weights.begin()] = 1;
    return out;
}

std::vector<float> shares(const std::vector<int>& counts, int draws) {
    std::vector<float> out;
    for (const int count : counts) out.push_back(float(count) / float(draws));
    return out;
}

/// Computes softmax over the allowed keys that a stride leaves.
std::vector<float> strided_weights(const ScoredRow& row, int stride) {
    std::vector<bool> allowed = row.allowed;
    for (int key = 0; key < isize(allowed); ++key)
        if (!strided_sees(row.query, key, stride)) allowed[key] = false;
    return local_weights(row.scores, allowed, {.center = 0, .half = isize(allowed), .gaussian = false});
}

BarRows choice_bars(const StationInput& input, const HardSoftState& state, const ScoredRow& row,
                    const HardDraws& draws) {
    const auto q = input.trace->q(input.block, input.head);
    const int keys = isize(row.scores), seen = int(std::count(row.allowed.begin(), row.allowed.end(), true));
    const float place =
        predicted_center(q.row(row.query).transpose(), std::max(1, seen), narrow<unsigned>(state.seed));
    const LocalWindow monotonic{.center = float(std::min(row.query, keys - 1)), .half = state.half_width},
        predicted{.center = place, .half = state.half_width, .gaussian = true};
    BarRows bars{.columns = key_labels(input), .cells = cells_of(row.query, keys)};
    add_bars(bars, row, "Soft, global", "softmax(s)", "Bahdanau et al. 2015", row.weights);
    add_bars(bars, row, "Hard: the largest", "1 at the largest", "temperature 0",
             heaviest_alone(row.weights));
    add_bars(bars, row, "Hard: at random", "share of the draws", "Xu et al. 2015",
             shares(draws.counts, state.draws), std::to_string(state.draws) + " draws");
    add_bars(bars, row, "Local, monotonic", "p = t, keys p − D … p + D", "Luong et al. 2015",
             local_weights(row.scores, row.allowed, monotonic));
    add_bars(bars, row, "Local, predictive", "· exp(−(j − p)² ÷ 2σ²), σ = D ÷ 2", "Luong et al. 2015",
             local_weights(row.scores, row.allowed, predicted));
    bars.rows.back().source += ", p = " + decimals(place, 1);
    add_bars(bars, row, "Strided", "the nearest, and every one of a stride", "Child et al. 2019",
             strided_weights(row, state.stride));
    return bars;
}

Curves draw_curves(const HardDraws& draws) {
    Curves out{.title = "Hard attention becomes soft on average",
               .x_is = "draws",
               .y_is = "distance from the mixture",
               .log_x = true,
               .log_y = true};
    Curves::Line measured = line_of("mean of the draws", {}, {}),
                 expected = line_of("σ ÷ √draws", {}, {}, true);
    for (const DrawError& e : draws.errors) {
        measured.x.push_back(float(e.draws));
        measured.y.push_back(e.measured);
        expected.x.push_back(float(e.draws));
        expected.y.push_back(e.expected);
    }
    out.lines = {std::move(expected), std::move(measured)};
    return out;
}

/// Rewards a key by how far its value points the way of the mixture.
Vector rewards_of(const Matrix& values, const Vector& mixture) {
    return values * mixture / std::max(mixture.norm(), 1e-20f);
}

/// Plots the error of REINFORCE's gradient, as a multiple of the gradient itself.
Curves gradient_curves(const HardGradient& gradient) {
    const float size = std::max(gradient.exact.norm(), 1e-20f);
    Curves out{.title = "The gradient of hard attention, estimated (REINFORCE)",
               .x_is = "draws",
               .y_is = "error ÷ size of the gradient",
               .log_x = true,
               .log_y = true};
    Curves::Line measured = line_of("mean of the draws", {}, {}),
                 expected = line_of("σ ÷ √draws", {}, {}, true),
                 baseline = line_of("σ ÷ √draws, with a baseline", {}, {}, true);
    for (const GradientError& e : gradient.errors)
        for (auto* line : {&measured, &expected, &baseline}) {
            line->x.push_back(float(e.draws));
            line->y.push_back((line == &measured   ? e.measured
                               : line == &expected ? e.expected
                                                   : e.baseline) /
                              size);
        }
    out.lines = {std::move(expected), std::move(baseline), std::move(measured)};
    return out;
}

Words gradient_finding(const HardGradient& gradient) {
    const double size = std::max(double(gradient.exact.norm()), 1e-20),
                 once = std::sqrt(double(gradient.variance)) / size;
    return {"One draw misses the gradient by " + decimals(once, 1) + " times its size; " +
            with_commas(std::llround(std::ceil(once * once * 100))) +
            " draws bring that to a tenth. Soft attention has it exactly, in one pass."};
}

/// [queries, keys] of the head's local attention: softmax over a window around each query; NaN outside.
Matrix local_map(const StationInput& input, int half) {
    const Trace& trace = *input.trace;
    const MaskPlan& mask = trace.rule(input.block).mask_of(input.head);
    const int n = trace.query_count(input.block);
    Matrix out(n, n);
    for (int query = 0; query < n; ++query) {
        const std::vector<float> scores = head_scores(input, query);
        std::vector<bool> allowed;
        for (int key = 0; key < n; ++key) allowed.push_back(mask.has_weight(query, key));
        const std::vector<float> row = local_weights(scores, allowed, {float(query), half, false});
        for (int key = 0; key < n; ++key)
            out(query, key) = allowed[key] && std::abs(key - query) <= half
                                  ? row[key]
                                  : std::numeric_limits<float>::quiet_NaN();
    }
    return out;
}

/// Shows weights made from the data beside the fixed ones of a convolution of the same reach.
void add_fixed_and_made(const StationInput& input, int half, Page& page) {
    constexpr int kMost = 32;
    if (input.trace->query_count(input.block) != input.trace->key_count(input.block) ||
        input.trace->query_count(input.block) > kMost)
        return;
    const Matrix made = local_map(input, half);
    const std::vector<float> kernel = weights_by_distance(made, half);
    Matrix fixed = made;
    for (Index row = 0; row < fixed.rows(); ++row)
        for (Index key = 0; key < fixed.cols(); ++key)
            if (!std::isnan(fixed(row, key))) fixed(row, key) = kernel[key - row + half];
    const auto labels = key_labels(input);
    const auto cells = (made.array() == made.array()).count();  // not NaN
    const auto weights = std::count_if(kernel.begin(), kernel.end(), [](float w) { return w > 0; });
    for (const auto& [title, values] : {std::pair{"Local attention: weights made from the words", made},
                                        std::pair{"Convolution: fixed weights, one a distance", fixed}})
        page.blocks.push_back(Grid{.title = title,
                                   .rows_are = "query",
                                   .columns_are = "key",
                                   .rows = labels,
                                   .columns = labels,
                                   .values = values,
                                   .reach = 1});
    page.blocks.push_back(
        Words{"A convolution slides " + std::to_string(weights) + " learned numbers along; attention makes " +
              std::to_string(cells) +
              " new ones for each text. In pictures, SE layers weigh channels by all others, "
              "ECA layers by near ones."});
}

Table reach_table(const ReachSizes& sizes, int n) {
    const std::string of = std::to_string(n), m = "1 M";
    Table out{.title = "From the first token to the last: the path between them, and steps in sequence",
              .columns = {"", "what mixes", "path, " + of + " tokens", "path, " + m,
                          "steps, " + of + " tokens", "steps, " + m}};
    for (const Reach& r : reaches())
        add_cells(
            out,
            {words_cell(r.title), words_cell(r.weights), count_cell(std::llround(r.path(n, sizes))),
             count_cell(std::llround(r.path(kLongest, sizes))), count_cell(std::llround(r.steps(n, sizes))),
             count_cell(std::llround(r.steps(kLongest, sizes)))});
    return out;
}

/// Says whose costs are shown: the open model's, or one head's.
struct CostModel {
    std::string name = "one head";
    double heads = 1, kept = 0;  // of all layers; floats of k and v per token
    std::optional<float> context;
};

CostModel cost_model(const StationInput& input) {
    CostModel out;
    if (!input.model) return out;
    const ModelConfig& c = input.model->config;
    out.name = input.model->name + ", " + std::to_string(c.head_count()) + " heads";
    out.heads = c.head_count();
    for (int b = 0; b < c.blocks(); ++b) out.kept += double(c.kv_heads(b)) * (c.d_head(b) + c.d_value(b));
    if (c.context > 0) out.context = float(c.context);
    return out;
}

/// Plots scores, or bytes of float32, of each kind of attention for texts of 16 tokens to 1 M.
Curves cost_curves(const CostModel& model, const ReachSizes& sizes, double each, std::string title,
                   std::string y_is) {
    Curves out{.title = std::move(title),
               .x_is = "n, tokens",
               .y_is = std::move(y_is),
               .log_x = true,
               .log_y = true,
               .mark_x = model.context,
               .mark_name = model.context ? "context" : ""};
    std::vector<float> lengths;
    for (float n = 16; n <= kLongest; n *= 2) lengths.push_back(n);
    for (const Reach& r : reaches())
        if (*r.scores_formula) {
            Curves::Line line =
                line_through(std::string(r.title) + ": " + r.scores_formula, lengths, false,
                             [&](float n) { return each * model.heads * r.scores(n, sizes); });
            line.color = isize(out.lines);  // same colors in both plots
            out.lines.push_back(std::move(line));
        }
    if (each > 1 && model.kept > 0)
        out.lines.push_back(
            line_through("KV cache", lengths, true, [&](float n) { return each * model.kept * n; }));
    return out;
}

}  // namespace

void HardSoftState::visit(ControlVisitor& v) {
    v.whole("draws", "Draws", draws, 1, 4096);
    v.whole("half_width", "Half window D", half_width, 1, 64);
    v.whole("stride", "Stride", stride, 2, 64);
    v.whole("window", "Window w", window, 2, 65536);
    v.whole("rank", "Rank r", rank, 1, 65536);
    v.whole("seed", "Seed", seed, 1, 1000);
}

Result<Page> hard_soft_page(const StationInput& input, const HardSoftState& state, ThreadPool&) {
    const ReachSizes sizes{.kernel = 3, .window = state.window, .rank = state.rank};
    const CostModel model = cost_model(input);
    Page page;
    int n = 16;
    if (has_head_scores(input)) {
        const ScoredRow row = scored_row(input);
        n = isize(row.scores);
        const bool has_values = input.trace->attention(input.block).v.rows() == n;
        const Matrix values = has_values ? input.trace->v(input.block, input.head).all() : Matrix::Zero(n, 1);
        const HardDraws draws = draw_hard(row.weights, values, state.draws, narrow<unsigned>(state.seed));
        page.note = "head " + head_name(input.trace->config(), input.block, input.head) +
                    "; p of the predictive window from random W and v";
        page.blocks = {choice_bars(input, state, row, draws)};
        page.main = isize(page.blocks);
        if (has_values) {
            const HardGradient gradient = hard_gradient(row.weights, rewards_of(values, draws.mixture),
                                                        state.draws, narrow<unsigned>(state.seed));
            if (!gradient.errors.empty()) page.blocks.push_back(gradient_finding(gradient));
            page.blocks.push_back(draw_curves(draws));
            page.blocks.push_back(gradient_curves(gradient));
        }
        add_fixed_and_made(input, state.half_width, page);
    }
    page.blocks.push_back(reach_table(sizes, n));
    page.blocks.push_back(cost_curves(model, sizes, 1, "Scores of " + model.name, "scores"));
    page.blocks.push_back(cost_curves(model, sizes, 4, "Bytes of all patterns in float32", "bytes"));
    return page;
}

}  // namespace headlight::learn

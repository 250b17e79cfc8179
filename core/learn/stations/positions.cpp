// Computes the station "Positions".
#include "learn/stations/positions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/attention/positions.h"
#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "io/numbers.h"
#include "learn/later_start.h"
#include "learn/once_per_model.h"
#include "learn/page_parts.h"
#include "model/position_scheme.h"
#include "model/sinusoids.h"

namespace headlight::learn {

std::vector<float> dots_by_distance(int width, double base, int count) {
    HEADLIGHT_CHECK(width % 2 == 0);
    std::vector<float> out;
    for (int d = 0; d < count; ++d) {
        double sum = 0;
        for (int i = 0; i < width / 2; ++i) sum += std::cos(d / std::pow(base, 2.0 * i / width));
        out.push_back(float(sum));
    }
    return out;
}

ClosestRows closest_rows(const ConstMatrixRef& rows) {
    HEADLIGHT_CHECK(rows.rows() >= 2);
    ClosestRows out{0, 1, std::numeric_limits<float>::infinity()};
    for (int i = 0; i < rows.rows(); ++i)
        for (int j = i + 1; j < rows.rows(); ++j)
            if (const float apart = (rows.row(i) - rows.row(j)).norm(); apart < out.distance)
                out = {i, j, apart};
    return out;
}

namespace {

/// Returns "3 cute": positions, and the sentence's tokens there.
std::vector<std::string> position_labels(const StationInput& in, int count) {
    std::vector<std::string> out = counted(count);
    if (!in.trace || in.trace->config().can.read_image) return out;
    const auto tokens = token_labels(*in.trace, 0);
    for (int i = 0; i < std::min(count, isize(tokens)); ++i) out[i] += " " + shorten_middle(tokens[i], 10);
    return out;
}

std::vector<float> whole_numbers(int count) {
    std::vector<float> out(count);
    std::iota(out.begin(), out.end(), 0.0f);
    return out;
}

/// Plots four of the sine columns over the positions, from the fastest to the slowest.
Curves waves(const Matrix& table, int width, double base) {
    Curves out;
    out.title = "Some components, position by position";
    out.x_is = "position";
    out.y_is = "value";
    const int half = width / 2, drawn = std::min(4, half);
    for (int n = 0; n < drawn; ++n) {
        const int i = drawn == 1 ? 0 : n * (half - 1) / (drawn - 1);
        const double period = 2 * M_PI * std::pow(base, 2.0 * i / width);
        Curves::Line line;
        line.name = "sine " + std::to_string(i) + ": period " + decimals(period, period < 100 ? 1 : 0);
        line.x = whole_numbers(narrow<int>(table.rows()));
        for (Index p = 0; p < table.rows(); ++p) line.y.push_back(table(p, i));
        out.lines.push_back(std::move(line));
    }
    return out;
}

/// Plots the dot products of the first and of a middle position with later ones, beside the sum of cosines.
Curves by_distance(const Matrix& table, int width, double base) {
    const int count = narrow<int>(table.rows());
    Curves out;
    out.title = "Dot product of two positions by their distance";
    out.x_is = "distance";
    out.y_is = "dot product";
    for (const int from : {0, count / 2}) {
        Curves::Line line;
        line.name = "from position " + std::to_string(from);
        for (int p = from; p < count; ++p) {
            line.x.push_back(float(p - from));
            line.y.push_back(table.row(from).dot(table.row(p)));
        }
        out.lines.push_back(std::move(line));
    }
    out.lines.push_back(
        {"Σᵢ cos(distance · ωᵢ)", whole_numbers(count), dots_by_distance(width, base, count), {}, true});
    return out;
}

/// Lists the closest two of the first 512 positions, with more and more components.
Table uniqueness(int width, double base) {
    constexpr int kPositions = 512;
    Table out;
    out.title = "The two closest of the first 512 positions";
    out.columns = {"components", "position", "and position", "distance"};
    std::vector<int> widths;
    for (int w = 2; w < width; w *= 2) widths.push_back(w);
    widths.push_back(width);
    for (const int w : widths) {
        const ClosestRows pair = closest_rows(sinusoids(w, 0, kPositions, base));
        out.rows.push_back({std::to_string(w), std::to_string(pair.first), std::to_string(pair.second),
                            decimals(double(pair.distance), 4)});
        out.values.push_back({double(w), double(pair.first), double(pair.second), double(pair.distance)});
    }
    return out;
}

bool reads_tokens(const StationInput& in) { return in.trace && !in.trace->config().can.read_image; }

/// Shows signed values of positions, by components or by other positions.
Grid position_grid(const std::string& title, const std::string& columns_are,
                   const std::vector<std::string>& labels, const Matrix& values) {
    const auto rows = narrow<int>(values.rows());
    return {title,
            "position",
            columns_are,
            {labels.begin(), labels.begin() + rows},
            counted(narrow<int>(values.cols())),
            values,
            true,
            "",
            std::nullopt};
}

/// Shows how the open model itself compares two positions, if it does.
std::optional<Grid> between_of_model(const StationInput& in, int count,
                                     const std::vector<std::string>& labels) {
    if (!reads_tokens(in) || !in.trace->has_weights()) return std::nullopt;
    PositionsRequest request{in.trace->config().block(in.block).stack, 0, in.head, count};
    request.clamp_to(*in.trace);
    const Positions found = positions_of(*in.trace->model, request);
    if (found.between.size() == 0) return std::nullopt;
    return position_grid("In " + in.trace->model->name + ": " + positions_row(found.scheme).title, "position",
                         labels, found.between);
}

/// Gives the open model its positions in one way: unchanged, none, or shuffled.
struct ChangedPositions {
    std::string title, change;  // as --change reads it; "": none
    std::shared_ptr<const Trace> trace;
};

Result<std::vector<ChangedPositions>> positions_in_each_way(const StationInput& in, int seed,
                                                            ThreadPool& pool) {
    const Trace& trace = *in.trace;
    std::vector<ChangedPositions> out{{"as they are", "", nullptr},
                                      {"switched off", "positions:off", nullptr},
                                      {"shuffled", "positions:shuffle:" + std::to_string(seed), nullptr}};
    for (ChangedPositions& run : out) {
        ForwardRequest request = trace.request;
        std::erase_if(request.intervention.changes,
                      [](const Change& c) { return change_row(c.kind).target == ChangeTarget::positions; });
        if (!run.change.empty()) {
            TRY(Change change, parse_change(trace.config(), run.change));
            request.intervention.changes.push_back(std::move(change));
        }
        TRY(run.trace, run_trace(trace.model, std::move(request), pool, in.cancel, in.trace));
    }
    return out;
}

/// Shows the selected head's pattern; masked cells are empty.
Grid pattern_grid(const StationInput& in, const ChangedPositions& run) {
    const Matrix weights = masked_pattern(*run.trace, in.block, in.head);
    const float nothing = std::numeric_limits<float>::quiet_NaN();
    const AttentionBlock block = run.trace->config().block(in.block);
    return {"Head " + head_name(run.trace->config(), in.block, in.head) + ", positions " + run.title,
            "query",
            "key",
            token_labels(*run.trace, block.stack),
            token_labels(*run.trace, block.key_stack),
            (weights.array() < 0).select(Matrix::Constant(weights.rows(), weights.cols(), nothing), weights),
            false,
            "",
            in.query_of(narrow<int>(weights.rows()))};
}

/// Lists the prediction in each way, and what becomes of the model's own.
std::optional<Table> prediction_table(const std::vector<ChangedPositions>& all, ThreadPool& pool) {
    const Trace& own = *all[0].trace;
    if (!own.model->has_logits() || predicting_positions(own).empty()) return std::nullopt;
    const int at = predicting_positions(own).back();
    const int id = predictions(own, at, 1, pool)[0].id;
    const std::string first = prediction_label(*own.model, id);
    Table out{
        "What comes next", {"positions", "prediction", "p", "p of “" + first + "”", "as a change"}, {}, {}};
    for (const ChangedPositions& run : all) {
        const Prediction best = predictions(*run.trace, at, 1, pool)[0];
        add_cells(out, {words_cell(run.title), words_cell(prediction_label(*own.model, best.id)),
                        number_cell(double(best.probability), 3),
                        number_cell(double(probabilities_at(*run.trace, at, pool)[id]), 3),
                        words_cell(run.change.empty() ? "none" : run.change)});
    }
    return out;
}

/// Plots how sure the model stays if the same words begin later; none if it neither continues nor translates.
Result<std::optional<Curves>> later_curve(const StationInput& in, ThreadPool& pool) {
    static OncePerModel<std::vector<int>, LaterStarts> measured;
    const auto& model = in.trace->model;
    const Sequence& text = in.trace->request.inputs[0];
    TRY(const LaterStarts found,
        measured.of(model, text.ids, [&] { return later_starts(model, text, pool, in.cancel); }));
    if (found.starts.size() < 2) return std::optional<Curves>();
    Curves::Line line{.name =
                          model->name + ", " + position_scheme(model->config.positions).name + " positions"};
    for (const LaterStart& at : found.starts) {
        line.x.push_back(float(at.first));
        line.y.push_back(at.probability);
    }
    return std::optional(
        Curves{.title = "The same words, beginning later: only their positions grow",
               .x_is = "position of the first token",
               .y_is = "p of " + found.what,
               .lines = {std::move(line)},
               .mark_x = float(found.last),
               .mark_name = "no position after " + std::to_string(found.last + text.size() - 1)});
}

/// Says what becomes of the words at the last start at which they fit.
Words later_finding(const Curves& curve, const Model& model) {
    const auto& line = curve.lines[0];
    const bool learned = model.config.positions == PositionScheme::learned;
    return {"Beginning at " + std::to_string(int(line.x.back())) + ", p goes from " +
            decimals(double(line.y.front()), 3) + " to " + decimals(double(line.y.back()), 3) +
            (learned
                 ? ". These positions are a learned table: after its last row there is none."
                 : ". A position has a code at any length, but what training never showed need not work.")};
}

bool can_change_positions(const StationInput& in) {
    return reads_tokens(in) && in.trace->has_weights() && in.trace->config().has_head({in.block, in.head}) &&
           in.trace->config().positions != PositionScheme::none &&
           std::max(in.trace->query_count(in.block), in.trace->key_count(in.block)) <= kMaxMapped;
}

Status add_changed(const StationInput& in, int seed, ThreadPool& pool, Page& page) {
    TRY(const auto all, positions_in_each_way(in, seed, pool));
    for (const ChangedPositions& run : all) page.blocks.push_back(pattern_grid(in, run));
    if (auto table = prediction_table(all, pool)) page.blocks.push_back(std::move(*table));
    return success();
}

}  // namespace

Result<Page> positions_page(const StationInput& in, const PositionsState& state, ThreadPool& pool) {
    const int width = state.width / 2 * 2, count = state.count;
    const double base = double(state.base);
    const Matrix table = sinusoids(width, 0, count, base);
    const auto labels = position_labels(in, count);
    Page page;
    if (can_change_positions(in)) TRY_STATUS(add_changed(in, state.seed, pool, page));
    page.blocks.push_back(waves(table, width, base));
    page.main = isize(page.blocks);
    page.blocks.push_back(
        position_grid("A vector for each position", "component: sines, then cosines", labels, table));
    Grid between =
        position_grid("Dot product of two positions", "position", labels, table * table.transpose());
    between.marked_row = in.query_of(reads_tokens(in) ? std::min(count, in.trace->query_count(0)) : count);
    page.blocks.push_back(std::move(between));
    if (auto own = between_of_model(in, count, labels)) page.blocks.push_back(std::move(*own));
    page.blocks.push_back(by_distance(table, width, base));
    page.blocks.push_back(uniqueness(width, base));
    if (can_change_positions(in)) {
        TRY(auto later, later_curve(in, pool));
        if (later) {
            page.blocks.push_back(later_finding(*later, *in.trace->model));
            page.blocks.push_back(std::move(*later));
        }
    }
    page.note = std::to_string(width) + " components, base " + decimals(base, 0);
    return page;
}

}  // namespace headlight::learn

// Computes the station "Implicit attention".
#include "learn/stations/implicit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/attribution/contribution.h"
#include "analysis/attribution/influence_map.h"
#include "base/quoted.h"
#include "learn/page_parts.h"
#include "learn/random_layers.h"
#include "learn/stations/first_head.h"
#include "learn/stations/pictures.h"
#include "model/loading/parameters.h"

namespace headlight::learn {

namespace {

constexpr int kMaxLinks = 128;

struct ImplicitWay {
    const char *title, *formula, *source;
};
constexpr ImplicitWay kImplicitWays[] = {
    {"What moves the output", "‖∂x / ∂E‖", "implicit attention, as shares"},
    {"What the head looks at", "softmax(q · k / √d)", "its weights"},
    {"Attention through all layers", "Π (½ A + ½ I)", "rollout, Abnar and Zuidema 2020"},
    {"What attention moves", "‖Σ α v W_O‖", "contributions, Kobayashi et al. 2020"}};

std::vector<float> as_shares(std::vector<float> row) {
    float sum = 0;
    for (const float v : row) sum += v;
    for (float& v : row) v /= std::max(sum, 1e-30f);
    return row;
}

std::vector<float> row_of_keys(const Matrix& map, const StationInput& in, int row) {
    const Matrix keys = of_keys(map, *in.trace, in.block).row(row);
    return {keys.data(), keys.data() + keys.size()};
}

/// Computes the rows of the page, one for each of kImplicitWays.
Result<std::vector<std::vector<float>>> implicit_rows(const StationInput& in, int layer, int query,
                                                      const Matrix& pattern, ThreadPool& pool) {
    const Trace& trace = *in.trace;
    const int stack = trace.config().block(in.block).stack;
    InfluenceMapRequest request;
    request.stack = stack;
    request.layer = layer;
    TRY(const JacobianNorms answers,
        jacobian_rows(trace, {stack, layer}, query, 1, probes_by_cost(trace, request), pool, in.cancel));
    std::vector<std::vector<float>> out{as_shares(row_of_keys(answers.norms, in, 0)),
                                        {pattern.row(query).begin(), pattern.row(query).end()}};
    TRY(const Matrix rollout,
        shares_through(trace, stack, layer, rollout_shares(trace, {}), pool, in.cancel));
    TRY(const Matrix moved,
        shares_through(trace, stack, layer, contribution_shares(trace, {}, pool), pool, in.cancel));
    out.push_back(row_of_keys(rollout, in, query));
    out.push_back(row_of_keys(moved, in, query));
    return out;
}

/// Computes Spearman's ρ with the first row, over the keys that can affect the output.
float agreement(const std::vector<float>& answers, const std::vector<float>& row) {
    std::vector<float> x, y;
    for (size_t i = 0; i < answers.size(); ++i)
        if (answers[i] > 0) {
            x.push_back(answers[i]);
            y.push_back(std::max(row[i], 0.0f));
        }
    return x.size() < 3 ? std::numeric_limits<float>::quiet_NaN() : rank_correlation(x, y);
}

void add_implicit_rows(const StationInput& in, int query, const std::vector<std::vector<float>>& rows,
                       Page& page) {
    BarRows bars{.columns = key_labels(in), .cells = cells_of(query, isize(rows[0]))};
    Table table{.title = "Do they rank the tokens alike?", .columns = {"", "ρ with the first row"}};
    for (size_t i = 0; i < std::size(kImplicitWays); ++i) {
        std::vector<float> values = rows[i];
        for (size_t key = 0; key < values.size(); ++key)
            if (rows[0][key] == 0 && values[key] <= 0) values[key] = std::numeric_limits<float>::quiet_NaN();
        bars.rows.push_back({.title = kImplicitWays[i].title,
                             .formula = kImplicitWays[i].formula,
                             .source = kImplicitWays[i].source,
                             .values = std::move(values),
                             .emphasized = i == 0});
        if (i > 0)
            add_cells(table,
                      {words_cell(kImplicitWays[i].title), number_cell(double(agreement(rows[0], rows[i])))});
    }
    page.blocks = {
        std::move(bars), std::move(table),
        Words{"A head that looks at a token need not use it; a token may count that no head looks at: an "
              "earlier layer carried it along."}};
}

struct RandomStack {
    const char* name;
    double gain;  // of W
    bool residual;
};
constexpr RandomStack kRandomStacks[] = {{"x + tanh(W x) ÷ √layers", 0.9, true},
                                         {"tanh(W x), small W", 0.9, false},
                                         {"tanh(W x), large W", 2, false}};

/// Shows why the nudge arrives at all: what is left of a gradient below many layers.
void add_residual(Page& page) {
    constexpr int kLayers = 64, kWidth = 64;
    constexpr unsigned kSeed = 1;
    Curves curves{
        .title = "A gradient on its way down random layers of " + std::to_string(kWidth) + " numbers",
        .x_is = "layers passed",
        .y_is = "size, 1 at the top",
        .log_y = true};
    std::vector<float> depth(kLayers + 1);
    std::iota(depth.begin(), depth.end(), 0.0f);
    std::vector<double> last;
    for (const RandomStack& stack : kRandomStacks) {
        const std::vector<float> sizes =
            gradient_by_depth(kLayers, kWidth, stack.gain, stack.residual, kSeed);
        curves.lines.push_back(line_of(stack.name, depth, sizes));
        last.push_back(double(sizes.back()));
    }
    page.blocks.push_back(std::move(curves));
    page.blocks.push_back(
        Words{"Below " + std::to_string(kLayers) + " layers a gradient shrinks to " +
              fine_decimals(last[1], 2) + ", or with larger W grows to " +
              with_commas(std::llround(last[2])) + "; with the residual added, " + fine_decimals(last[0], 2) +
              ". Attention is such a skip connection between words: one step, however far."});
}

/// Lays shares of a vision model's tokens over its picture.
void add_patches(const StationInput& in, const std::vector<std::vector<float>>& rows, Page& page) {
    for (const int way : {1, 0})
        page.blocks.insert(
            page.blocks.begin(),
            weights_on_picture(*in.trace, kImplicitWays[way].title + std::string(", by patch"), rows[way]));
}

}  // namespace

std::optional<TellingCell> telling_nudge(const Trace& trace, std::optional<AttentionHead> chosen,
                                         ThreadPool& pool) {
    if (!trace.config().can.read_image) return telling_look(trace, chosen, pool);
    return TellingCell{chosen.value_or(AttentionHead{}), 0};
}

void ImplicitState::visit(ControlVisitor& v) { v.whole("after", "After layer", after, 0, kMaxLayers); }

Result<Page> implicit_page(const StationInput& in, const ImplicitState& state, ThreadPool& pool) {
    Page page;
    if (!in.trace || !in.trace->has_weights()) {
        page.blocks = {Words{"Open a model and type a sentence to see what its output depends on."}};
        return page;
    }
    const Trace& trace = *in.trace;
    const AttentionBlock block = trace.config().block(in.block);
    const int last = trace.config().stacks[block.stack].depth() - 1, layer = std::min(state.after, last),
              query = in.query_of(trace.query_count(in.block));
    page.limits = {{"after", last}};
    if (std::max(trace.query_count(in.block), trace.key_count(in.block)) > kMaxLinks) {
        page.blocks = {
            Words{trace.config().can.read_image
                      ? "This picture has more than 128 patches, and each would be asked; open the "
                        "built-in model scenes."
                      : "Type a sentence of at most 128 tokens: each of them is asked."}};
        return page;
    }
    page.note = "output of layer " + std::to_string(layer) + " at " +
                in_quotes(token_labels(trace, block.stack)[query]) + "; weights of head " +
                head_name(trace.config(), in.block, in.head);
    TRY(const auto rows, implicit_rows(in, layer, query, masked_pattern(trace, in.block, in.head), pool));
    add_implicit_rows(in, query, rows, page);
    if (trace.request.inputs[block.stack].picture) add_patches(in, rows, page);
    add_residual(page);
    page.main = 1;
    return page;
}

}  // namespace headlight::learn

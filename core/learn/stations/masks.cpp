// Computes the station "Masks".
#include "learn/stations/masks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/prediction/predict.h"
#include "base/quoted.h"
#include "learn/mask_ways.h"
#include "learn/page_parts.h"

namespace headlight::learn {

namespace {

struct WayRow {
    MaskWay way;
    const char *title, *formula, *source;
};
constexpr WayRow kWays[] = {
    {MaskWay::none, "No mask", "softmax(s)", ""},
    {MaskWay::infinity_before, "−∞ before the softmax", "softmax(s, hidden: −∞)", "Vaswani et al. 2017"},
    {MaskWay::zero_after, "0 after the softmax", "softmax(s), hidden: 0", "sums to less than 1"},
    {MaskWay::large_before, "−1e9 before the softmax", "softmax(s, hidden: −1e9)",
     "masked_fill(mask == 0, −1e9)"}};

/// Holds the scores of all queries on the page, and the keys that the selected mask allows them.
struct MaskedScores {
    Matrix scores;                           // [queries, keys]
    std::vector<std::vector<bool>> allowed;  // per query
    int query = 0, shown = 0;                // selected one, and its row
};

/// Makes the selected mask from the program's table (model/interventions/mask.h); padding: the last tokens.
class ChosenMask {
public:
    ChosenMask(const MasksState& state, int keys)
        : mask_(*Mask::parse(row_of(kNames, state.hides))), sentences_(keys, 0) {
        std::fill(sentences_.end() - std::clamp(state.padding, 0, keys - 1), sentences_.end(), kPadding);
    }
    bool allowed(int query, int key) const {
        return mask_.allowed({query, key, {.causal = false, .window = 0}, sentences_});
    }

private:
    static constexpr const char* kNames[] = {"none", "causal", "padding"};
    Mask mask_;
    std::vector<int> sentences_;
};

MaskedScores masked_scores(const StationInput& input, const MasksState& state) {
    const int queries = input.trace->query_count(input.block), keys = input.trace->key_count(input.block),
              query = input.query < 0 ? queries / 2 : input.query_of(queries);  // the last sees all
    const bool all = std::max(queries, keys) <= kMaxMapped;
    const int first = all ? 0 : query, rows = all ? queries : 1;
    const ChosenMask mask(state, keys);
    MaskedScores out{Matrix(rows, keys), {}, query, query - first};
    for (int r = 0; r < rows; ++r) {
        const std::vector<float> row = head_scores(input, first + r);
        std::copy(row.begin(), row.end(), out.scores.row(r).data());
        out.allowed.emplace_back(keys);
        for (int key = 0; key < keys; ++key) out.allowed[r][key] = mask.allowed(first + r, key);
    }
    return out;
}

std::vector<float> row_weights(const MaskedScores& scene, int row, MaskWay way) {
    return masked_weights({scene.scores.row(row).data(), static_cast<size_t>(scene.scores.cols())},
                          scene.allowed[row], way);
}

float sum_of_weights(const std::vector<float>& weights) {
    float sum = 0;
    for (const float w : weights) sum += w;
    return sum;
}

std::string sum_note(const std::vector<float>& weights) {
    const float sum = sum_of_weights(weights);
    return std::isnan(sum) ? "0 ÷ 0: no weights" : "sum " + decimals(sum, 2);
}

/// Sets weights to NaN where a key is masked and has no weight.
void mark_hidden(std::vector<float>& weights, const std::vector<bool>& allowed) {
    for (int i = 0; i < isize(weights); ++i)
        if (!allowed[i] && weights[i] == 0) weights[i] = std::numeric_limits<float>::quiet_NaN();
}

BarRows way_bars(const MaskedScores& scene, std::vector<std::string> labels) {
    BarRows out{.columns = std::move(labels),
                .cells = cells_of(scene.query, narrow<int>(scene.scores.cols()))};
    for (const WayRow& way : kWays) {
        BarRows::Row row{.title = way.title,
                         .formula = way.formula,
                         .source = way.source,
                         .emphasized = way.way == MaskWay::infinity_before};
        Matrix all(scene.scores.rows(), scene.scores.cols());
        for (int r = 0; r < all.rows(); ++r) {
            std::vector<float> weights = row_weights(scene, r, way.way);
            if (r == scene.shown) row.note = sum_note(weights);
            if (way.way != MaskWay::none) mark_hidden(weights, scene.allowed[r]);
            std::copy(weights.begin(), weights.end(), all.row(r).data());
            if (r == scene.shown) row.values = std::move(weights);
        }
        if (all.rows() > 1) row.all = std::move(all);
        out.rows.push_back(std::move(row));
    }
    return out;
}

/// Adds the weights as training sees them: after dropout.
void add_dropout(const MaskedScores& scene, const MasksState& state, BarRows& bars) {
    const std::vector<float> own = row_weights(scene, scene.shown, MaskWay::infinity_before);
    std::vector<float> weights = dropped_out(own, state.dropout, narrow<unsigned>(state.seed));
    const int dropped =
        int(std::count(weights.begin(), weights.end(), 0.0f) - std::count(own.begin(), own.end(), 0.0f));
    std::string note = sum_note(weights) + ", " + std::to_string(dropped) + " dropped";
    mark_hidden(weights, scene.allowed[scene.shown]);
    bars.rows.push_back({.title = "Dropout, in training",
                         .formula = "0 with p " + decimals(double(state.dropout), 2) + ", else ÷ " +
                                    decimals(1 - double(state.dropout), 2),
                         .source = "Srivastava et al. 2014",
                         .values = std::move(weights),
                         .note = std::move(note)});
}

/// Rounds, so that sums that differ from 1 only by rounding look the same.
TableCell two_decimals(double value) { return {std::isnan(value) ? "—" : decimals(value, 2), value}; }

/// Tabulates row sums under each way to mask, over all queries of the page.
Table sum_table(const MaskedScores& scene) {
    Table out{.title = "Do rows sum to 1?",
              .columns = {"", "smallest sum", "largest sum", "rows without weights"}};
    for (const WayRow& way : kWays) {
        float low = std::numeric_limits<float>::infinity(), high = -low;
        int without = 0;
        for (int r = 0; r < scene.scores.rows(); ++r) {
            const float sum = sum_of_weights(row_weights(scene, r, way.way));
            without += std::isnan(sum);
            low = std::fmin(low, sum);
            high = std::fmax(high, sum);
        }
        const bool none = without == scene.scores.rows();
        const double nothing = std::numeric_limits<double>::quiet_NaN();
        add_cells(out, {words_cell(way.title), two_decimals(none ? nothing : low),
                        two_decimals(none ? nothing : high), number_cell(without)});
    }
    return out;
}

/// Shows the case in which −∞ and −1e9 differ: a fully masked row.
BarRows hidden_row() {
    const std::vector<float> scores{2, 1, 0};
    const std::vector<bool> allowed(scores.size(), false);
    BarRows out{.columns = {"2", "1", "0"}};
    for (const WayRow& way : kWays) {
        if (way.way == MaskWay::none) continue;
        std::vector<float> weights = masked_weights(scores, allowed, way.way);
        out.rows.push_back({.title = way.title,
                            .formula = way.formula,
                            .source = "scores 2, 1, 0, all hidden",
                            .values = weights,
                            .note = sum_note(weights)});
    }
    return out;
}

}  // namespace

void MasksState::visit(ControlVisitor& v) {
    static constexpr std::array<const char*, 3> kHides{"nothing", "later", "padding"};
    v.choose("hides", "Hidden", hides, kHides);
    v.whole("padding", "Padding tokens", padding, 0, 64);
    v.number("dropout", "Dropout", dropout, 0, 0.9f);
    v.whole("seed", "Seed", seed, 1, 999);
}

Result<Page> masks_page(const StationInput& input, const MasksState& state, ThreadPool&) {
    Page page;
    if (!has_head_scores(input)) {
        page.blocks = {Words{"Open a model and type a sentence to see its scores under each mask."},
                       hidden_row()};
        return page;
    }
    const MaskedScores scene = masked_scores(input, state);
    const AttentionBlock block = input.trace->config().block(input.block);
    page.note = "scores of head " + head_name(input.trace->config(), input.block, input.head) + " for " +
                in_quotes(token_labels(*input.trace, block.stack)[scene.query]) + ", masked here";
    if (state.hides != MasksState::Hides::padding) page.idle.push_back({"padding", "hides=padding"});
    page.limits = {{"padding", input.trace->key_count(input.block) - 1}};
    BarRows ways = way_bars(scene, key_labels(input));
    if (state.dropout > 0)
        add_dropout(scene, state, ways);
    else
        page.idle.push_back({"seed", "dropout=0.3"});
    page.blocks = {
        std::move(ways), sum_table(scene),
        Words{"−1e9 in float32 gives the same zeros as −∞. Only a row whose keys are all hidden tells "
              "them apart: −∞ leaves 0 ÷ 0, −1e9 makes all scores equal again. In float16, which ends "
              "at 65,504, −1e9 is −∞."},
        hidden_row()};
    page.main = 1;
    return page;
}

}  // namespace headlight::learn

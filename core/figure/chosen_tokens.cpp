// Selects the tokens of a figure.
#include "figure/chosen_tokens.h"

#include <limits>
#include <numeric>

#include "analysis/comparison/words.h"
#include "base/cast.h"

namespace headlight {

namespace {

Result<ChosenTokens> choose(const Sequence& sequence, const std::vector<std::string>& all,
                            const std::string& wanted, bool join) {
    ChosenTokens out;
    TRY(out.kept, read_positions(wanted, isize(all)));
    std::vector<int> numbers(all.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    if (join) numbers = word_numbers(sequence.tokens);
    std::vector<std::string> labels;
    for (size_t i = 0; i < out.kept.size(); ++i) {
        const auto number = [&](size_t at) { return numbers[out.kept[at]]; };
        out.words.push_back(i == 0 ? 0 : out.words.back() + (number(i) != number(i - 1)));
        labels.push_back(all[out.kept[i]]);
    }
    out.labels = join_labels(labels, out.words);
    return out;
}

}  // namespace

Result<ChosenAxes> chosen_axes(const Trace& trace, int block, const FigureStyle& style,
                               const std::vector<std::string>& query_labels,
                               const std::vector<std::string>& key_labels) {
    const AttentionBlock where = trace.config().block(block);
    const bool alike = where.stack == where.key_stack;
    ChosenAxes out;
    TRY(out.queries, choose(trace.request.inputs[where.stack], query_labels, style.tokens, style.join_words));
    TRY(out.keys, choose(trace.request.inputs[where.key_stack], key_labels,
                         style.keys.empty() && alike ? style.tokens : style.keys, style.join_words));
    return out;
}

Matrix chosen_weights(const Matrix& weights, const ChosenAxes& axes, const FigureStyle& style) {
    const Matrix kept = weights(axes.queries.kept, axes.keys.kept);
    return style.join_words ? join_pattern(kept, axes.queries.words, axes.keys.words) : kept;
}

Status choose_tokens(NumberTable& table, const Trace& trace, int block, const FigureStyle& style) {
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    if (style.tokens.empty() && style.keys.empty() && !style.join_words) return success();
    TRY(const ChosenAxes axes, chosen_axes(trace, block, style, table.rows, table.columns));
    const Matrix masked = table.values.array().isNaN().select(kMasked, table.values);
    const Matrix chosen = chosen_weights(masked, axes, style);
    table.values = (chosen.array() <= kMasked).select(kNone, chosen);
    table.rows = axes.queries.labels;
    table.columns = axes.keys.labels;
    return success();
}

}  // namespace headlight

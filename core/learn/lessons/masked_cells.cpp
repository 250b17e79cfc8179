#include "learn/lessons/masked_cells.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "analysis/prediction/predict.h"

namespace headlight::lessons {

namespace {

/// Cells beyond these are not told apart: far more than any task allows.
constexpr size_t kMaxCells = 100000;

/// Attention block, head (−1: all), query, key.
using Cell = std::tuple<int, int, int, int>;

std::string counted_things(int count, const std::string& one, bool begins) {
    static constexpr std::array<const char*, 9> kWords = {"no",   "one", "two",   "three", "four",
                                                          "five", "six", "seven", "eight"};
    std::string number = count < std::ssize(kWords) ? kWords[count] : std::to_string(count);
    if (begins && number[0] >= 'a') number[0] = static_cast<char>(number[0] - 'a' + 'A');
    return number + " " + one + (count == 1 ? "" : "s");
}

/// The attention block whose tokens a change's cells are: its own, or the last self-attention block.
int block_of_cells(const ModelConfig& config, const Change& change) {
    if (change.block >= 0) return change.block;
    for (int block = config.blocks() - 1; block > 0; --block)
        if (change.concerns(config, block)) return block;
    return 0;
}

/// Adds the cells of a change that the model's own mask leaves open.
void add_masked(const Trace& trace, const Change& change, std::set<Cell>& cells) {
    const int block = block_of_cells(trace.config(), change);
    const AttentionBlock at = trace.config().block(block);
    const bool causal = at.kind != AttentionKind::cross && trace.config().stacks[at.stack].causal;
    const int queries = std::min(trace.query_count(block), change.query + change.queries);
    const int keys = std::min(trace.key_count(block), change.key + change.keys);
    for (int query = std::max(0, change.query); query < queries; ++query)
        for (int key = std::max(0, change.key); key < keys && cells.size() < kMaxCells; ++key)
            if (!causal || key <= query) cells.insert({change.block, change.head, query, key});
}

std::string name_of(const Trace& trace, const Change& change) {
    const auto& block = trace.config().block(change.paints() ? block_of_cells(trace.config(), change)
                                                             : std::max(0, change.block));
    const auto queries = token_labels(trace, block.stack), keys = token_labels(trace, block.key_stack);
    const std::string label = change_label(trace.config(), change, {queries, keys});
    const std::string verb = "mask ";  // the panel says already that these are masked
    return change.kind == ChangeKind::mask && label.starts_with(verb) ? label.substr(verb.size()) : label;
}

}  // namespace

std::string Used::counted() const {
    if (heads == 0) return counted_things(cells, "cell", true);
    if (cells == 0) return counted_things(heads, "head", true);
    return counted_things(cells, "cell", true) + " and " + counted_things(heads, "head", false);
}

Used used_by(const Trace& trace, Means means) {
    const Intervention& now = trace.request.intervention;
    const ModelConfig& config = trace.config();
    std::set<Cell> cells;
    std::set<std::pair<int, int>> heads;
    Used out;
    constexpr size_t kNamed = 4;
    if (!now.mask.is_own()) out.other = "the mask “" + now.mask.label() + "”";
    for (size_t i = 0; i < now.changes.size(); ++i) {
        const Change& change = now.changes[i];
        const bool masks = change.kind == ChangeKind::mask && means != Means::ablate;
        const bool ablates = change_row(change.kind).ablates && means != Means::mask;
        if (!masks && !ablates) {
            out.other = "“" + name_of(trace, change) + "”";
            continue;
        }
        if (masks) add_masked(trace, change, cells);
        if (ablates)
            for (int head = 0; head < config.heads(std::max(0, change.block)); ++head)
                if (change.head < 0 || change.head == head) heads.insert({change.block, head});
        if (i < kNamed) out.label += (out.label.empty() ? "" : ", ") + name_of(trace, change);
    }
    out.cells = narrow<int>(cells.size());
    out.heads = narrow<int>(heads.size());
    if (now.changes.size() > kNamed) out.label = out.counted();
    return out;
}

}  // namespace headlight::lessons

// Accumulates patterns weighted by their gradients.
#include "analysis/attribution/relevance.h"

#include <algorithm>
#include <utility>

#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"

namespace headlight {

namespace {

std::vector<int> included_heads(const Trace& trace, const IncludedHeads& included, int block) {
    std::vector<int> out;
    for (int h = 0; h < trace.config().heads(block); ++h)
        if (!included.left_out.count({block, h})) out.push_back(h);
    return out;
}

Matrix positive_part(const GradientTile& tile) {
    return tile.by_weights.cwiseProduct(tile.pattern.weights).cwiseMax(0.0f);
}

}  // namespace

RelevanceWalk::RelevanceWalk(const Trace& trace, const IncludedHeads& included, std::vector<int> blocks,
                             PathWalk& walk)
    : trace_(trace), included_(included), blocks_(std::move(blocks)), walk_(walk) {}

void RelevanceWalk::begin(int block) {
    end_block();
    if (!contains(blocks_, block)) return;
    walk_.go_to(block);
    block_ = block;
    const Index starts = walk_.moving(trace_.config().block(block).stack).rows();
    sums_ = Matrix::Zero(starts * trace_.config().heads(block), trace_.key_count(block));
}

void RelevanceWalk::see(int block, const GradientTile& tile) {
    const PatternTile& at = tile.pattern;
    if (block != block_ || included_.left_out.count({block, at.head})) return;
    const auto above = walk_.moving(trace_.config().block(block).stack)
                           .row(tile.output)
                           .segment(at.first, at.weights.rows());
    if (above.maxCoeff() <= 0) return;
    sums_.row(tile.output * trace_.config().heads(block) + at.head)
        .segment(at.first_key, at.weights.cols()) += above * positive_part(tile);
}

void RelevanceWalk::end_block() {
    if (block_ < 0) return;
    const int block = std::exchange(block_, -1), heads = trace_.config().heads(block);
    const size_t counted = included_heads(trace_, included_, block).size();
    if (counted == 0) return;
    Matrix brought(sums_.rows() / heads, sums_.cols());
    for (Index i = 0; i < brought.rows(); ++i)
        brought.row(i) = sums_.middleRows(i * heads, heads).colwise().sum() / float(counted);
    walk_.bring(block, brought);
}

void RelevanceWalk::finish() {
    end_block();
    walk_.finish();
}

WeightedPatterns::WeightedPatterns(const Trace& trace, const IncludedHeads& included, std::vector<int> blocks,
                                   Take take)
    : trace_(trace), included_(included), blocks_(std::move(blocks)), take_(std::move(take)) {}

void WeightedPatterns::begin(int block) {
    finish();
    if (!contains(blocks_, block)) return;
    check_fits(int64_t{trace_.query_count(block)} * trace_.key_count(block) * 4);
    sum_ = Matrix::Zero(trace_.query_count(block), trace_.key_count(block));
    heads_ = included_heads(trace_, included_, block);
    block_ = block;
}

void WeightedPatterns::see(int block, const GradientTile& tile) {
    const PatternTile& at = tile.pattern;
    const auto head = std::find(heads_.begin(), heads_.end(), at.head);
    if (block != block_ || head == heads_.end()) return;
    Part part{at.first_key, positive_part(tile) / float(heads_.size())};
    std::lock_guard lock(mutex_);
    TileRows& rows = tiles_[at.first];
    rows.waiting.emplace(narrow<int>(head - heads_.begin()), std::move(part));
    for (auto next = rows.waiting.begin(); next != rows.waiting.end() && next->first == rows.next;
         next = rows.waiting.erase(next), ++rows.next) {
        const Matrix& add = next->second.weights;
        sum_.block(at.first, next->second.first_key, add.rows(), add.cols()) += add;
    }
}

void WeightedPatterns::finish() {
    if (block_ < 0) return;
    for (const auto& [first, rows] : std::exchange(tiles_, {})) HEADLIGHT_CHECK(rows.waiting.empty());
    take_(std::exchange(block_, -1), sum_);
}

}  // namespace headlight

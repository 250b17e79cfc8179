// Walks down the paths of attention.
#include "analysis/attribution/paths.h"

#include <algorithm>

#include "base/cast.h"
#include "base/check.h"
#include "base/memory.h"

namespace headlight {

namespace {

constexpr int kTile = 64;

/// to += a · b, by columns on the pool: the same sums for any number of threads.
void add_product(ThreadPool& pool, ConstMatrixRef a, ConstMatrixRef b, MatrixRef to) {
    constexpr Index kColumns = 256;
    pool.run(narrow<int>((b.cols() + kColumns - 1) / kColumns), [&](int i) {
        const Index first = i * kColumns, count = std::min(kColumns, b.cols() - first);
        to.middleCols(first, count).noalias() += a * b.middleCols(first, count);
    });
}

}  // namespace

std::vector<int> self_blocks(const ModelConfig& c, int stack) {
    std::vector<int> out;
    for (int layer = 0; layer < c.stacks[stack].depth(); ++layer)
        out.push_back(c.blocks_of(stack, layer).front());
    return out;
}

std::vector<int> blocks_down(const ModelConfig& c, int stack, int layer) {
    std::vector<int> out;
    for (int s = 0; s <= stack; ++s)
        for (int l = 0; l <= (s == stack ? layer : c.stacks[s].depth() - 1); ++l)
            for (const int block : c.blocks_of(s, l))
                if (c.block(block).kind != AttentionKind::beside) out.push_back(block);
    std::reverse(out.begin(), out.end());
    return out;
}

Vector moving_rows(const Trace& trace, const IncludedHeads& included, AttentionHead head, int first,
                   int rows) {
    const AttentionRule& rule = trace.rule(head.block);
    const HeadRule* change = rule.change(head.head);
    if (rule.skipped || included.left_out.count({head.block, head.head}) ||
        (change && change->z != HeadRule::Z::kept))
        return Vector::Zero(rows);
    Vector out = Vector::Ones(rows);
    for (int i = 0; i < rows; ++i)
        if (rule.given_out.replaces(first + i) || (change && change->given_z.replaces(first + i))) out[i] = 0;
    return out;
}

std::vector<int> replaced_rows(const Trace& trace, int stack, int layer) {
    const GivenRows& given = trace.stack(stack).layers[layer]->changed.resid_pre;
    std::vector<int> out;
    for (int row = 0; !given.empty() && row < trace.request.inputs[stack].size(); ++row)
        if (given.replaces(row)) out.push_back(row);
    return out;
}

BlockShares rollout_shares(const Trace& trace, const IncludedHeads& included) {
    return [&trace, included](int block) -> SharesOf {
        return [&trace, included, block](int first, int rows) {
            RowShares out{Matrix::Zero(rows, trace.key_count(block)), Vector::Ones(rows)};
            Vector heads = Vector::Zero(rows);
            const bool sinks = !trace.rule(block).sinks.empty();
            if (sinks) out.sinks = Vector::Zero(rows);
            for (int h = 0; h < trace.config().heads(block); ++h) {
                const Vector moving = moving_rows(trace, included, {block, h}, first, rows);
                if (moving.isZero()) continue;
                out.keys += moving.asDiagonal() * shares_of_keys(trace, {block, h}, first, rows);
                heads += moving;
            }
            for (int i = 0; i < rows; ++i) {
                if (heads[i] == 0) continue;
                out.keys.row(i) *= 0.5f / heads[i];
                // Leaves a share that sinks take to the stream, since they add nothing.
                out.residual_weight[i] = sinks ? 1 - out.keys.row(i).sum() : 0.5f;
                if (sinks) out.sinks[i] = out.residual_weight[i] - 0.5f;
            }
            return out;
        };
    };
}

PathWalk::PathWalk(const Trace& trace, int stack, int layer, const Matrix& starts)
    : trace_(trace), stack_(stack), layer_(layer) {
    check_fits(int64_t{starts.rows()} * trace.token_count() * 8);
    for (int s = 0; s <= stack; ++s) {
        moving_.push_back(Matrix::Zero(starts.rows(), trace.request.inputs[s].size()));
        replaced_.push_back(moving_.back());
    }
    HEADLIGHT_CHECK(starts.cols() == moving_.back().cols());
    moving_.back() = starts;
}

void PathWalk::pass_layer() {
    for (const int row : replaced_rows(trace_, stack_, layer_)) {
        auto from = moving_[stack_].col(row);
        replaced_[stack_].col(row) += from;
        from.setZero();
    }
    if (passed_layer) passed_layer(stack_, layer_);
    if (--layer_ >= 0 || stack_ == 0) return;
    --stack_;
    layer_ = trace_.config().stacks[stack_].depth() - 1;
}

void PathWalk::go_to(int block) {
    const AttentionBlock to = trace_.config().block(block);
    while (stack_ > to.stack || layer_ > to.layer) pass_layer();
    HEADLIGHT_CHECK(stack_ == to.stack && layer_ == to.layer);
}

void PathWalk::finish() {
    while (stack_ > 0 || layer_ >= 0) pass_layer();
}

void PathWalk::bring(int block, const Matrix& brought) {
    moving_[trace_.config().block(block).key_stack] += brought;
}

void PathWalk::scale(float by) {
    for (Matrix& stack : moving_) stack *= by;
    for (Matrix& stack : replaced_) stack *= by;
}

Matrix PathWalk::at(int stack) const { return moving_[stack] + replaced_[stack]; }

Matrix PathWalk::all() const {
    Matrix out = Matrix::Zero(moving_.back().rows(), trace_.token_count());
    for (int s = 0; s < isize(moving_); ++s) out.middleCols(trace_.first_token(s), moving_[s].cols()) = at(s);
    return out;
}

/// Computes shares of some rows at a time, so that memory grows with n, and only of reached rows.
void PathWalk::pass(int block, const SharesOf& shares_of, ThreadPool& pool) {
    constexpr Index kEntries = 1 << 22;
    Matrix& above = moving_[trace_.config().block(block).stack];
    const int n = narrow<int>(above.cols()), keys = trace_.key_count(block),
              together = kTile * narrow<int>(std::max<Index>(1, kEntries / (Index{kTile} * keys)));
    Matrix brought = Matrix::Zero(above.rows(), keys);
    Vector stays = Vector::Ones(n);
    for (int at = 0; at < n; at += together) {
        const int count = std::min(together, n - at);
        Matrix shares = Matrix::Zero(count, keys);
        pool.run((count + kTile - 1) / kTile, [&](int tile) {
            const int first = at + tile * kTile, rows = std::min(kTile, at + count - first);
            if (above.middleCols(first, rows).maxCoeff() <= 0) return;
            RowShares of = shares_of(first, rows);
            shares.middleRows(first - at, rows) = of.keys;
            stays.segment(first, rows) = of.residual_weight;
        });
        add_product(pool, above.middleCols(at, count), shares, brought);
    }
    above *= stays.asDiagonal();
    bring(block, brought);
}

void PathWalk::through(std::span<const int> blocks, const BlockShares& of_block, ThreadPool& pool) {
    for (const int block : blocks) {
        pool.stop_point();
        go_to(block);
        if (!trace_.rule(block).skipped && moving(stack_).maxCoeff() > 0) pass(block, of_block(block), pool);
    }
    finish();
}

Result<Matrix> shares_through(const Trace& trace, int stack, int layer, const BlockShares& of_block,
                              ThreadPool& pool, const CancelFlag* cancel) {
    return guarded([&]() -> Result<Matrix> {
        const CancelScope scope(pool, cancel);
        const Index n = trace.request.inputs[stack].size();
        check_fits(int64_t{n} * trace.token_count() * 8);
        PathWalk walk(trace, stack, layer, Matrix::Identity(n, n));
        walk.through(blocks_down(trace.config(), stack, layer), of_block, pool);
        return walk.all();
    });
}

}  // namespace headlight

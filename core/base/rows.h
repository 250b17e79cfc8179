// Stores one row per token in blocks that passes share, so that adding a row copies no other.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/matrix.h"
#include "base/spare.h"

namespace headlight {

inline constexpr Index kBlockRows = 64;

/// [n, width] of floats that never change. Copies and columns share the blocks of their source.
class Rows {
public:
    Rows() = default;
    /// Takes a matrix over.
    Rows(Matrix all);
    template <class Expression>
    Rows(const Eigen::MatrixBase<Expression>& all) : Rows(Matrix(all)) {}
    /// Appends `added` to the first `kept` rows of `past`, whose blocks it shares. Copies rows of the last
    /// block, at most 63, if the rows after them are not free: taken by another append (even of a cancelled
    /// pass), or too few, as in the last block of a first pass. Copies all rows if they would hold more than
    /// twice their memory. Any number of threads may read or extend `past` at the same time.
    Rows(const Rows& past, Index kept, Matrix added);

    Index rows() const { return rows_; }
    Index cols() const { return width_; }
    Index size() const { return rows_ * width_; }

    Eigen::Map<const Eigen::RowVectorXf> row(Index i) const {
        HEADLIGHT_DCHECK(i >= 0 && i < rows_);
        const Block& block = (*blocks_)[static_cast<size_t>(i / kBlockRows)];
        return {block.values + i % kBlockRows * stride_ + first_column_, width_};
    }
    /// Counts the rows from i on that lie `stride` floats apart in memory: the rest of its block.
    Index together(Index i) const { return std::min(rows_, (i / kBlockRows + 1) * kBlockRows) - i; }
    Index stride() const { return stride_; }
    Rows columns(Index first, Index count) const;
    Matrix middleRows(Index first, Index count) const;
    Matrix topRows(Index count) const { return middleRows(0, count); }
    Matrix bottomRows(Index count) const { return middleRows(rows_ - count, count); }
    Matrix all() const { return middleRows(0, rows_); }

private:
    /// Holds consecutive blocks. `taken`: leading rows that belong to some Rows; the first append to claim
    /// those after them gets them.
    struct Buffer {
        Buffer(Matrix all, Index rows_taken) : values(std::move(all)), taken(rows_taken) {}
        Buffer(const Buffer&) = delete;
        Buffer& operator=(const Buffer&) = delete;
        ~Buffer() { leave_spare(std::move(values)); }
        Matrix values;
        std::atomic<Index> taken;
    };
    struct Block {
        std::shared_ptr<Buffer> buffer;
        float* values;
    };

    /// Claims the rows after the first `kept` for `added`, if free, and stores them in the last of `blocks`.
    static bool take_rest(const Block& block, Index kept, const Matrix& added);
    static void add_buffer(std::vector<Block>& blocks, std::shared_ptr<Buffer> buffer);
    /// Counts the rows of all buffers that hold the blocks.
    static Index held_by(const std::vector<Block>& blocks);

    std::shared_ptr<const std::vector<Block>> blocks_;
    Index rows_ = 0, width_ = 0, stride_ = 0, first_column_ = 0;
};

}  // namespace headlight

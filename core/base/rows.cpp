// Stores rows in shared blocks.
#include "base/rows.h"

#include <iterator>

namespace headlight {

namespace {
size_t blocks_of(Index rows) { return static_cast<size_t>((rows + kBlockRows - 1) / kBlockRows); }
}  // namespace

void Rows::add_buffer(std::vector<Block>& blocks, std::shared_ptr<Buffer> buffer) {
    for (Index at = 0; at < buffer->values.rows(); at += kBlockRows)
        blocks.push_back({buffer, buffer->values.data() + at * buffer->values.cols()});
}

Rows::Rows(Matrix all) : rows_(all.rows()), width_(all.cols()), stride_(all.cols()) {
    std::vector<Block> blocks;
    add_buffer(blocks, std::make_shared<Buffer>(std::move(all), rows_));
    blocks_ = std::make_shared<const std::vector<Block>>(std::move(blocks));
}

Index Rows::held_by(const std::vector<Block>& blocks) {
    Index rows = 0;
    const Buffer* last = nullptr;
    for (const Block& block : blocks) {
        if (block.buffer.get() != last) rows += block.buffer->values.rows();
        last = block.buffer.get();
    }
    return rows;
}

bool Rows::take_rest(const Block& block, Index kept, const Matrix& added) {
    Buffer& buffer = *block.buffer;
    // the block's row in its buffer
    const Index first = (block.values - buffer.values.data()) / added.cols();
    Index free = first + kept;
    const Index end = free + added.rows();
    if (kept + added.rows() > kBlockRows || end > buffer.values.rows() ||
        !buffer.taken.compare_exchange_strong(free, end))
        return false;
    buffer.values.middleRows(end - added.rows(), added.rows()) = added;
    return true;
}

Rows::Rows(const Rows& past, Index kept, Matrix added) {
    HEADLIGHT_CHECK(kept >= 0 && kept <= past.rows_);
    if (kept == 0) {
        *this = Rows(std::move(added));
        return;
    }
    HEADLIGHT_CHECK(past.width_ == past.stride_ && added.cols() == past.width_);
    const auto end = past.blocks_->begin() + static_cast<std::ptrdiff_t>(blocks_of(kept));
    std::vector<Block> blocks(past.blocks_->begin(), end);
    if (held_by(blocks) > 2 * kBlockRows * std::ssize(blocks)) {
        *this = Rows(Rows(past.topRows(kept)), kept, std::move(added));
        return;
    }
    rows_ = kept + added.rows();
    width_ = stride_ = past.width_;
    const Index part = kept % kBlockRows;
    const bool fits = added.rows() == 0 || (part > 0 && take_rest(blocks.back(), part, added));
    if (!fits) {
        if (part > 0) blocks.pop_back();
        const Index rows = part + added.rows(), capacity = static_cast<Index>(blocks_of(rows)) * kBlockRows;
        auto buffer = std::make_shared<Buffer>(spare_matrix(capacity, width_), rows);
        buffer->values.topRows(part) = past.middleRows(kept - part, part);
        buffer->values.middleRows(part, added.rows()) = added;
        add_buffer(blocks, std::move(buffer));
    }
    leave_spare(std::move(added));
    blocks_ = std::make_shared<const std::vector<Block>>(std::move(blocks));
}

Rows Rows::columns(Index first, Index count) const {
    HEADLIGHT_CHECK(first >= 0 && count >= 0 && first + count <= width_);
    Rows part = *this;
    part.first_column_ += first;
    part.width_ = count;
    return part;
}

Matrix Rows::middleRows(Index first, Index count) const {
    HEADLIGHT_CHECK(first >= 0 && count >= 0 && first + count <= rows_);
    Matrix out(count, width_);
    for (Index i = 0; i < count; ++i) out.row(i) = row(first + i);
    return out;
}

}  // namespace headlight

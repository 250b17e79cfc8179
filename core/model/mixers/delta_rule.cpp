// Solves the delta rule by chunks of keys.
#include "model/mixers/delta_rule.h"

#include <algorithm>
#include <cmath>

#include "base/cast.h"
#include "kernels/choice.h"
#include "model/attention_products.h"
#include "model/mixers/mixing.h"

namespace headlight {

namespace {

using ChunkRow = Eigen::Array<float, 1, kChunkKeys>;
using ChunkMatrix = Eigen::Matrix<float, kChunkKeys, kChunkKeys, Eigen::RowMajor>;

/// y = x · w for rows of a chunk's width.
void multiply_chunk(const Matrix& x, const ChunkMatrix& w, Matrix& y) {
    kernels().multiply({.x = x.data(),
                        .x_stride = x.outerStride(),
                        .rows = x.rows(),
                        .w = w.data(),
                        .w_stride = kChunkKeys,
                        .depth = kChunkKeys,
                        .width = kChunkKeys,
                        .y = y.data(),
                        .y_stride = y.outerStride(),
                        .begin = true,
                        .bias = nullptr});
}

/// Returns e^x of each x ≤ 0, 0 where that is negligible.
ChunkRow decay_of(const ChunkRow& x) {
    static const float least = std::log(kNegligible);
    return (x < least).select(0.0f, x.exp());
}

/// Holds the keys [first, first + count) of one head, and what they do to a state that passes them.
struct Chunk {
    Index first, count;
    ChunkRow strengths = ChunkRow::Zero();       // β
    Eigen::Array<double, 1, kChunkKeys> decays;  // G; of keys that there are not, that of the last
    ChunkMatrix inverse = ChunkMatrix::Zero();   // (I + T)⁻¹
    Matrix products{kChunkKeys, kChunkKeys};     // of keys with keys

    Chunk(const Rows& k, const Rows& keys, Index begin)
        : first(begin), count(std::min(kChunkKeys, k.rows() - begin)) {
        double sum = 0;
        for (Index j = 0; j < kChunkKeys; ++j) {
            if (j < count) {
                const auto rates = k.row(first + j).tail<kKeyRates>();
                sum += rates[Index(KeyRate::decay)];
                strengths[j] = rates[Index(KeyRate::strength)];
            }
            decays[j] = sum;
        }
        products.setZero();
        multiply_keys(keys.middleRows(first, count), keys, narrow<int>(first),
                      products.topLeftCorner(count, count));
        invert();
    }
    /// Returns e^{G_t − G_j} for each key j up to t, 0 behind it.
    ChunkRow decay_from(Index t) const {
        ChunkRow out = decay_of((decays[t] - decays).cast<float>().min(0.0f));
        for (Index j = t + 1; j < kChunkKeys; ++j) out[j] = 0;
        return out;
    }
    /// Returns e^{G_l}, by which a state has decayed that passed the keys up to l.
    ChunkRow decay_behind() const { return decay_of(decays.cast<float>()); }

private:
    /// Solves (I + T) X = I from the first row on, so that row l follows from the keys up to l alone.
    void invert() {
        for (Index l = 0; l < count; ++l) {
            const ChunkRow t = decay_from(l) * strengths[l] * products.row(l).array();
            auto row = inverse.row(l);
            for (Index j = 0; j < l; ++j) row.head(j + 1) -= t[j] * inverse.row(j).head(j + 1);
            row[l] = 1;
        }
    }
};

/// Holds the states of some queries and what a chunk makes of them.
struct ChunkStates {
    Matrix r;  // [queries, d_head]
    Matrix b = {}, p = {}, written = {};

    /// Passes a chunk: p, then r behind it. `first`: the first of these queries.
    void pass(const Chunk& chunk, const Rows& keys, Index first) {
        const Index rows = r.rows();
        b.resize(rows, kChunkKeys);
        p.resize(rows, kChunkKeys);
        written.resize(rows, r.cols());
        b.setZero();
        multiply_keys(r, keys, narrow<int>(chunk.first), b.leftCols(chunk.count));
        const Index last = chunk.count - 1;
        const ChunkRow through = chunk.decay_from(last), behind = chunk.decay_behind();
        for (Index i = 0; i < rows; ++i) {
            const Index t = std::min(first + i - chunk.first, last);
            b.row(i).array() *= t == last ? through : chunk.decay_from(t);
        }
        multiply_chunk(b, chunk.inverse, p);
        p.array().rowwise() *= chunk.strengths;
        b = p.array().rowwise() * behind;
        weigh_values(b.leftCols(chunk.count), narrow<int>(chunk.first), keys, written);
        for (Index i = 0; i < rows; ++i)
            r.row(i) = behind[std::min(first + i - chunk.first, last)] * r.row(i) - written.row(i);
        drop_negligible(r);
        drop_negligible(p);
    }
};

}  // namespace

void delta_matrix(float scale, const Rows& q, const Rows& k, Index first, Index first_key, MatrixRef out) {
    const Rows keys = k.columns(0, k.cols() - kKeyRates);
    const Index last = first + out.rows(), end = first_key + out.cols();  // one past
    Matrix waiting = q.middleRows(first, out.rows()) * scale;             // those of queries before the chunk
    ChunkStates states{.r = Matrix(0, waiting.cols())};
    out.setZero();
    for (Index begin = (last - 1) / kChunkKeys * kChunkKeys; begin > first_key - kChunkKeys;
         begin -= kChunkKeys) {
        const Index own = std::max<Index>(0, begin - first);  // the first row that comes to this chunk
        Matrix coming(out.rows() - own, waiting.cols());
        coming.bottomRows(states.r.rows()) = states.r;
        coming.topRows(coming.rows() - states.r.rows()) =
            waiting.middleRows(own, coming.rows() - states.r.rows());
        states.r = std::move(coming);
        states.pass(Chunk(k, keys, begin), keys, first + own);
        const Index shown = std::max(begin, first_key), until = std::min(begin + kChunkKeys, end);
        if (shown < until)
            out.block(own, shown - first_key, states.p.rows(), until - shown) =
                states.p.middleCols(shown - begin, until - shown);
        if (own == 0 && states.r.isZero(0)) return;
    }
}

}  // namespace headlight

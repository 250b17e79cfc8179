#include "analysis/positions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "model/rope.h"
#include "model/sinusoids.h"

namespace headlight {

namespace {

constexpr int kMaxColumns = 256;

/// [count, width]: the vectors that are added to the tokens.
Matrix position_vectors(const ModelConfig& c, const Linear& table, int count, int first_row) {
    if (c.positions == PositionScheme::sinusoidal) return sinusoids(c.d_model, 0, count);
    Matrix whole(std::min<Index>(count, table.out - first_row), table.in);
    for (Index p = 0; p < whole.rows(); ++p) table.read(first_row + p, 0, table.in, whole.row(p).data());
    return whole;
}

/// Vectors that are added to the tokens, and their dot products (all components counted, also those that are
/// not shown).
void read_vectors(const ModelConfig& c, const Linear& table, int count, Positions& out) {
    out.first_row = c.can.read_image ? 0 : c.position_offset;  // a picture's position 0 is the class token's
    const Matrix whole = position_vectors(c, table, count, out.first_row);
    const int width = narrow<int>(whole.cols());
    out.between = whole * whole.transpose();
    const int step = (width + kMaxColumns - 1) / kMaxColumns;
    out.table.resize(whole.rows(), (width + step - 1) / step);
    const int half = (width + 1) / 2;
    for (int i = 0; i < out.table.cols(); ++i) {
        const int component = i * step;
        out.components.push_back(component);
        out.table.col(i) = whole.col(component);
        if (c.positions == PositionScheme::sinusoidal)
            out.waves.push_back(float(2 * M_PI * std::pow(10000.0, 2.0 * (component % half) / width)));
    }
}

/// Cosines of the angles that pairs turn by, and how alike a vector stays to itself when its two copies stand
/// apart: Σᵢ cos((m − n) θᵢ) / pairs, which is q·k / |q|² for a vector with equal parts in all pairs.
void read_rotations(const Rope& rope, int count, Positions& out) {
    const auto frequencies = rope_frequencies(rope, count);
    const int pairs = isize(frequencies);
    out.table.resize(count, pairs);
    std::vector<float> by_distance(count, 0);
    for (int i = 0; i < pairs; ++i) {
        const double frequency = frequencies[i];
        out.components.push_back(i);
        out.waves.push_back(
            float(frequency > 0 ? 2 * M_PI / frequency : std::numeric_limits<double>::infinity()));
        for (int p = 0; p < count; ++p) {
            const double cosine = std::cos(p * frequency);
            out.table(p, i) = float(cosine);
            by_distance[p] += float(cosine / pairs);
        }
    }
    out.between.resize(count, count);
    for (int m = 0; m < count; ++m)
        for (int n = 0; n < count; ++n) out.between(m, n) = by_distance[std::abs(m - n)];
}

/// One row a head, one column a distance; the square is one head's, NaN where a key is never seen.
void spread_bias(const Matrix& by_distance, int head, int count, Positions& out) {
    const int first = 1 - count;  // distance of column 0 of `by_distance`
    const int last = out.causal ? 0 : count - 1;
    out.table = by_distance.leftCols(last - first + 1);
    for (int d = first; d <= last; ++d) out.distances.push_back(d);
    out.between = Matrix::Constant(count, count, std::numeric_limits<float>::quiet_NaN());
    for (int q = 0; q < count; ++q)
        for (int k = 0; k < count && k - q <= last; ++k) out.between(q, k) = by_distance(head, k - q - first);
}

void read_slopes(int heads, int head, int count, Positions& out) {
    const PositionBias bias = alibi_bias(heads, count);
    Matrix by_distance(heads, 2 * count - 1);
    for (int h = 0; h < heads; ++h) {
        const float slope = count > 1 ? bias.by_key(h, 1) - bias.by_key(h, 0) : 0;
        out.slopes.push_back(slope);
        for (int d = 1 - count; d < count; ++d) by_distance(h, d + count - 1) = slope * float(d);
    }
    spread_bias(by_distance, head, count, out);
}

}  // namespace

Positions positions_of(const Model& model, const PositionsWanted& wanted) {
    const ModelConfig& c = model.config;
    const size_t stack = wanted.stack;
    const StackWeights& w = model.weights.stacks[stack];
    const int count = std::max(1, std::min(wanted.count, c.context));
    Positions out;
    out.scheme = c.positions;
    out.causal = c.stacks[stack].causal;
    switch (out.scheme) {
        case PositionScheme::sinusoidal:
        case PositionScheme::learned:
            read_vectors(c, w.position_embedding, count, out);
            break;
        case PositionScheme::rotary:
            read_rotations(c.rope_of(c.stacks[stack], wanted.layer), count, out);
            break;
        case PositionScheme::alibi:
            read_slopes(c.stacks[stack].heads, wanted.head, count, out);
            break;
        case PositionScheme::relative:
            spread_bias(
                bucket_bias(c.buckets, w.relative_bias, out.causal, c.stacks[stack].heads, count).by_distance,
                wanted.head, count, out);
            for (const int d : out.distances) out.buckets.push_back(bucket_of(c.buckets, d, out.causal));
            break;
        case PositionScheme::none:
            break;
    }
    return out;
}

Result<Positions> answer(const Trace& trace, const PositionsWanted& wanted, ThreadPool&, const CancelFlag*) {
    trace.weights(0);  // said where a trace holds none
    return positions_of(*trace.model, wanted);
}

}  // namespace headlight

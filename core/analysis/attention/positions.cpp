// Shows how a model encodes positions.
#include "analysis/attention/positions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cast.h"
#include "base/quoted.h"
#include "model/mixers/disentangled.h"
#include "model/rope.h"
#include "model/sinusoids.h"

namespace headlight {

namespace {

constexpr int kMaxColumns = 256;

const StackConfig& stack_of(const ModelConfig& c, const PositionsRequest& request) {
    return c.stacks[request.stack];
}
const StackWeights& weights_of(const Model& model, const PositionsRequest& request) {
    return model.weights.stacks[request.stack];
}

/// [count, width]: returns the vectors added to the tokens.
Matrix position_vectors(const ModelConfig& c, const Linear& table, int count, int first_row) {
    if (c.positions == PositionScheme::sinusoidal) return position_waves(c, c.d_model, first_row, count);
    Matrix whole(std::min<Index>(count, table.out - first_row), table.in);
    for (Index p = 0; p < whole.rows(); ++p) table.read(first_row + p, 0, table.in, whole.row(p).data());
    return whole;
}

/// Reads the vectors added to the tokens, and their dot products over all components, shown or not.
void read_vectors(const Model& model, const PositionsRequest& request, int count, Positions& out) {
    const ModelConfig& c = model.config;
    const Linear& table = weights_of(model, request).position_embedding;
    out.first_row = c.can.read_image ? 0 : c.position_offset;  // position 0 of an image is the class token's
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
            out.waves.push_back(
                float(2 * M_PI * std::pow(10000.0, (component % half) / wave_steps(c, width))));
    }
}

/// Σᵢ cos((m − n) θᵢ) / pairs: computes cosines of the pairs' angles, and the similarity of a vector with
/// itself at two positions, q·k / |q|² for a vector with equal parts in all pairs.
void read_rotations(const Model& model, const PositionsRequest& request, int count, Positions& out) {
    const ModelConfig& c = model.config;
    const auto frequencies =
        rope_frequencies(stack_of(c, request).layers[request.layer].attention.rope, count);
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

/// Spreads the bias by distance: [heads, distances]; the square is one head's, NaN where a key is masked.
void spread_bias(const Matrix& by_distance, int head, int count, Positions& out) {
    const int first = 1 - count;  // distance of column 0 of `by_distance`
    const int last = out.causal ? 0 : count - 1;
    out.table = by_distance.leftCols(last - first + 1);
    for (int d = first; d <= last; ++d) out.distances.push_back(d);
    out.between = Matrix::Constant(count, count, std::numeric_limits<float>::quiet_NaN());
    for (int q = 0; q < count; ++q)
        for (int k = 0; k < count && k - q <= last; ++k) out.between(q, k) = by_distance(head, k - q - first);
}

void read_slopes(const Model& model, const PositionsRequest& request, int count, Positions& out) {
    const int heads = stack_of(model.config, request).layers[0].attention.heads;
    const PositionBias bias = alibi_bias(model.config.alibi, heads, count);
    Matrix by_distance(heads, 2 * count - 1);
    for (int h = 0; h < heads; ++h) {
        const float slope = count > 1 ? bias.by_key(h, 1) - bias.by_key(h, 0) : 0;
        out.slopes.push_back(slope);
        for (int d = 1 - count; d < count; ++d) by_distance(h, d + count - 1) = slope * float(d);
    }
    spread_bias(by_distance, request.head, count, out);
}

void read_buckets(const Model& model, const PositionsRequest& request, int count, Positions& out) {
    const ModelConfig& c = model.config;
    const auto bias =
        bucket_bias(c.buckets, weights_of(model, request).layers[request.layer].relative_bias, out.causal,
                    stack_of(c, request).layers[request.layer].attention.heads, count);
    spread_bias(bias.by_distance, request.head, count, out);
    for (const int d : out.distances) out.buckets.push_back(bucket_of(c.buckets, d, out.causal));
}

/// Reads what distances add to scores whatever the tokens are: scale · (b_q·Kr[δ] + b_k·Qr[δ]), with the
/// biases of q and k.
void read_disentangled(const Model& model, const PositionsRequest& request, int count, Positions& out) {
    const AttentionSpec& a = stack_of(model.config, request).layers[request.layer].attention;
    const AttentionWeights& w = weights_of(model, request).layers[request.layer].self;
    Matrix by_distance = Matrix::Zero(a.heads, 2 * count - 1);
    const auto dot = [&](const Rows& vectors, int row, const float* bias, int head) {
        if (!vectors.size() || !bias) return 0.0f;
        return vectors.columns(head * a.d_head, a.d_head)
            .row(row)
            .dot(Eigen::Map<const Eigen::RowVectorXf>(bias + head * a.d_head, a.d_head));
    };
    for (int d = 1 - count; a.disentangled && d < count; ++d)
        for (int h = 0; h < a.heads; ++h) {
            const int row = row_of_distance(*a.disentangled, -d);
            by_distance(h, d + count - 1) = a.score_scale() * (dot(w.relative_keys, row, w.q.bias, h) +
                                                               dot(w.relative_queries, row, w.k.bias, h));
        }
    spread_bias(by_distance, request.head, count, out);
}

std::string sinusoid_detail(const ModelConfig& c) {
    const std::string exponent =
        c.waves_end_at_base ? "i/" + std::to_string(c.d_model / 2 - 1) : "2i/" + std::to_string(c.d_model);
    return "PE(p, i) = sin(p / 10000^(" + exponent +
           ")), the second half of the components cos (Vaswani et al. 2017, section 3.5). Added to each "
           "token’s embedding, which was multiplied by " +
           decimals(c.embed_scale, 0) + ".";
}

std::string added_text(const Positions& p, int head) {
    return "What is added to the scores of head " + std::to_string(head) + " of " +
           std::to_string(p.table.rows()) + ": query down, key across." +
           (p.causal ? " Keys after the query are never seen." : "");
}

using Scheme = PositionScheme;

// Follows the order of PositionScheme.
constexpr PositionsRow kSchemeRows[] = {
    {Scheme::none, "No positions", "", false, "Order reaches this model through its causal mask alone.",
     nullptr, [](const Positions&, int) { return std::string(); },
     [](const Model&, const PositionsRequest&, int, Positions&) {}},
    {Scheme::learned, "Learned positions", "component", false,
     "One vector for each position, learned like a word’s, added to each token’s embedding.", nullptr,
     [](const Positions&, int) {
         return std::string(
             "Dot product of the vectors of two positions. Bands beside the diagonal: neighbors were "
             "learned to be alike.");
     },
     read_vectors},
    {Scheme::sinusoidal, "Sinusoidal positions", "component", false, "", sinusoid_detail,
     [](const Positions&, int) {
         return std::string(
             "Dot product of the vectors of two positions: it falls with their distance and is the same "
             "along each diagonal, wherever the pair stands.");
     },
     read_vectors},
    {Scheme::rotary, "Rotary positions (RoPE)", "pair", false,
     "Cosine of the angle p · θᵢ by which pair i of q and k is turned at position p (Su et al. 2021). Only "
     "differences of positions matter to q·k.",
     nullptr,
     [](const Positions&, int) {
         return std::string(
             "Mean of cos((m − n) θᵢ) over the pairs: what turning leaves of q·k where q and k are alike "
             "and lie evenly over all pairs.");
     },
     read_rotations},
    {Scheme::alibi, "Linear biases (ALiBi)", "distance", true,
     "A score falls by the head’s slope for each token of distance (Press et al. 2022): heads with a small "
     "slope look far back.",
     nullptr, added_text, read_slopes},
    {Scheme::relative, "Biases by distance, in buckets", "distance", true,
     "A learned number is added to the score of each head by distance: near distances have a bucket each, "
     "far "
     "ones share (Raffel et al. 2020).",
     nullptr, added_text, read_buckets},
    {Scheme::disentangled, "Disentangled positions", "distance", true,
     "Every score adds products of q and of k with vectors of the distance (He et al. 2021). Shown is the "
     "part that no token changes: those of the biases of q and k.",
     nullptr, added_text, read_disentangled},
};

}  // namespace

const PositionsRow& positions_row(PositionScheme scheme) { return kSchemeRows[int(scheme)]; }

Positions positions_of(const Model& model, const PositionsRequest& request) {
    const ModelConfig& c = model.config;
    Positions out;
    out.scheme = c.positions;
    const StackConfig& stack = stack_of(c, request);
    out.causal = stack.causal;
    const int count = std::max(1, std::min(request.count, c.context_of(stack)));
    positions_row(c.positions).read(model, request, count, out);
    return out;
}

Result<Positions> answer_positions(const Trace& trace, const PositionsRequest& request, ThreadPool&,
                                   const CancelFlag*) {
    trace.weights(0);  // fails if the trace holds none
    return positions_of(*trace.model, request);
}

void PositionsRequest::clamp_to(const Trace& t) {
    stack = nearest_stack(t, stack);
    const StackConfig& of = t.config().stacks[stack];
    layer = nearest(layer, of.depth());
    head = nearest(head, of.layers[layer].attention.heads);
}

}  // namespace headlight

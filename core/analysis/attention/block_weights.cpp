// Draws the weights of a model's parts as small pictures.
#include "analysis/attention/block_weights.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/circuits/head_matrices.h"
#include "base/cast.h"
#include "base/check.h"
#include "base/spectrum.h"
#include "model/sinusoids.h"

namespace headlight {

namespace {

constexpr Index kMaxDown = 64, kMaxAcross = 384, kMaxSpectrum = 512;

int step_of(Index count, Index max) { return narrow<int>(std::max<Index>(1, (count + max - 1) / max)); }

/// Pools `down` × `across` weights to the one of largest magnitude.
struct Pooled {
    int down, across;
    Matrix values;
    std::vector<double> squares;  // of each row of `values`

    Pooled(Index rows, Index columns, int down, int across)
        : down(down),
          across(across),
          values(Matrix::Zero((rows + down - 1) / down, (columns + across - 1) / across)),
          squares(values.rows(), 0) {}
    void take(Index row, const float* weights, Index columns) {
        float* const to = values.row(row / down).data();
        double sum = 0;
        for (Index c = 0; c < columns; ++c) {
            float& seen = to[c / across];
            if (std::abs(weights[c]) > std::abs(seen)) seen = weights[c];
            sum += double(weights[c]) * weights[c];
        }
        squares[row / down] += sum;
    }
};

/// Makes a picture of pooled weights; `sideways`: stored rows go across.
WeightMap map_of(std::string name, std::string shape, std::string down_is, Pooled pooled, Index rows,
                 Index columns, bool sideways) {
    WeightMap m;
    m.name = std::move(name);
    m.shape = std::move(shape);
    m.down_is = std::move(down_is);
    double squares = 0;
    for (const double s : pooled.squares) squares += s;
    m.typical = float(std::sqrt(squares / std::max(1.0, double(rows) * double(columns))));
    m.rows = sideways ? columns : rows;
    m.columns = sideways ? rows : columns;
    m.down = sideways ? pooled.across : pooled.down;
    m.across = sideways ? pooled.down : pooled.across;
    m.values = sideways ? Matrix(pooled.values.transpose()) : std::move(pooled.values);
    m.largest = m.values.size() ? m.values.cwiseAbs().maxCoeff() : 0;
    m.reach = std::min(m.largest, kWeightReach * m.typical);
    const float per = 0.5f / std::max(m.reach, 1e-12f);
    m.places = (m.values.array() * per + 0.5f).cwiseMax(0.0f).cwiseMin(1.0f).matrix();
    return m;
}

std::string by(int64_t a, int64_t b) { return std::to_string(a) + " × " + std::to_string(b); }

}  // namespace

namespace {

/// Writes rows of a matrix, from `first` on.
using ReadRows = std::function<void(Index first, MatrixRef rows)>;

/// Pools tiles in parallel, each into its own rows, some rows at a time.
void pool_rows(Pooled& pooled, Index rows, Index columns, ThreadPool& pool, const ReadRows& read) {
    constexpr Index kAtOnce = 32;
    pool.run(narrow<int>(pooled.values.rows()), [&](int tile) {
        Matrix some(std::min<Index>(kAtOnce, pooled.down), columns);
        const Index end = std::min(rows, Index{tile + 1} * pooled.down);
        for (Index first = Index{tile} * pooled.down; first < end && !pool.stopped(); first += some.rows()) {
            const Index count = std::min(some.rows(), end - first);
            read(first, some.topRows(count));
            for (Index i = 0; i < count; ++i) pooled.take(first + i, some.row(i).data(), columns);
        }
    });
}

}  // namespace

WeightMap map_of_linear(const std::string& name, const std::string& down_is, const Linear& w,
                        bool outputs_down, ThreadPool& pool, const std::string& shape) {
    const bool by_output = w.layout == WeightLayout::out_in, sideways = by_output != outputs_down;
    const Index rows = by_output ? w.out : w.in, columns = by_output ? w.in : w.out;
    Pooled pooled(rows, columns, step_of(rows, sideways ? kMaxAcross : kMaxDown),
                  step_of(columns, sideways ? kMaxDown : kMaxAcross));
    pool_rows(pooled, rows, columns, pool, [&](Index first, MatrixRef some) {
        for (Index i = 0; i < some.rows(); ++i) w.read(first + i, 0, columns, some.row(i).data());
    });
    return map_of(name, shape.empty() ? by(w.in, w.out) : shape, down_is, std::move(pooled), rows, columns,
                  sideways);
}

namespace {

WeightMap map_of_table(const std::string& name, const std::string& down_is, const Linear& w,
                       ThreadPool& pool) {
    return map_of_linear(name, down_is, w, true, pool, by(w.out, w.in));
}

/// Makes a picture of the sinusoids of all declared positions, some at a time: there may be millions.
WeightMap map_of_sinusoids(const ModelConfig& c, ThreadPool& pool) {
    Pooled pooled(c.context, c.d_model, step_of(c.context, kMaxDown), step_of(c.d_model, kMaxAcross));
    pool_rows(pooled, c.context, c.d_model, pool, [&](Index first, MatrixRef some) {
        some = position_waves(c, c.d_model, c.position_offset + first, some.rows());
    });
    return map_of("sinusoids", by(c.context, c.d_model), "the position", std::move(pooled), c.context,
                  c.d_model, false);
}

/// Makes a picture of a matrix in memory, its rows going down.
WeightMap map_of_matrix(const std::string& name, const std::string& shape, const std::string& down_is,
                        const Matrix& m) {
    Pooled pooled(m.rows(), m.cols(), step_of(m.rows(), kMaxDown), step_of(m.cols(), kMaxAcross));
    for (Index r = 0; r < m.rows(); ++r) pooled.take(r, m.row(r).data(), m.cols());
    return map_of(name, shape, down_is, std::move(pooled), m.rows(), m.cols(), false);
}

void add_norm(BlockWeights& out, const std::string& what, const Norm& norm, Index width) {
    const auto add = [&](const char* sign, const float* values) {
        if (!values) return;
        const Matrix row = Eigen::Map<const Eigen::RowVectorXf>(values, width);
        out.maps.push_back(map_of_matrix(sign + what, std::to_string(width), "", row));
    };
    add("γ", norm.weight);
    add("β", norm.bias);
}

/// Adds the norm of what a block reads, and that of what it adds.
void add_norms(BlockWeights& out, const Norm& reads, const Norm& adds, Index width) {
    add_norm(out, "", reads, width);
    add_norm(out, " on what it adds", adds, width);
}

/// Adds what all taps of a short convolution share (model/mixers/short_convolution.h).
void add_convolution(BlockWeights& out, const Model& model, int block, ThreadPool& pool) {
    const AttentionWeights& w = weights_of(model, block);
    const Matrix output = HeadWeights(model, {block, 0}).output();
    out.maps = {map_of_linear("W_b", "the channel", w.q, true, pool),
                map_of_linear("W_u", "the channel", w.v, true, pool),
                map_of_matrix("W_O", by(output.rows(), output.cols()), "the channel", output)};
}

/// Adds what all channels of a selective state space share (model/mixers/selective.h).
void add_selective(BlockWeights& out, const Model& model, int block, ThreadPool& pool) {
    const AttentionWeights& w = weights_of(model, block);
    out.maps = {map_of_linear("W_V", "the head", w.v, true, pool),
                map_of_linear("W_Δ, W_K, W_Q", "the component", w.recurrence.states, true, pool),
                map_of_linear("Δ of heads", "the head", w.recurrence.decay, true, pool),
                map_of_linear("W_O", "the head", w.o, false, pool)};
}

void add_attention(BlockWeights& out, const Model& model, AttentionHead head, ThreadPool& pool) {
    if (const auto& r = model.config.attention(head.block).recurrence; r && r->is_convolution())
        return add_convolution(out, model, head.block, pool);
    if (const auto& r = model.config.attention(head.block).recurrence; r && r->is_selective())
        return add_selective(out, model, head.block, pool);
    const HeadMatrices m = head_matrices(model, head);
    const std::string down = by(m.q.rows(), m.q.cols()), value_down = by(m.v.rows(), m.v.cols()),
                      up = by(m.o.rows(), m.o.cols());
    const char* is = "the head's dimension";
    out.maps = {map_of_matrix("W_Q", down, is, m.q.transpose()),
                map_of_matrix("W_K", down, is, m.k.transpose()),
                map_of_matrix("W_V", value_down, is, m.v.transpose()), map_of_matrix("W_O", up, is, m.o)};
    out.matrices = {{"W_Q", singular_values(m.q)},
                    {"W_K", singular_values(m.k)},
                    {"W_V", singular_values(m.v)},
                    {"W_O", singular_values(m.o)}};
    if (model.config.attention(head.block).recurrence) return;  // a convolution stands between
    out.circuits = {{"W_Q W_Kᵀ", product_singular_values(m.q, m.k.transpose())},
                    {"W_V W_O", product_singular_values(m.v, m.o)}};
}

void add_mlp(BlockWeights& out, const LayerWeights& w, ThreadPool& pool) {
    const char* is = "the MLP's dimension";
    const auto add = [&](const char* name, const Linear& matrix, bool outputs_down) {
        if (!matrix) return;
        out.maps.push_back(map_of_linear(name, is, matrix, outputs_down, pool));
        if (std::min(matrix.in, matrix.out) <= kMaxSpectrum)
            out.matrices.push_back({name, singular_values(input_rows(matrix, 0, matrix.in))});
    };
    if (w.router) out.maps.push_back(map_of_linear("router", "the expert", w.router, true, pool));
    add("W_gate", w.mlp_gate, true);
    add("W_in", w.mlp_in, true);
    add("W_out", w.mlp_out, false);
}

void add_positions(BlockWeights& out, const ModelConfig& c, const StackWeights& w, ThreadPool& pool) {
    if (c.positions == PositionScheme::sinusoidal)
        out.maps.push_back(map_of_sinusoids(c, pool));
    else if (w.position_embedding)
        out.maps.push_back(map_of_table("W_pos", "the position", w.position_embedding, pool));
}

void add_embedding(BlockWeights& out, const Model& m, const StackWeights& w, ThreadPool& pool) {
    if (w.token_embedding) out.maps.push_back(map_of_table("W_E", "the token", w.token_embedding, pool));
    if (w.type_embedding) out.maps.push_back(map_of_table("types", "the type", w.type_embedding, pool));
    if (w.embed_project)
        out.maps.push_back(
            map_of_linear("projection", "the table's dimension", w.embed_project, false, pool));
    if (m.config.can.read_image)
        out.maps.push_back(map_of_linear("patches", "the patch's value", m.weights.patch, false, pool));
    if (w.layer_table) out.maps.push_back(map_of_table("layer embeddings", "the token", w.layer_table, pool));
    if (w.layer_project)
        out.maps.push_back(
            map_of_linear("to layer embeddings", "the layers' dimension", w.layer_project, true, pool));
    add_norm(out, "", w.embed_norm, m.config.embed_norm_width());
}

/// Adds what a layer makes of its own vector of a token (model/layer_embedding.h).
void add_layer_embedding(BlockWeights& out, const LayerEmbeddingWeights& w, Index d, ThreadPool& pool) {
    const char* is = "the layer embedding's dimension";
    if (w.gate) out.maps.push_back(map_of_linear("W_gate", is, w.gate, true, pool));
    if (w.out) out.maps.push_back(map_of_linear("W_out", is, w.out, false, pool));
    add_norm(out, "", w.norm, d);
}

/// Adds the product beside a layer's attention (model/laurel.h).
void add_laurel(BlockWeights& out, const LaurelWeights& w, Index d, ThreadPool& pool) {
    const char* is = "the product's dimension";
    if (w.down) out.maps.push_back(map_of_linear("W_down", is, w.down, true, pool));
    if (w.up) out.maps.push_back(map_of_linear("W_up", is, w.up, false, pool));
    add_norm(out, "", w.norm, d);
}

/// Adds what reads the active stream to move the others (model/streams.h).
void add_streams(BlockWeights& out, const StreamsWeights& w, Index d, ThreadPool& pool) {
    if (w.router) out.maps.push_back(map_of_linear("router", "the stream", w.router, true, pool));
    add_norm(out, "", w.router_norm, d);
}

/// Adds what stands beside a layer's attention and MLP.
void add_beside(BlockWeights& out, const LayerWeights& layer, WeightsPart part, Index d, ThreadPool& pool) {
    if (part == WeightsPart::layer_embedding) add_layer_embedding(out, layer.embedding, d, pool);
    if (part == WeightsPart::laurel) add_laurel(out, layer.laurel, d, pool);
    if (part == WeightsPart::streams) add_streams(out, layer.streams, d, pool);
}

void add_unembedding(BlockWeights& out, const Model& m, ThreadPool& pool) {
    const ModelWeights& w = m.weights;
    if (w.head_dense)
        out.maps.push_back(map_of_linear("head", "the head's dimension", w.head_dense, true, pool));
    add_norm(out, "", w.head_norm, w.unembedding ? w.unembedding.in : 0);
    if (w.unembedding)
        out.maps.push_back(map_of_linear("W_U", m.config.can.read_image ? "the class" : "the token",
                                         w.unembedding, true, pool));
}

}  // namespace

BlockWeights block_weights(const Model& model, const BlockWeightsRequest& request, ThreadPool& pool) {
    const AttentionBlock at = model.config.block(request.block);
    HEADLIGHT_CHECK(!model.weights.stacks.empty());
    const StackWeights& stack = model.weights.stacks[at.stack];
    const LayerWeights& layer = stack.layers[at.layer];
    const AttentionWeights& attention = weights_of(model, request.block);
    const Index d = model.config.d_model;
    BlockWeights out;
    switch (request.part) {
        case WeightsPart::embedding:
            add_embedding(out, model, stack, pool);
            break;
        case WeightsPart::positions:
            add_positions(out, model.config, stack, pool);
            break;
        case WeightsPart::attention_norm:
            add_norms(out, attention.norm, attention.post_norm, d);
            break;
        case WeightsPart::attention:
            add_attention(out, model, {request.block, request.head}, pool);
            break;
        case WeightsPart::mlp_norm:
            add_norms(out, layer.mlp_norm, layer.mlp_post_norm, d);
            break;
        case WeightsPart::mlp:
            add_mlp(out, layer, pool);
            break;
        case WeightsPart::final_norm:
            add_norm(out, "", stack.final_norm, d);
            break;
        case WeightsPart::unembedding:
            add_unembedding(out, model, pool);
            break;
        default:
            add_beside(out, layer, request.part, d, pool);
    }
    return out;
}

Result<BlockWeights> answer_block_weights(const Trace& trace, const BlockWeightsRequest& request,
                                          ThreadPool& pool, const CancelFlag* cancel) {
    const CancelScope scope(pool, cancel);
    trace.weights(0);  // fails if the trace holds none
    return block_weights(*trace.model, request, pool);
}

void BlockWeightsRequest::clamp_to(const Trace& t) {
    block = nearest_block(t, block);
    head = part == WeightsPart::attention ? nearest_head(t, block, head) : 0;
}

bool BlockWeightsRequest::valid_for(const Shown& shown) const {
    return block == shown.block && (part != WeightsPart::attention || head == shown.head);
}

}  // namespace headlight

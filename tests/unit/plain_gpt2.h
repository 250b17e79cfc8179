// Runs GPT-2 (Radford et al. 2019) in plain loops, one row per token, top to bottom like its equations. The
// program computes the same in core/model; plain_gpt2_test.cpp compares both.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/cast.h"
#include "model/model.h"

namespace headlight::plain {

using Row = std::vector<float>;
using Table = std::vector<Row>;

/// Reads a stored matrix, whatever its format: F32, F16, BF16, blocks of a GGUF file.
inline Table decoded(const Linear& w) {
    const bool by_input = w.layout == WeightLayout::in_out;
    const int64_t rows = by_input ? w.in : w.out, width = by_input ? w.out : w.in;
    Table stored(rows, Row(width));
    for (int64_t r = 0; r < rows; ++r) w.read(r, 0, width, stored[r].data());
    return stored;
}

/// y_o = Σ_i x_i W_io + b_o. Conv1D stores W[in][out]; nn.Linear, and the embedding, W[out][in].
inline Table linear(const Table& x, const Linear& w) {
    const Table stored = decoded(w);
    const bool by_input = w.layout == WeightLayout::in_out;
    Table y(x.size(), Row(w.out));
    for (int t = 0; t < isize(x); ++t)
        for (int o = 0; o < w.out; ++o) {
            y[t][o] = w.bias ? w.bias[o] : 0;
            for (int i = 0; i < w.in; ++i) y[t][o] += x[t][i] * (by_input ? stored[i][o] : stored[o][i]);
        }
    return y;
}

/// x_t = W_E[id_t] + W_P[t].
inline Table embed(const StackWeights& w, const std::vector<int>& ids) {
    const Table tokens = decoded(w.token_embedding), positions = decoded(w.position_embedding);
    Table x(ids.size());
    for (int t = 0; t < isize(ids); ++t) {
        x[t] = tokens[ids[t]];
        for (int i = 0; i < isize(x[t]); ++i) x[t][i] += positions[t][i];
    }
    return x;
}

/// y = (x − mean x) / √(var x + ε) · gain + bias (Ba et al. 2016).
inline Table layer_norm(Table x, const Norm& norm, float epsilon) {
    for (Row& row : x) {
        const auto d = float(row.size());
        float mean = 0, variance = 0;
        for (const float value : row) mean += value / d;
        for (const float value : row) variance += (value - mean) * (value - mean) / d;
        for (int i = 0; i < isize(row); ++i)
            row[i] = (row[i] - mean) / std::sqrt(variance + epsilon) * norm.weight[i] + norm.bias[i];
    }
    return x;
}

/// gelu(x) = x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))) (Hendrycks and Gimpel 2016).
inline float gelu(float x) {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / float(M_PI)) * (x + 0.044715f * x * x * x)));
}

/// S = q kᵀ / √e, P_tj = exp(S_tj − max S_t) / Σ_j exp(S_tj − max S_t) over the keys j ≤ t, z = P v, for
/// every head: e columns of q, k, v and z (Vaswani et al. 2017). Keeps the patterns, head by head.
inline Table attend(const Table& q, const Table& k, const Table& v, int heads, std::vector<Table>& patterns) {
    const int n = isize(q), e = isize(q[0]) / heads;
    Table z(n, Row(q[0].size()));
    for (int h = 0; h < heads; ++h) {
        Table p(n, Row(n));
        for (int t = 0; t < n; ++t) {
            float max = -INFINITY, sum = 0;
            for (int j = 0; j <= t; ++j) {
                for (int i = h * e; i < (h + 1) * e; ++i) p[t][j] += q[t][i] * k[j][i];
                p[t][j] /= std::sqrt(float(e));
                max = std::max(max, p[t][j]);
            }
            for (int j = 0; j <= t; ++j) sum += p[t][j] = std::exp(p[t][j] - max);
            for (int j = 0; j <= t; ++j) p[t][j] /= sum;
            for (int j = 0; j <= t; ++j)
                for (int i = h * e; i < (h + 1) * e; ++i) z[t][i] += p[t][j] * v[j][i];
        }
        patterns.push_back(std::move(p));
    }
    return z;
}

inline void add_to(Table& x, const Table& more) {
    for (int t = 0; t < isize(x); ++t)
        for (int i = 0; i < isize(x[t]); ++i) x[t][i] += more[t][i];
}

struct Pass {
    std::vector<Table> patterns;  // [n, n] of layer · heads + head
    std::vector<Table> stream;    // [n, d_model]: the residual stream before each layer, and after the last
    Table logits;                 // [n, vocab]
};

inline Pass run(const ModelWeights& weights, const std::vector<int>& ids, int heads, float epsilon) {
    const StackWeights& stack = weights.stacks[0];
    Pass pass;
    Table x = embed(stack, ids);
    for (const LayerWeights& w : stack.layers) {
        pass.stream.push_back(x);
        const Table a = layer_norm(x, w.self.norm, epsilon);
        const Table q = linear(a, w.self.q), k = linear(a, w.self.k), v = linear(a, w.self.v);
        const Table z = attend(q, k, v, heads, pass.patterns);
        add_to(x, linear(z, w.self.o));  // x ← x + z W_O + b_O
        Table hidden = linear(layer_norm(x, w.mlp_norm, epsilon), w.mlp_in);
        for (Row& row : hidden)
            for (float& value : row) value = gelu(value);
        add_to(x, linear(hidden, w.mlp_out));  // x ← x + gelu(norm(x) W_in + b_in) W_out + b_out
    }
    pass.stream.push_back(x);
    pass.logits = linear(layer_norm(x, stack.final_norm, epsilon), weights.unembedding);
    return pass;
}

}  // namespace headlight::plain

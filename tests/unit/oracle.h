// Runs a forward pass as in textbooks, in double precision and without blocks.
#pragma once

#include <cmath>
#include <functional>
#include <map>

#include "base/cast.h"
#include "helpers.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace headlight::oracle {

inline constexpr int kTokens = 300, kWindow = 70;

struct Table {
    int rows = 0, cols = 0;
    std::vector<double> values;

    Table(int r, int c) : rows(r), cols(c), values(static_cast<size_t>(r) * static_cast<size_t>(c)) {}
    explicit Table(const Matrix& m) : Table(static_cast<int>(m.rows()), static_cast<int>(m.cols())) {
        std::copy(m.data(), m.data() + m.size(), values.begin());
    }
    double& at(int r, int c) {
        return values[static_cast<size_t>(r) * static_cast<size_t>(cols) + static_cast<size_t>(c)];
    }
    double at(int r, int c) const {
        return values[static_cast<size_t>(r) * static_cast<size_t>(cols) + static_cast<size_t>(c)];
    }
};

/// Returns the largest difference relative to the largest value.
inline double apart(const Matrix& fast, const Table& slow) {
    REQUIRE(fast.rows() == slow.rows);
    REQUIRE(fast.cols() == slow.cols);
    double max = 0, largest = 1e-9;
    for (int r = 0; r < slow.rows; ++r)
        for (int c = 0; c < slow.cols; ++c) {
            max = std::max(max, std::abs(double(fast(r, c)) - slow.at(r, c)));
            largest = std::max(largest, std::abs(slow.at(r, c)));
        }
    return max / largest;
}

/// x · wᵀ.
inline Table times(const Table& x, const Table& w) {
    Table y(x.rows, w.rows);
    for (int r = 0; r < x.rows; ++r)
        for (int o = 0; o < w.rows; ++o)
            for (int i = 0; i < x.cols; ++i) y.at(r, o) += x.at(r, i) * w.at(o, i);
    return y;
}

/// Computes softmax over the allowed keys of a row, uniform if there is none; 0 elsewhere.
inline void softmax(Table& scores, int row, const std::function<bool(int, int)>& allowed) {
    double largest = -INFINITY, sum = 0;
    for (int k = 0; k < scores.cols; ++k)
        if (allowed(row, k)) largest = std::max(largest, scores.at(row, k));
    for (int k = 0; k < scores.cols; ++k) {
        double& s = scores.at(row, k);
        s = std::isinf(largest) ? 1 : allowed(row, k) ? std::exp(s - largest) : 0;
        sum += s;
    }
    for (int k = 0; k < scores.cols; ++k) scores.at(row, k) /= sum;
}

struct Head {
    Table pattern, z;
};

/// softmax(scores) · v for one head. `score`: of a query and a key.
inline Head attention(int queries, int keys, const std::function<double(int, int)>& score,
                      const std::function<bool(int, int)>& allowed, const Table& v, int first_column,
                      int width) {
    Head out{Table(queries, keys), Table(queries, width)};
    for (int q = 0; q < queries; ++q) {
        for (int k = 0; k < keys; ++k) out.pattern.at(q, k) = score(q, k);
        softmax(out.pattern, q, allowed);
        for (int i = 0; i < width; ++i)
            for (int k = 0; k < keys; ++k) out.z.at(q, i) += out.pattern.at(q, k) * v.at(k, first_column + i);
    }
    return out;
}

inline double dot(const Table& a, int row_a, int first_a, const Table& b, int row_b, int first_b, int width) {
    double sum = 0;
    for (int i = 0; i < width; ++i) sum += a.at(row_a, first_a + i) * b.at(row_b, first_b + i);
    return sum;
}

inline constexpr int kHeads = 4, kShared = 2, kWidth = 6, kModel = 24, kHidden = 40, kVocab = 60, kLayers = 2;

inline constexpr double kTheta = 10000, kEps = 1e-5;

/// Is a Mistral with random weights: RMSNorm, rotary positions, shared key/value heads, a sliding window, a
/// gated MLP.
struct TinyMistral {
    std::map<std::string, Matrix> weights;
    std::shared_ptr<const Model> model;

    explicit TinyMistral(const std::filesystem::path& folder) {
        unsigned seed = 1;
        const auto add = [&](const std::string& name, int rows, int cols) {
            weights[name] = random_matrix(rows, cols, seed++) / std::sqrt(float(cols));
        };
        const auto gain = [&](const std::string& name) {
            weights[name] = (random_matrix(1, kModel, seed++) * 0.3f).array() + 1.0f;
        };
        add("model.embed_tokens.weight", kVocab, kModel);
        weights["model.embed_tokens.weight"] *= 4;
        for (int l = 0; l < kLayers; ++l) {
            const std::string at = "model.layers." + std::to_string(l) + ".";
            gain(at + "input_layernorm.weight");
            gain(at + "post_attention_layernorm.weight");
            add(at + "self_attn.q_proj.weight", kHeads * kWidth, kModel);
            add(at + "self_attn.k_proj.weight", kShared * kWidth, kModel);
            weights[at + "self_attn.q_proj.weight"] *= 2;  // attention is neither flat nor one-hot
            add(at + "self_attn.v_proj.weight", kShared * kWidth, kModel);
            add(at + "self_attn.o_proj.weight", kModel, kHeads * kWidth);
            add(at + "mlp.gate_proj.weight", kHidden, kModel);
            add(at + "mlp.up_proj.weight", kHidden, kModel);
            add(at + "mlp.down_proj.weight", kModel, kHidden);
        }
        gain("model.norm.weight");
        add("lm_head.weight", kVocab, kModel);
        std::vector<TensorToWrite> tensors;
        for (const auto& [name, m] : weights) {
            const std::vector<int64_t> shape =
                m.rows() == 1 ? std::vector<int64_t>{m.cols()} : std::vector<int64_t>{m.rows(), m.cols()};
            tensors.push_back({name, "F32", shape, [&m = m](const auto& sink) {
                                   sink(m.data(), static_cast<size_t>(m.size()) * sizeof(float));
                               }});
        }
        REQUIRE(write_safetensors(folder / "model.safetensors", tensors, {}));
        const Json config{
            {"model_type", "mistral"},        {"hidden_size", kModel}, {"num_attention_heads", kHeads},
            {"num_key_value_heads", kShared}, {"head_dim", kWidth},    {"num_hidden_layers", kLayers},
            {"intermediate_size", kHidden},   {"vocab_size", kVocab},  {"max_position_embeddings", 512},
            {"sliding_window", kWindow},      {"rms_norm_eps", kEps},  {"rope_theta", kTheta},
            {"tie_word_embeddings", false}};
        write_bytes(folder / "config.json", config.dump());
        auto opened = Model::open(folder);
        REQUIRE(opened);
        model = *opened;
    }

    Table weight(const std::string& name) const { return Table(weights.at(name)); }

    Table norm(const Table& x, const std::string& name) const {
        const Table gain = weight(name);
        Table y = x;
        for (int r = 0; r < x.rows; ++r) {
            const double scale = std::sqrt(dot(x, r, 0, x, r, 0, x.cols) / x.cols + kEps);
            for (int i = 0; i < x.cols; ++i) y.at(r, i) *= gain.at(0, i) / scale;
        }
        return y;
    }

    static Table rotated(Table x) {
        for (int r = 0; r < x.rows; ++r)
            for (int first = 0; first < x.cols; first += kWidth)
                for (int i = 0; i < kWidth / 2; ++i) {
                    const double angle = r * std::pow(kTheta, -2.0 * i / kWidth), a = x.at(r, first + i),
                                 b = x.at(r, first + i + kWidth / 2);
                    x.at(r, first + i) = a * std::cos(angle) - b * std::sin(angle);
                    x.at(r, first + i + kWidth / 2) = b * std::cos(angle) + a * std::sin(angle);
                }
        return x;
    }

    struct Pass {
        std::vector<Table> patterns;  // layer · heads + head
        Table logits{0, 0};
    };

    Pass run(const std::vector<int>& ids, const std::function<bool(int, int)>& allowed) const {
        Pass out;
        const Table embedding = weight("model.embed_tokens.weight");
        const int n = isize(ids);
        Table x(n, kModel);
        for (int r = 0; r < n; ++r)
            for (int i = 0; i < kModel; ++i) x.at(r, i) = embedding.at(ids[r], i);
        for (int l = 0; l < kLayers; ++l) {
            const std::string at = "model.layers." + std::to_string(l) + ".";
            const Table in = norm(x, at + "input_layernorm.weight"),
                        v = times(in, weight(at + "self_attn.v_proj.weight"));
            const Table q = rotated(times(in, weight(at + "self_attn.q_proj.weight"))),
                        k = rotated(times(in, weight(at + "self_attn.k_proj.weight")));
            Table z(n, kHeads * kWidth);
            for (int h = 0; h < kHeads; ++h) {
                const int shared = h / (kHeads / kShared) * kWidth;
                Head head = attention(
                    n, n,
                    [&](int a, int b) {
                        return dot(q, a, h * kWidth, k, b, shared, kWidth) / std::sqrt(kWidth);
                    },
                    allowed, v, shared, kWidth);
                for (int r = 0; r < n; ++r)
                    for (int i = 0; i < kWidth; ++i) z.at(r, h * kWidth + i) = head.z.at(r, i);
                out.patterns.push_back(std::move(head.pattern));
            }
            add_to(x, times(z, weight(at + "self_attn.o_proj.weight")));
            const Table mlp = norm(x, at + "post_attention_layernorm.weight"),
                        gate = times(mlp, weight(at + "mlp.gate_proj.weight"));
            Table hidden = times(mlp, weight(at + "mlp.up_proj.weight"));
            for (size_t i = 0; i < hidden.values.size(); ++i)
                hidden.values[i] *= gate.values[i] / (1 + std::exp(-gate.values[i]));
            add_to(x, times(hidden, weight(at + "mlp.down_proj.weight")));
        }
        out.logits = times(norm(x, "model.norm.weight"), weight("lm_head.weight"));
        return out;
    }

    static void add_to(Table& x, const Table& more) {
        for (size_t i = 0; i < x.values.size(); ++i) x.values[i] += more.values[i];
    }
};

}  // namespace headlight::oracle

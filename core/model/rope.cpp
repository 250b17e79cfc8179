// Computes rotary position embeddings.
#include "model/rope.h"

#include <algorithm>
#include <cmath>

#include "kernels/choice.h"

namespace headlight {

namespace {

/// Llama 3.1: divides low frequencies by the factor, keeps high ones, blends between.
float llama3_frequency(const Rope& r, float frequency) {
    const double wave = 2 * M_PI / frequency, low = r.original_context / r.low_frequency,
                 high = r.original_context / r.high_frequency;
    if (wave < high) return frequency;
    if (wave > low) return float(frequency / r.factor);
    const double smooth =
        (r.original_context / wave - r.low_frequency) / (r.high_frequency - r.low_frequency);
    return float((1 - smooth) * frequency / r.factor + smooth * frequency);
}

/// YaRN: keeps high frequencies, divides low ones by the factor, with a ramp between.
void apply_yarn(const Rope& r, std::vector<float>& frequencies) {
    const auto pair_that_turns = [&](double turns) {
        return r.counted() * std::log(r.original_context / (turns * 2 * M_PI)) / (2 * std::log(r.theta));
    };
    double low = pair_that_turns(r.beta_fast), high = pair_that_turns(r.beta_slow);
    if (r.truncate) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, r.counted() - 1.0);
    if (low == high) high += 0.001;
    for (int i = 0; i < isize(frequencies); ++i) {
        const int step = std::min(i, r.counted() / 2 - 1);  // 3 dimensions: both pairs share a step
        const double slowed = std::clamp((step - low) / (high - low), 0.0, 1.0);
        frequencies[i] = float(frequencies[i] / r.factor * slowed + frequencies[i] * (1 - slowed));
    }
}

}  // namespace

std::vector<float> rope_frequencies(const Rope& r, int positions) {
    double theta = r.theta;
    if (const double d = r.counted();
        r.scaling == RopeScaling::dynamic && r.depends_on_length(positions) && d != 2)
        theta *= std::pow(r.factor * positions / r.original_context - (r.factor - 1), d / (d - 2));
    const std::vector<float>& factors = r.scaling == RopeScaling::longrope && r.depends_on_length(positions)
                                            ? r.long_factors
                                            : r.freq_factors;
    std::vector<float> out(r.dims / 2);
    for (size_t i = 0; i < out.size(); ++i) {
        out[i] = 1.0f / std::pow(float(theta), float(2 * i) / float(r.counted()));
        if (r.scaling == RopeScaling::linear) out[i] /= float(r.factor);
        if (r.scaling == RopeScaling::llama3) out[i] = llama3_frequency(r, out[i]);
        if (!factors.empty()) out[i] /= factors[i];
    }
    if (r.scaling == RopeScaling::yarn) apply_yarn(r, out);
    std::fill(out.end() - r.still, out.end(), 0.0f);
    return out;
}

RopeTable make_rope_table(const Rope& rope, int positions, int first, int rows) {
    const std::vector<float> frequencies = rope_frequencies(rope, positions);
    const bool longer = rope.long_attention != 0 && rope.depends_on_length(positions);
    const auto factor = float(longer ? rope.long_attention : rope.attention_factor);
    RopeTable table{Matrix(rows, rope.dims / 2), Matrix(rows, rope.dims / 2)};
    for (int row = 0; row < rows; ++row)
        for (Index i = 0; i < table.sine.cols(); ++i) {
            if (rope.in_double) {
                const double exact = (first + row) * std::pow(rope.theta, -2.0 * double(i) / rope.counted());
                table.cosine(row, i) = float(std::cos(exact));
                table.sine(row, i) = float(std::sin(exact));
                continue;
            }
            const float angle = float(first + row) * (rope.backward ? -frequencies[i] : frequencies[i]);
            table.cosine(row, i) = std::cos(angle) * factor;
            table.sine(row, i) = std::sin(angle) * factor;
        }
    return table;
}

void apply_rope(const Rope& rope, const RopeTable& table, int heads, ThreadPool& pool, MatrixRef x) {
    constexpr Index kRows = 16;
    const Index width = x.cols() / heads, half = rope.dims / 2, apart = rope.interleaved ? 1 : half,
                step = rope.interleaved ? 2 : 1;
    pool.run(narrow<int>((x.rows() + kRows - 1) / kRows), [&](int block) {
        for (Index row = block * kRows; row < std::min(x.rows(), (block + 1) * kRows); ++row)
            for (Index h = 0; h < heads; ++h)
                kernels().rotate(x.row(row).data() + h * width + rope.first, half, step, apart,
                                 table.cosine.row(row).data(), table.sine.row(row).data());
    });
}

}  // namespace headlight

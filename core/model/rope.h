// Rotary position embedding (Su et al. 2021) and its scalings to longer texts.
#pragma once

#include <vector>

#include "base/matrix.h"
#include "base/threads.h"

namespace headlight {

/// linear: Chen et al. 2023. dynamic: NTK-aware, by length. llama3: Llama 3.1. yarn: Peng et al. 2023.
/// longrope: Ding et al. 2024.
enum class RopeScaling { none, linear, dynamic, llama3, yarn, longrope };

struct Rope {
    bool operator==(const Rope&) const = default;
    int dims = 0;  // components of each head that are rotated, from `first` on; 0: none
    int first = 0;
    int still = 0;     // of the pairs of components the last ones, which do not turn (Gemma 4)
    bool odd = false;  // frequencies are those of dims − 1, an odd number
    double theta = 10000;
    RopeScaling scaling = RopeScaling::none;
    double factor = 1, low_frequency = 1, high_frequency = 4;  // llama3
    double beta_fast = 32, beta_slow = 1;                      // yarn
    bool truncate = true;
    double attention_factor = 1;  // yarn, longrope: multiplies cos and sin
    double long_attention = 0;    // … instead, in texts beyond the original context (Phi-MoE); 0: the same
    int original_context = 0;
    bool backward = false;            // turns the other way (nanochat)
    bool in_double = false;           // its class makes the angles in double precision (RoFormer)
    bool interleaved = false;         // rotates (2i, 2i + 1), not (i, i + dims / 2): Llama's order in GGUF
    std::vector<float> freq_factors;  // divide the frequencies; empty: none
    std::vector<float> long_factors;  // longrope: instead, in texts beyond the original context

    int counted() const { return dims - int(odd); }
    /// Returns whether the frequencies depend on the length of the text.
    bool depends_on_length(int positions) const {
        return (scaling == RopeScaling::dynamic || scaling == RopeScaling::longrope) &&
               positions > original_context;
    }
};

/// Returns the angle per position of each rotated pair, [dims / 2], for a text of this many positions.
std::vector<float> rope_frequencies(const Rope& rope, int positions);

/// Holds cosines and sines of the positions first … first + rows − 1, [rows, dims / 2].
struct RopeTable {
    Matrix cosine, sine;
};
RopeTable make_rope_table(const Rope& rope, int positions, int first, int rows);

/// Rotates every head of x[rows, heads · d_head] by its row of the table.
void apply_rope(const Rope& rope, const RopeTable& table, int heads, ThreadPool& pool, MatrixRef x);

}  // namespace headlight

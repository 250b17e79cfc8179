// How large q · k grows with the width of a head, and what that does to the softmax (Vaswani et al. 2017,
// note 4).
#pragma once

#include <span>
#include <vector>

#include "trace/trace.h"

namespace headlight {

/// Mean and variance of some numbers.
struct Spread {
    double mean = 0, variance = 0;
    double error = 0;  // the standard error of the variance; 0 for fewer than four numbers
};

/// variance: s² = Σ (x − mean)² / (n − 1). error: sqrt((m₄ − s⁴ (n − 3) / (n − 1)) / n), with m₄ the fourth
/// moment about the mean (Mood, Graybill and Boes 1974, VI.2).
Spread spread_of(std::span<const double> numbers);

/// q · k of so many pairs of vectors with d independent entries of mean 0 and variance 1 each.
std::vector<double> sampled_products(int d, int draws, unsigned seed);

/// How undecided a row of weights is, and how much its scores can still move it.
struct Softness {
    double entropy = 0;   // in bits
    double gradient = 0;  // ‖∂ weights / ∂ scores‖, the Frobenius norm
};

/// Of weights a = softmax(scores), whose derivative is diag(a) − a aᵀ: its squared entries sum to
/// Σ a² − 2 Σ a³ + (Σ a²)².
Softness softness_of(const Vector& weights);

/// The mean over so many queries, each with `keys` keys, all with entries of mean 0 and variance 1: softmax
/// of q · k ÷ √d, and of q · k alone. Of one q each q · k is normal with deviation ‖q‖, so the keys' own
/// entries need not be drawn.
struct SoftnessPair {
    Softness divided, plain;
};
SoftnessPair sampled_softness(int d, int keys, int queries, unsigned seed);

/// The products of one head of a model on a sentence.
struct HeadProducts {
    Spread products;        // of q · k, over what the mask lets be seen
    float scale = 1;        // what the model multiplies them by
    SoftnessPair softness;  // the mean over queries that see two keys or more; without position biases
    int pairs = 0;
};

/// Reads at most 128 queries, evenly spread over the sentence. Only where the trace has_scores(block).
HeadProducts head_products(const Trace& trace, int block, int head);

}  // namespace headlight

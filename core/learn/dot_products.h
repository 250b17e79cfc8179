// Measures how q · k grows with the width of a head, and the effect on softmax (Vaswani et al. 2017, note 4).
#pragma once

#include <span>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct Spread {
    double mean = 0, variance = 0;
    double error = 0;  // standard error of the variance; 0 for fewer than four numbers
};

/// variance: s² = Σ (x − mean)² / (n − 1). error: sqrt((m₄ − s⁴ (n − 3) / (n − 1)) / n), with m₄ the fourth
/// moment about the mean (Mood, Graybill and Boes 1974, VI.2).
Spread spread_of(std::span<const double> numbers);

/// Samples q · k for pairs of vectors with d independent entries of mean 0 and variance 1.
std::vector<double> sampled_products(int d, int draws, unsigned seed);

/// Measures how undecided a row of weights is, and how much its scores can still change it.
struct Softness {
    double entropy = 0;   // in bits
    double gradient = 0;  // ‖∂ weights / ∂ scores‖, the Frobenius norm
};

/// ‖diag(a) − a aᵀ‖² = Σ a² − 2 Σ a³ + (Σ a²)², for weights a = softmax(scores).
Softness softness_of(const Vector& weights);

/// Averages over random queries with `keys` keys each, all entries of mean 0 and variance 1: softmax of q · k
/// ÷ √d, and of q · k alone. Given q, each q · k is normal with deviation ‖q‖, so that keys need not be
/// drawn.
struct SoftnessPair {
    Softness divided, plain;
};
SoftnessPair sampled_softness(int d, int keys, int queries, unsigned seed);

/// The same for additive scores vᵀ tanh(W₁ q + W₂ k) of random parameters (ScoreParameters::random), which no
/// factor divides.
Softness sampled_additive_softness(int d, int keys, int queries, unsigned seed);

/// Describes the dot products of one head of a model on a sentence.
struct HeadProducts {
    Spread products;        // of q · k, over unmasked keys
    float scale = 1;        // the model's factor of q · k
    SoftnessPair softness;  // mean over queries with two keys or more; without position biases
    int pairs = 0;
};

/// Reads at most 128 queries, evenly spread over the sentence. Requires has_scores(block) of the trace.
HeadProducts head_products(const Trace& trace, int block, int head);

}  // namespace headlight

// Draws random numbers that are the same on every machine, whatever its standard library.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "base/matrix.h"

namespace headlight {

/// Draws from a seed with std::mt19937, whose output the standard fixes; computes distributions here, because
/// the standard leaves theirs to each library.
class Draws {
public:
    explicit Draws(uint32_t seed) : random_(seed) {}

    /// Uniform over 0 < u < 1.
    double uniform() { return (double(random_()) + 0.5) / 4294967296.0; }
    /// Normal with mean 0 and variance 1 (Box and Muller 1958).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }
    /// Uniform integer from 0 to count − 1.
    int below(int count) { return std::min(count - 1, static_cast<int>(uniform() * count)); }

private:
    std::mt19937 random_;
};

/// Uniform over 0 ≤ u < 1 from 64 bits.
inline double uniform(std::mt19937_64& random) {
    return std::min(double(random()) / 18446744073709551616.0, std::nextafter(1.0, 0.0));
}

/// [rows, cols] of independent normal numbers with mean 0, drawn row by row, so that the first rows do not
/// depend on how many follow.
inline Matrix normal_matrix(Index rows, Index cols, double deviation, Draws& draws) {
    Matrix m(rows, cols);
    for (Index i = 0; i < m.size(); ++i) m.data()[i] = float(deviation * draws.normal());
    return m;
}

/// Shuffles 0 … count − 1 (Fisher and Yates 1938).
inline std::vector<int> shuffled(int count, Draws& draws) {
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    for (int i = count - 1; i > 0; --i) std::swap(order[i], order[draws.below(i + 1)]);
    return order;
}

/// Shuffles incrementally, so that one more count moves two numbers and keeps the rest.
inline std::vector<int> shuffled_as_it_grows(int count, uint32_t seed) {
    Draws draws(seed);
    std::vector<int> order;
    for (int i = 0; i < count; ++i) {
        order.push_back(i);
        std::swap(order[i], order[draws.below(i + 1)]);
    }
    return order;
}

}  // namespace headlight

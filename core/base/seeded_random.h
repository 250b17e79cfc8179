// Random numbers that are the same on every machine; what the standard's distributions give is each library's
// own.
#pragma once

#include <cmath>
#include <numbers>
#include <random>

#include "base/matrix.h"

namespace headlight {

/// The random numbers of a seed, one after another.
class SeededRandom {
public:
    explicit SeededRandom(unsigned seed) : bits_(seed) {}

    /// In [0, 1), 32 random bits.
    double uniform() { return bits_() * 0x1p-32; }

    /// With mean 0 and variance 1 (Box and Muller 1958).
    double normal() {
        if (has_spare_) {
            has_spare_ = false;
            return spare_;
        }
        const double radius = std::sqrt(-2 * std::log(1 - uniform())),
                     angle = 2 * std::numbers::pi * uniform();
        spare_ = radius * std::sin(angle);
        has_spare_ = true;
        return radius * std::cos(angle);
    }

    /// [rows, cols], row after row, each entry with mean 0 and this deviation.
    Matrix normal_matrix(Index rows, Index cols, double deviation = 1) {
        Matrix m(rows, cols);
        for (Index i = 0; i < m.size(); ++i) m.data()[i] = float(deviation * normal());
        return m;
    }

private:
    std::mt19937 bits_;
    double spare_ = 0;
    bool has_spare_ = false;
};

}  // namespace headlight

// Computes sinusoidal positions.
#include "model/sinusoids.h"

#include <cmath>
#include <vector>

namespace headlight {

Matrix sinusoids(Index width, Index first, Index rows, double base) {
    const Index half = (width + 1) / 2;
    std::vector<double> divisors(half);
    for (Index i = 0; i < half; ++i) divisors[i] = std::pow(base, 2.0 * double(i) / double(width));
    Matrix out(rows, width);
    for (Index p = 0; p < rows; ++p)
        for (Index i = 0; i < width; ++i) {
            const double angle = double(first + p) / divisors[i % half];
            out(p, i) = float(i < half ? std::sin(angle) : std::cos(angle));
        }
    return out;
}

}  // namespace headlight

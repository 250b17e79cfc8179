#include "model/sinusoids.h"

#include <cmath>
#include <vector>

namespace headlight {

Matrix sinusoids(Index width, Index first, Index rows) {
    const Index half = (width + 1) / 2;
    std::vector<double> divisors(static_cast<size_t>(half));
    for (Index i = 0; i < half; ++i)
        divisors[static_cast<size_t>(i)] =
            std::pow(10000.0, 2.0 * static_cast<double>(i) / static_cast<double>(width));
    Matrix out(rows, width);
    for (Index p = 0; p < rows; ++p)
        for (Index i = 0; i < width; ++i) {
            const double angle = static_cast<double>(first + p) / divisors[static_cast<size_t>(i % half)];
            out(p, i) = static_cast<float>(i < half ? std::sin(angle) : std::cos(angle));
        }
    return out;
}

}  // namespace headlight

// Computes sinusoidal positions.
#include "model/sinusoids.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headlight {

Matrix sinusoids(Index width, Index first, Index rows, double base, double steps) {
    const Index half = (width + 1) / 2;
    if (steps == 0) steps = double(width) / 2;
    std::vector<double> divisors(half);
    for (Index i = 0; i < half; ++i) divisors[i] = std::pow(base, double(i) / steps);
    Matrix out(rows, width);
    for (Index p = 0; p < rows; ++p)
        for (Index i = 0; i < width; ++i) {
            const double angle = double(first + p) / divisors[i % half];
            out(p, i) = float(i < half ? std::sin(angle) : std::cos(angle));
        }
    return out;
}

double wave_steps(const ModelConfig& c, Index width) {
    return c.waves_end_at_base ? std::max(1.0, double(width / 2 - 1)) : double(width) / 2;
}

Matrix position_waves(const ModelConfig& c, Index width, Index first, Index rows) {
    Matrix out = sinusoids(width, first, rows, 10000, wave_steps(c, width));
    if (const Index pad = c.position_pad - first; c.position_pad >= 0 && pad >= 0 && pad < rows)
        out.row(pad).setZero();
    return out;
}

}  // namespace headlight

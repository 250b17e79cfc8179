// Station "Positions": sinusoids, why all differ, how two compare, and the open model without them.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

struct PositionsState {
    int width = 32, count = 32;  // components of a vector, positions
    float base = 10000;          // wavelengths reach about 2π · base positions
    int seed = 7;                // seed of the shuffled positions

    void visit(ControlVisitor& v) {
        v.whole("width", "Components", width, 2, 256);
        v.whole("count", "Positions", count, 2, 128);
        v.number("base", "Base", base, 2, 1e6f);
        v.whole("seed", "Shuffled order", seed, 0, 9999);
    }
};

Result<Page> positions_page(const StationInput& input, const PositionsState& state, ThreadPool& pool);

/// [count]: the dot product of two positions' vectors d = 0, 1, … apart, Σᵢ cos(d / base^(2i / width)) over
/// the width / 2 pairs of sine and cosine, because sin a sin b + cos a cos b = cos(a − b): it depends only on
/// their distance. `width` is even.
std::vector<float> dots_by_distance(int width, double base, int count);

/// Finds the two closest rows of a matrix [rows ≥ 2, width], and their Euclidean distance.
struct ClosestRows {
    int first = 0, second = 0;
    float distance = 0;
};
ClosestRows closest_rows(const ConstMatrixRef& rows);

}  // namespace headlight::learn

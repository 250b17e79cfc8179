// Principal components (Pearson 1901; Hotelling 1933).
#pragma once

#include "base/matrix.h"
#include "base/threads.h"

namespace headlight {

struct Plane {
    Matrix points;   // [rows, 2], coordinates along the two directions of greatest variance
    float kept = 0;  // share of the variance that they explain
};

/// Projects points [rows, d] on their first two principal components, by subspace iteration (Halko et al.
/// 2011): linear in rows and d, deterministic. Chooses signs so that the farthest point of each direction is
/// positive. Ends early with a meaningless plane if `cancel` is set.
Plane principal_plane(const Matrix& points, const CancelFlag* cancel = nullptr);

}  // namespace headlight

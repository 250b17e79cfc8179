// Sums numbers so that neither order nor division of the work changes the result.
#pragma once

#include <vector>

namespace headlight {

/// Sums finite numbers without rounding, as nonoverlapping doubles, the smallest first (J. R. Shewchuk,
/// Adaptive Precision Floating-Point Arithmetic, 1997: Grow-Expansion, zeros left out).
class ExactSum {
public:
    void add(double number);
    /// Returns the double nearest to the sum; the even one of two as near.
    double value() const;
    const std::vector<double>& parts() const { return parts_; }

private:
    std::vector<double> parts_;
};

}  // namespace headlight

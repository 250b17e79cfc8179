// Sums that no order and no division of the work changes.
#pragma once

#include <vector>

namespace headlight {

/// The sum of finite numbers without rounding, as doubles that do not overlap, the smallest first (J. R.
/// Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997: Grow-Expansion, zeros left out).
class ExactSum {
public:
    void add(double number);
    /// The double next to the sum; of two as near, the even one.
    double value() const;
    const std::vector<double>& parts() const { return parts_; }

private:
    std::vector<double> parts_;
};

}  // namespace headlight

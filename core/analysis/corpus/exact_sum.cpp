// Sums doubles exactly.
#include "analysis/corpus/exact_sum.h"

#include <cstddef>

namespace headlight {

namespace {

struct RoundedSum {
    double sum, error;  // together the exact sum
};

/// s + e = a + b exactly (Knuth's two-sum).
RoundedSum rounded_sum(double a, double b) {
    const double sum = a + b, of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}

}  // namespace

void ExactSum::add(double number) {
    size_t kept = 0;
    for (const double part : parts_) {
        const RoundedSum s = rounded_sum(number, part);
        if (s.error != 0) parts_[kept++] = s.error;
        number = s.sum;
    }
    parts_.resize(kept);
    if (number != 0) parts_.push_back(number);
}

double ExactSum::value() const {
    RoundedSum s{0, 0};
    size_t left = parts_.size();
    while (left > 0 && s.error == 0) s = rounded_sum(s.sum, parts_[--left]);
    if (left == 0 || (s.error < 0) != (parts_[left - 1] < 0)) return s.sum;
    // If the error is half a step, the rest decides against the even neighbor.
    const double neighbor = s.sum + 2 * s.error;
    return neighbor - s.sum == 2 * s.error ? neighbor : s.sum;
}

}  // namespace headlight

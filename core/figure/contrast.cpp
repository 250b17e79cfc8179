// Maps weights to positions on a color map.
#include "figure/contrast.h"

#include <algorithm>
#include <cmath>

#include "trace/large_pattern.h"

namespace headlight {

namespace {
constexpr float kSmallest = 1e-12f;
}  // namespace

std::span<const ContrastRow> contrasts() {
    static const ContrastRow table[] = {
        {"auto", "auto", "weight", "true range, or square root beyond 64 tokens", Brightest::largest,
         Curve::straight},
        {"linear", "linear", "weight, 0–1", "from 0 to 1 in every picture", Brightest::one, Curve::straight},
        {"range", "true range", "weight", "from 0 to the largest weight", Brightest::largest,
         Curve::straight},
        {"root", "square root", "weight, root", "by the square root, up to the largest weight",
         Brightest::largest, Curve::root},
        {"log", "log", "weight, log", "by the logarithm, from 0.0001 to the largest weight",
         Brightest::largest, Curve::log},
        {"p99", "99th percentile", "weight, p99", "up to what 99 % of the weights do not exceed",
         Brightest::percentile, Curve::straight},
        {"row", "per row", "of row’s max", "each row normalized by its largest weight", Brightest::row,
         Curve::straight},
    };
    return table;
}

const ContrastRow& contrast_row(Contrast contrast) { return contrasts()[static_cast<size_t>(contrast)]; }

std::string contrast_of_scale(const std::string& scale) { return scale == "linear" ? "range" : scale; }

Contrast resolve_contrast(Contrast wanted, Index tokens) {
    if (wanted != Contrast::automatic) return wanted;
    return tokens > kManyTokens ? Contrast::root : Contrast::range;
}

float Shades::brightest(float row_largest) const {
    switch (row().brightest) {
        case Brightest::one:
            return 1;
        case Brightest::percentile:
            return percentile;
        case Brightest::row:
            return row_largest;
        default:
            return largest;
    }
}

float Shades::place(float weight, float row_largest) const {
    if (std::isnan(weight)) return weight;
    const float top = brightest(row_largest);
    if (is_signed) {
        const float share = std::clamp(std::abs(weight) / std::max(top, kSmallest), 0.0f, 1.0f);
        return 0.5f + std::copysign(0.5f * (row().curve == Curve::root ? std::sqrt(share) : share), weight);
    }
    if (weight <= 0 || top <= 0) return weight > 0 ? 1.0f : 0.0f;
    const Curve curve = row().curve;
    if (curve == Curve::log)
        return top <= kLogFloor
                   ? 0
                   : std::clamp(std::log(weight / kLogFloor) / std::log(top / kLogFloor), 0.0f, 1.0f);
    const float share = std::clamp(weight / std::max(top, kSmallest), 0.0f, 1.0f);
    return curve == Curve::root ? std::sqrt(share) : share;
}

float Shades::weight_at(float place) const {
    const float top = brightest(1);
    if (is_signed) {
        const float share = 2 * place - 1;
        return top * (row().curve == Curve::root ? share * std::abs(share) : share);
    }
    if (row().curve == Curve::log) return kLogFloor * std::pow(std::max(top, kLogFloor) / kLogFloor, place);
    return top * (row().curve == Curve::root ? place * place : place);
}

Shades shades_of(Contrast wanted, const Matrix& weights, bool is_signed) {
    Shades s{is_signed ? signed_contrast(wanted)
                       : resolve_contrast(wanted, std::max(weights.rows(), weights.cols())),
             0, 0, is_signed};
    s.largest = largest_entry(weights);
    if (s.contrast == Contrast::percentile) s.percentile = percentile_99(weights);
    return s;
}

}  // namespace headlight

// Maps weights to positions on a color map: one table for the shader, figures, color bars and --contrast.
#pragma once

#include <span>
#include <string>

#include "base/matrix.h"

namespace headlight {

enum class Contrast { automatic, linear, range, root, log, percentile, row };

/// Says which weight has the brightest color, and how positions rise towards it.
enum class Brightest { one, largest, percentile, row };
enum class Curve { straight, root, log };

/// Defines a row of the table of contrasts, in the order of the enum.
struct ContrastRow {
    const char* name;    // in options, commands and presets
    const char* label;   // as shown to users
    const char* legend;  // above a color bar
    const char* help;
    Brightest brightest;
    Curve curve;
};
std::span<const ContrastRow> contrasts();
const ContrastRow& contrast_row(Contrast contrast);
/// "linear" of `--scale` is the true range.
std::string contrast_of_scale(const std::string& scale);

constexpr int kManyTokens = 64;     // above this many along a side, automatic is the square root
constexpr float kLogFloor = 1e-4f;  // smaller weights are shown as zero on the log scale

/// Returns the contrast to draw: automatic is the true range, or the square root for many tokens.
Contrast resolve_contrast(Contrast wanted, Index tokens);

/// Maps the weights of a picture to positions 0 … 1 on a color map.
struct Shades {
    Contrast contrast = Contrast::range;  // never automatic
    float largest = 1, percentile = 1;    // of its weights
    /// Mixing matrices: 0 is at the middle, and sizes rise from it by their square root; straight if the
    /// contrast is linear or the true range.
    bool is_signed = false;

    float brightest(float row_largest) const;
    /// Returns the position of a weight (NaN for NaN), given the largest of its row.
    float place(float weight, float row_largest) const;
    /// Returns the weight at a position; per row, as a share of the row's largest.
    float weight_at(float place) const;
    const ContrastRow& row() const { return contrast_row(contrast); }
};

/// Makes the shades of a whole picture: resolves `wanted` for its number of tokens, and measures its weights.
Shades shades_of(Contrast wanted, const Matrix& weights, bool is_signed = false);

/// Returns the contrast of a signed picture, which has no other than these two.
inline Contrast signed_contrast(Contrast wanted) {
    return wanted == Contrast::linear || wanted == Contrast::range ? Contrast::range : Contrast::root;
}

}  // namespace headlight

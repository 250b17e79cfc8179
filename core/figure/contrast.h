// How weights become places on a color map: one table for the shader, figures, color bars and --contrast.
#pragma once

#include <span>
#include <string>

#include "base/matrix.h"

namespace headlight {

enum class Contrast { automatic, linear, range, root, log, percentile, row };

/// What weight the brightest color stands for, and how places rise towards it.
enum class Brightest { one, largest, percentile, row };
enum class Curve { straight, root, log };

/// A row of the table of contrasts, in the order of the enum.
struct ContrastRow {
    const char* name;    // as options, commands and presets spell it
    const char* label;   // as people read it
    const char* legend;  // over a color bar
    const char* help;
    Brightest brightest;
    Curve curve;
};
std::span<const ContrastRow> contrasts();
const ContrastRow& contrast_row(Contrast contrast);
/// The row of that name, or null; "linear" of `--scale`, which older versions had, is the true range.
const ContrastRow* find_contrast(std::string_view name);
std::string contrast_of_scale(const std::string& scale);

constexpr int kManyTokens = 64;     // beyond so many along a side, automatic is the square root
constexpr float kLogFloor = 1e-4f;  // weights below this are shown as zero on the log scale

/// The one that draws: automatic is the true range, or, of many tokens, the square root.
Contrast contrast_in_force(Contrast wanted, Index tokens);

/// The weights of a picture as places 0 … 1 on a color map.
struct Shades {
    Contrast contrast = Contrast::range;  // in force
    float largest = 1, percentile = 1;    // of its weights

    float brightest(float row_largest) const;
    /// The place of a weight (NaN of NaN), given the largest of its row.
    float place(float weight, float row_largest) const;
    /// The weight at a place; per row, as a share of the row's largest.
    float weight_at(float place) const;
    const ContrastRow& row() const { return contrast_row(contrast); }
};

/// Of a whole picture: `wanted` in force for so many tokens, and what it needs to know of the weights.
Shades shades_of(Contrast wanted, const Matrix& weights);

}  // namespace headlight

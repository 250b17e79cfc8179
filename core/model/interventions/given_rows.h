// Replaces rows of an activation by given ones: activation patching (Meng et al. 2022).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/matrix.h"

namespace headlight {

/// Holds rows of an activation as computed, before the user's rows replaced them.
struct ReplacedRows {
    std::vector<int> at;  // positions, ascending
    Matrix rows;          // [at, width]

    bool empty() const { return at.empty(); }
    /// Writes them back into `all` [n, width].
    void put_back(MatrixRef all) const;
};

/// Holds rows that replace those of one activation [n, width], in parts applied in order.
struct GivenRows {
    struct Part {
        int first = 0, count = 1;              // positions; rows that `values` lacks stay as computed
        std::shared_ptr<const Matrix> values;  // [positions, width]
        bool added = false;                    // adds to the computed rows instead of replacing them
        bool has(int row) const;
    };
    std::vector<Part> parts;

    bool empty() const { return parts.empty(); }
    /// Writes the given rows into `rows`, which begin at position `first`.
    void put(int first, MatrixRef rows) const;
    bool gives(int row) const;
    /// Returns whether a position's row is replaced, not added to.
    bool replaces(int row) const;
    /// Returns the computed rows that put() will replace in `rows`, which begin at position `first`, after
    /// those of earlier positions in `past` (or null).
    ReplacedRows replaced(const ReplacedRows* past, int first, ConstMatrixRef rows) const;
    /// Zeroes gradients by computed rows that are replaced; positions: of each gradient row.
    void zero_replaced(std::span<const int> positions, MatrixRef gradients) const;
    /// Returns whether a position has the same given row in both, so that passes may share its results.
    bool same_row(const GivenRows& other, int row) const;
};

/// Holds the user's changes to a layer outside its attention blocks.
struct LayerChanges {
    bool no_mlp = false;           // skips the MLP
    std::vector<int> experts_off;  // in order: what these would add is left out, and nothing takes its place
    GivenRows resid_pre, mlp_out;  // [n, d_model]
};

}  // namespace headlight

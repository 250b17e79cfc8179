// Rows of an activation that a person gives in place of what a pass computes: activation patching (Meng et
// al. 2022).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/matrix.h"

namespace headlight {

/// Rows of an activation as they were computed, where a person put others in their place.
struct ReplacedRows {
    std::vector<int> at;  // positions, ascending
    Matrix rows;          // [at, width]

    bool empty() const { return at.empty(); }
    /// Puts them back into `all` [n, width].
    void put_back(MatrixRef all) const;
};

/// Rows of one activation [n, width] that are put in place of those computed, one part after another.
struct GivenRows {
    struct Part {
        int first = 0, count = 1;              // positions; those that `values` lacks stay as they are
        std::shared_ptr<const Matrix> values;  // [positions, width]
        bool added = false;                    // to what is computed, in place of replacing it
        bool has(int row) const;
    };
    std::vector<Part> parts;

    bool empty() const { return parts.empty(); }
    /// Puts them into `rows`, which are those of the positions from `first` on.
    void put(int first, MatrixRef rows) const;
    /// Whether a position is given anything.
    bool gives(int row) const;
    /// Whether a position is given a row in place of what is computed, not added to it.
    bool replaces(int row) const;
    /// What `rows`, those of the positions from `first` on, hold where others will be put, behind what an
    /// earlier pass (or null) replaced of the positions before.
    ReplacedRows replaced(const ReplacedRows* past, int first, ConstMatrixRef rows) const;
    /// Makes rows of gradients by what is computed, each of a position, zero where it is replaced.
    void hide(std::span<const int> positions, MatrixRef gradients) const;
    /// Whether a position is given the same, so that passes may share what rests on it.
    bool same_row(const GivenRows& other, int row) const;
};

/// What a person changed of a layer beside its attention blocks.
struct LayerChanges {
    bool no_mlp = false;           // its MLP is left out
    GivenRows resid_pre, mlp_out;  // [n, d_model]
};

}  // namespace headlight

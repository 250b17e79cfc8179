// Advances several passes over one stack together, layer by layer.
#pragma once

#include <memory>
#include <vector>

#include "model/pass.h"
#include "model/rope.h"

namespace headlight {

/// Holds cosines and sines of the new rows' positions for the rotary embedding of each layer; layers that
/// rotate alike share a table.
class RopeTables {
public:
    explicit RopeTables(const Pass& p);
    const RopeTable& of_layer(int l) const { return tables_[table_of_[l]]; }
    /// Negates all angles, for the reverse pass.
    void invert() {
        for (RopeTable& table : tables_) table.sine *= -1;
    }

private:
    std::vector<RopeTable> tables_;
    std::vector<size_t> table_of_;  // of each layer
};

/// Tracks one pass on its way through the layers of a stack.
struct PassInBatch {
    const Pass& pass;
    RopeTables rope_tables;
    Index first, rows;                             // range of its new rows among those of all passes
    std::shared_ptr<LayerActivations> layer = {};  // layer in progress

    const LayerActivations* past(int l) const { return pass.n_past ? pass.past->layers[l].get() : nullptr; }
};

/// Batches passes over one stack: matrices hold the new rows of all passes, so that weights are read once.
struct Batch : StackRun {
    std::vector<PassInBatch> passes = {};
    Matrix sources = {};  // of the passes with a new source, which come first

    Index rows() const { return passes.back().first + passes.back().rows; }
    /// Splits a matrix of all new rows by pass; does not copy those of a lone pass.
    std::vector<Matrix> split_by_pass(Matrix all) const {
        std::vector<Matrix> parts;
        if (passes.size() == 1)
            parts.push_back(std::move(all));
        else
            for (const PassInBatch& p : passes) parts.emplace_back(all.middleRows(p.first, p.rows));
        return parts;
    }
    /// Zeroes the rows of passes whose rules skip this part of the layer.
    template <class Skipped>
    void zero_skipped(int l, Matrix& added, const Skipped& skipped) const {
        for (const PassInBatch& p : passes)
            if (skipped(p.pass.rules[l])) added.middleRows(p.first, p.rows).setZero();
    }
    /// Overwrites the rows of each pass with what its rules give; of: selects the rows from the rules.
    template <class Of>
    void replace_rows(int l, Matrix& rows, const Of& of) const {
        for (const PassInBatch& p : passes)
            of(p.pass.rules[l]).put(narrow<int>(p.pass.n_past), rows.middleRows(p.first, p.rows));
    }
};

/// Appends `rows` to the first `n_past` rows of an earlier pass, which stay shared with it.
inline Rows append_rows(const Rows* past, Index n_past, Matrix rows) {
    return past ? Rows(*past, n_past, std::move(rows)) : Rows(std::move(rows));
}

/// Throws if a stage's values are not finite, so that the message names the first; layer −1: before all.
void check_finite(const StackRun& run, int layer, const char* what, bool finite);

/// Runs one layer on the new rows of the residual stream and returns its output. Stores the layer's
/// activations in each pass.
Matrix run_layer(const Batch& b, int l, Matrix resid);

}  // namespace headlight

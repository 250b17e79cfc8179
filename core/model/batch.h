// Passes over one stack that advance together, and the layer that they go through.
#pragma once

#include <memory>
#include <vector>

#include "model/pass.h"
#include "model/rope.h"

namespace headlight {

/// Cosines and sines of the new rows where their tokens stand, for each of the model's two rotary embeddings.
struct RopeTables {
    RopeTable usual, local;
    explicit RopeTables(const Pass& p);
    const RopeTable& of(const ModelConfig& c, const Rope& rope) const {
        return &rope == &c.local_rope ? local : usual;
    }
};

/// A pass on its way through the layers of a stack.
struct PassInBatch {
    const Pass& pass;
    RopeTables rope_tables;
    Index first, rows;                             // where its new rows lie among those of all passes
    std::shared_ptr<LayerActivations> layer = {};  // the layer where it is

    const LayerActivations* past(int l) const { return pass.n_past ? pass.past->layers[l].get() : nullptr; }
};

/// Passes over one stack that advance together: in each matrix the new rows of all lie one after another, so
/// that weights go by once.
struct Batch : StackRun {
    std::vector<PassInBatch> passes = {};
    Matrix sources = {};  // of the passes whose source is a new one, which are the first to enter

    Index rows() const { return passes.back().first + passes.back().rows; }
    /// The rows of each pass in a matrix that holds those of all; those of a lone one are not copied.
    std::vector<Matrix> apart(Matrix all) const {
        std::vector<Matrix> parts;
        if (passes.size() == 1)
            parts.push_back(std::move(all));
        else
            for (const PassInBatch& p : passes) parts.emplace_back(all.middleRows(p.first, p.rows));
        return parts;
    }
    /// Zeroes the rows of passes whose rules of a layer say so.
    template <class LeftOut>
    void leave_out(int l, Matrix& added, const LeftOut& left_out) const {
        for (const PassInBatch& p : passes)
            if (left_out(p.pass.rules[l])) added.middleRows(p.first, p.rows).setZero();
    }
    /// Puts what the rules of a layer give each pass into its rows; of: where they say so.
    template <class Of>
    void put_given(int l, Matrix& rows, const Of& of) const {
        for (const PassInBatch& p : passes)
            of(p.pass.rules[l]).put(narrow<int>(p.pass.n_past), rows.middleRows(p.first, p.rows));
    }
};

/// `rows` behind the first `n_past` rows of an earlier pass, which are shared with it.
inline Rows append_rows(const Rows* past, Index n_past, Matrix rows) {
    return past ? Rows(*past, n_past, std::move(rows)) : Rows(std::move(rows));
}

/// Throws where a number is not finite. Asked stage by stage, so that the first one is named; layer −1:
/// before all layers.
void check_finite(const StackRun& run, int layer, const char* what, bool finite);

/// One layer on the new rows of the residual stream; returns what leaves it. What the layer leaves behind is
/// put into each pass's own.
Matrix run_layer(const Batch& b, int l, Matrix resid);

}  // namespace headlight

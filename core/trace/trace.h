// A forward pass as a value. Every view, figure and number is a function of traces.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/forward.h"

namespace headlight {

/// What to run.
struct ForwardRequest {
    std::vector<int> ids;
    std::vector<std::string> tokens;  // as the vocabulary spells them
    Mask mask;
};

/// What came out; immutable, shared.
struct Trace {
    std::shared_ptr<const Model> model;
    ForwardRequest request;
    Activations activations;

    int size() const { return static_cast<int>(request.ids.size()); }
    const ModelConfig& config() const { return model->config; }

    /// [n, d_head] of one head.
    ConstMatrixRef q(int layer, int head) const;
    ConstMatrixRef k(int layer, int head) const;
    ConstMatrixRef v(int layer, int head) const;
    ConstMatrixRef z(int layer, int head) const;

    /// [n, n], softmax over the keys: each row sums to 1, masked entries are 0.
    Matrix pattern(int layer, int head) const;
    /// [rows, n] of the pattern, for queries from `first` on.
    Matrix pattern_rows(int layer, int head, int first, int rows) const;
    /// [n, n], scaled q·k before the mask.
    Matrix scores(int layer, int head) const;
    /// [n, d_model], the residual stream that leaves a layer.
    const Matrix& resid_post(int layer) const;
    /// [d_model], one head's ΔE at one query: z through its slice of the output matrix, without the bias.
    Vector result(int layer, int head, int query) const;
};

/// Runs the request; ids have been checked. An error means that `cancel` was set.
/// With `past`, rows that cannot have changed since that trace are taken from it (same model and causal mask).
Result<std::shared_ptr<const Trace>> run_trace(std::shared_ptr<const Model> model, ForwardRequest request, ThreadPool& pool, const CancelFlag* cancel = nullptr,
                                               const Trace* past = nullptr);

}  // namespace headlight

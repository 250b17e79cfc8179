// Measures how far an adapter changes what each head reads with and writes: W_Q W_Kᵀ and W_V W_O.
#pragma once

#include <functional>
#include <string>

#include "analysis/comparison/run_pair.h"
#include "model/heads.h"

namespace headlight {

/// ‖ΔQK‖ ÷ ‖QK‖ and ‖ΔOV‖ ÷ ‖OV‖ of each head, by Frobenius norms of what is added to the base's matrices;
/// NaN of heads whose q, k and v are no products of the stream. Empty: the model has no adapter, or nothing
/// is known yet.
struct AdapterChanges {
    PerHead<float> qk, ov;
    int blocks = 0;       // measured so far, from the first; NaN in others
    std::string refusal;  // why nothing is measured
};

/// ‖A Bᵀ − A₀ B₀ᵀ‖ ÷ ‖A₀ B₀ᵀ‖ of matrices [d, width], from products of width × width: never makes d × d.
double relative_change(const Matrix& a, const Matrix& b, const Matrix& a0, const Matrix& b0);

/// Compares the model at its adapter's strength with itself at strength 0, block by block; `seen` (or null)
/// gets what is known after each. Requires weights.
Result<AdapterChanges> adapter_changes(const Model& model, ThreadPool& pool,
                                       const CancelFlag* cancel = nullptr,
                                       const std::function<void(const AdapterChanges&)>& seen = nullptr);

/// Asks for the changes of the shown run's model.
struct AdapterChangesRequest {
    using Answer = AdapterChanges;
    bool operator==(const AdapterChangesRequest&) const = default;
    /// Returns whether two runs have the same answer: weights do not depend on the text.
    static bool same_for(const Trace& a, const Trace& b) { return a.model == b.model; }
};
Result<AdapterChanges> measure_adapter_changes(const Runs& runs, const AdapterChangesRequest& request,
                                               ThreadPool& pool, const CancelFlag* cancel,
                                               const std::function<void(AdapterChanges)>& seen);

}  // namespace headlight

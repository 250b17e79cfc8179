// Measures how far an adapter changes what each head reads with and writes: W_Q W_Kᵀ and W_V W_O.
#pragma once

#include "model/heads.h"
#include "trace/trace.h"

namespace headlight {

/// ‖ΔQK‖ ÷ ‖QK‖ and ‖ΔOV‖ ÷ ‖OV‖ of each head, by Frobenius norms of what is added to the base's matrices;
/// NaN of heads whose q, k and v are no products of the stream. Empty: the model has no adapter.
struct AdapterChanges {
    PerHead<float> qk, ov;
};

/// ‖A Bᵀ − A₀ B₀ᵀ‖ ÷ ‖A₀ B₀ᵀ‖ of matrices [d, width], from products of width × width: never makes d × d.
double relative_change(const Matrix& a, const Matrix& b, const Matrix& a0, const Matrix& b0);

/// Compares the model at its adapter's strength with itself at strength 0. Requires weights.
Result<AdapterChanges> adapter_changes(const Model& model, ThreadPool& pool,
                                       const CancelFlag* cancel = nullptr);

/// Asks for the changes of the shown run's model.
struct AdapterChangesRequest {
    using Answer = AdapterChanges;
    bool operator==(const AdapterChangesRequest&) const = default;
};
Result<AdapterChanges> answer_adapter_changes(const Trace& trace, const AdapterChangesRequest& request,
                                              ThreadPool& pool, const CancelFlag* cancel = nullptr);

}  // namespace headlight

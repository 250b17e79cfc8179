// Gradients of a model whose weights are elsewhere (Model::engine).
#pragma once

#include <vector>

#include "analysis/prediction/metric.h"
#include "model/engine.h"
#include "trace/trace.h"

namespace headlight {

/// Name a tensor of a run: what enters a layer; what attention or the MLP adds; a block's z.
NamedShape resid_pre_named(const Trace& trace, int stack, int layer);
NamedShape attn_out_named(const Trace& trace, int block);
NamedShape mlp_out_named(const Trace& trace, int stack, int layer);
NamedShape z_named(const Trace& trace, int block);

/// Asks the engine for the gradients of a resolved metric by these tensors. Fails for the divergence, whose
/// gradient needs both runs in one place, and as the engine does.
Result<std::vector<Matrix>> engine_gradients(const Trace& trace, const Metric& metric,
                                             const std::vector<NamedShape>& by, const CancelFlag* cancel);

}  // namespace headlight

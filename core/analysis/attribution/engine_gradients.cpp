#include "analysis/attribution/engine_gradients.h"

#include "trace/trace_file.h"

namespace headlight {

namespace {

NamedShape of_layer(const Trace& trace, int stack, int layer, const char* tensor) {
    return {trace.config().stacks[size_t(stack)].name + "." + std::to_string(layer) + "." + tensor,
            trace.request.inputs[size_t(stack)].size(), trace.config().d_model};
}

/// "log p(#5)@3", as docs/engine.md spells it.
std::string spelled(const Metric& m) {
    const std::string a = "#" + std::to_string(m.a), at = "@" + std::to_string(m.position);
    switch (m.kind) {
        case MetricKind::log_probability:
            return "log p(" + a + ")" + at;
        case MetricKind::probability:
            return "p(" + a + ")" + at;
        case MetricKind::difference:
            return a + " - #" + std::to_string(m.b) + at;
        default:
            return a + at;
    }
}

}  // namespace

NamedShape resid_pre_named(const Trace& trace, int stack, int layer) {
    return of_layer(trace, stack, layer, "hook_resid_pre");
}

NamedShape attn_out_named(const Trace& trace, int block) {
    const AttentionBlock at = trace.config().block(block);
    return of_layer(trace, at.stack, at.layer, at.is_second() ? "hook_cross_attn_out" : "hook_attn_out");
}

NamedShape mlp_out_named(const Trace& trace, int stack, int layer) {
    return of_layer(trace, stack, layer, "hook_mlp_out");
}

NamedShape z_named(const Trace& trace, int block) {
    const ModelConfig& c = trace.config();
    return {tensors_at(c, block) + "hook_z", trace.query_count(block),
            Index{c.heads(block)} * c.d_value(block)};
}

Result<std::vector<Matrix>> engine_gradients(const Trace& trace, const Metric& metric,
                                             const std::vector<NamedShape>& by, const CancelFlag* cancel) {
    if (metric.kind == MetricKind::divergence)
        return Error{
            "The gradient of the divergence needs the unchanged run beside the model, which is in another "
            "process; choose another metric."};
    return trace.model->engine->gradients(trace, spelled(metric), by, cancel);
}

}  // namespace headlight

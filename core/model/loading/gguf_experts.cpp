// Completes the routers of models from GGUF.
#include "model/loading/gguf_experts.h"

#include <algorithm>

#include "base/cast.h"

namespace headlight {

namespace {

/// Refuses experts in an architecture, or in layers, that are read without, before tensors are found missing.
Error unread_experts(const std::string& key, const Json& stated, const ModelConfig& c,
                     const std::string& name) {
    const bool says = stated.is_number() && stated > 0;
    return Error{name + " is a mixture of experts" +
                 (says ? " (" + key + " is " + json_text(stated) + ")" : "") + ", which a " + c.family_name +
                 " is not; use a model whose layers have one MLP each."};
}

/// Reads how scores become weights (llama.cpp's numbers); 0: as the architecture has it.
Status check_routing(const Gguf& file, const std::string& key, const std::string& name,
                     ExpertsSpec& experts) {
    const Json& stated = file.value(key);
    if (stated.is_null() || stated == 0) return success();
    constexpr int kSoftmax = 1, kSigmoid = 2, kSoftmaxOfChosen = 3;
    const Routing routing = experts.routing;
    const bool knows = stated == kSigmoid           ? routing == Routing::sigmoid
                       : stated == kSoftmax         ? routing != Routing::sigmoid
                       : stated == kSoftmaxOfChosen ? routing == Routing::softmax_of_chosen
                                                    : false;
    if (knows) return success();
    return Error{name + ": " + key + " is " + json_text(stated) +
                 ", a router that Headlight does not compute for this architecture; use another model."};
}

}  // namespace

Status complete_experts(const Gguf& file, const std::string& prefix, const std::string& name,
                        ModelConfig& c) {
    const Json &count = file.value(prefix + "expert_count"),
               &normalize = file.value(prefix + "expert_weights_norm");
    const bool routes = std::any_of(file.tensors.begin(), file.tensors.end(), [](const auto& tensor) {
        return tensor.first.find(".ffn_gate_inp.") != std::string::npos;
    });
    const std::string scale_key = prefix + "expert_weights_scale";
    TRY(const double scale,
        json_number(Json{{scale_key, file.value(scale_key)}}, or_null(scale_key.c_str()), 0, name));
    bool has_experts = false;
    for (LayerSpec& layer : c.stacks[0].layers) {
        if (!layer.mlp.experts) continue;
        ExpertsSpec& experts = *layer.mlp.experts;
        has_experts = true;
        TRY_STATUS(check_routing(file, prefix + "expert_gating_func", name, experts));
        if (normalize.is_boolean() && experts.routing != Routing::softmax_of_chosen)
            experts.normalize = normalize == true;
        if (scale != 0) experts.scale = float(scale);
        experts.alternating = false;
    }
    if (!has_experts && (routes || (count.is_number() && count > 1)))
        return unread_experts(prefix + "expert_count", count, c, name);
    return success();
}

Result<int64_t> further_layers(const Gguf& file, const std::string& prefix, const std::string& name) {
    const std::string key = prefix + "nextn_predict_layers";
    const Json& stated = file.value(key);
    return stated.is_null() ? Result<int64_t>(0) : whole_number(stated, key, 0, 1000, name);
}

}  // namespace headlight

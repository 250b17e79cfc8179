// Describes how a model's weights are stored.
#include "model/loading/weights_text.h"

#include "base/memory.h"

namespace headlight {

namespace {

/// Describes where the weights are while the model runs.
std::string memory_text(const Model& model) {
    const int64_t packed = model.packed->bytes();
    const bool mapped = model.config.quantization.name.empty();
    const std::string weights =
                          "weights " + short_bytes(model.store->bytes_in_use()) + (mapped ? ", mapped" : ""),
                      copies = short_bytes(packed);
    if (packed == 0) return weights + " · decoded when used\n";
    return weights +
           (PackedWeights::fits(packed)
                ? " · packed in memory after the first pass: " + copies + " more\n"
                : " · not packed: " + copies + " more are needed, and as much again must stay free\n");
}

/// Lists the formats of the tensors: "Q4_0 14 tensors (1.2 MB), F32 5 (4 KB)".
std::string formats_text(const Model& model) {
    const std::string& quantized = model.config.quantization.name;
    std::string out = "stored as";
    const char* before = " ";
    for (const auto& [format, tensors, bytes] : model.store->formats()) {
        out += before + std::string(format->name) + " " + std::to_string(tensors) +
               (*before == ' ' ? tensors == 1 ? " tensor (" : " tensors (" : " (") + short_bytes(bytes) + ")";
        before = ", ";
    }
    return out + (quantized.empty() ? "" : " · quantized by " + quantized) + "\n";
}

/// Returns "adapter poems × 0.5: rank 8, 14 matrices of gpt2"; "" without one.
std::string adapter_text(const Model& model) {
    if (!model.adapter) return "";
    const AdapterInfo info = model.adapter->info();
    return "adapter " + adapter_name(info.folder, info.strength) + ": rank " + std::to_string(info.rank) +
           ", " + std::to_string(info.matrices) + " matrices of " + model.base_name + "\n";
}

}  // namespace

std::string weights_text(const Model& model) {
    return formats_text(model) + memory_text(model) + adapter_text(model);
}

nlohmann::ordered_json stored_json(const Model& model) {
    auto formats = nlohmann::ordered_json::array();
    for (const auto& [format, tensors, bytes] : model.store->formats())
        formats.push_back({{"format", format->name}, {"tensors", tensors}, {"bytes", bytes}});
    nlohmann::ordered_json out{{"quantization", model.config.quantization.name}, {"formats", formats}};
    if (!model.adapter) return out;
    const AdapterInfo info = model.adapter->info();
    out["adapter"] = {{"folder", info.folder.string()},
                      {"base", info.base},
                      {"strength", info.strength},
                      {"rank", info.rank},
                      {"matrices", info.matrices}};
    return out;
}

}  // namespace headlight

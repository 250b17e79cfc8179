#include "io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = headlight::parse_safetensors({reinterpret_cast<const std::byte*>(data), size}, "input");
    if (!file) return 0;
    for (const auto& [name, tensor] : file->tensors) {
        if (!tensor.dtype->holds_weights()) continue;
        std::vector<float> values(headlight::element_count(tensor.shape));
        const std::vector<std::byte> aligned(tensor.bytes.begin(), tensor.bytes.end());
        tensor.dtype->decode(aligned.data(), static_cast<int64_t>(values.size()), values.data());
    }
    return 0;
}

#include "io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = headlight::parse_safetensors({reinterpret_cast<const std::byte*>(data), size}, "input");
    if (!file) return 0;
    for (const auto& [name, tensor] : file->tensors) {
        if (tensor.dtype != headlight::DType::f32 && tensor.dtype != headlight::DType::f16 && tensor.dtype != headlight::DType::bf16) continue;
        std::vector<float> values(static_cast<size_t>(headlight::element_count(tensor.shape)));
        headlight::decode_floats(tensor, values.data());
    }
    return 0;
}

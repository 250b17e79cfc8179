// Describes storage formats of tensors, and how each becomes float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headlight {

struct DType {
    const char* name;  // as in safetensors or GGUF, or our own (laid_out_type)
    int gguf_id;       // GGUF's number, or -1
    bool safetensors;  // allowed in safetensors files
    int block;         // values per block
    int bytes;         // bytes per block
    int format;        // row among the formats of the kernels, or one of these two

    static constexpr int kNoWeights = -1;  // integers, and formats that are not read
    static constexpr int kConverted = -2;  // weights converted to float32 when they are bound

    bool holds_weights() const { return meets_kernels() || format == kConverted; }
    /// Returns whether the kernels read it in place.
    bool meets_kernels() const { return format >= 0; }
    /// Decodes n values (whole blocks) to float32.
    void decode(const std::byte* in, int64_t n, float* out) const;
    /// Returns the bytes of n values; n must be whole blocks.
    int64_t size(int64_t n) const { return n / block * bytes; }
};

/// Find a format by its name in a safetensors header or its number in a GGUF file, or return nullptr.
const DType* find_dtype(std::string_view name);
const DType* find_gguf_type(uint32_t id);

/// Returns a format that quantized safetensors are laid out in on opening: "INT4/128", 128 values a scale.
const DType& laid_out_type(std::string_view name);

/// Returns "F32", which is used in place.
const DType& float32();

/// Returns "F32, F16, …": the formats of files that hold weights, for messages.
std::string weight_formats();

}  // namespace headlight

// Storage formats of tensors, and how each becomes float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headlight {

/// A row of the table of storage formats.
struct DType {
    const char* name;  // as safetensors or GGUF spells it
    int gguf_id;       // GGUF's number, or -1
    bool safetensors;  // whether safetensors files may hold it
    int block;         // values that are stored together
    int bytes;         // bytes of one block
    int format;        // its row among the formats of the kernels, or one of these two

    static constexpr int kNoWeights = -1;  // integers, and what is not read
    static constexpr int kConverted = -2;  // weights that become float32 when they are bound

    bool holds_weights() const { return meets_kernels() || format == kConverted; }
    /// Whether the kernels read it where it lies.
    bool meets_kernels() const { return format >= 0; }
    /// Decodes n values (whole blocks) to float32.
    void decode(const std::byte* in, int64_t n, float* out) const;
    /// Bytes of n values; n must be whole blocks.
    int64_t size(int64_t n) const { return n / block * bytes; }
};

/// The formats by their names in a safetensors header and their numbers in a GGUF file, or nullptr.
const DType* find_dtype(std::string_view name);
const DType* find_gguf_type(uint32_t id);

/// "F32", which is used where it lies.
const DType& float32();

/// "F32, F16, …": those that hold weights, for messages.
std::string weight_formats();

}  // namespace headlight

// Describes how a checkpoint's weights are quantized.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headlight {

/// Holds what a configuration says of quantized weights, checked; the rest follows from the tensors.
struct Quantization {
    bool operator==(const Quantization&) const = default;
    /// fp8: eight-bit floats or integers with scales of tensors, rows or blocks; packed: compressed-tensors.
    enum class Method { none, unreadable, fp8, mxfp4, bitsandbytes, gptq, awq, packed };
    Method method = Method::none;
    std::string name;                           // "gptq, 4 bits", for messages
    int bits = 4;                               // of a code (GPTQ, AWQ)
    int64_t group = 0;                          // inputs that share a scale (GPTQ, AWQ); 0: all
    bool zeros_less_one = false;                // zeros are stored less one (GPTQ's first format)
    int64_t block_rows = 0, block_columns = 0;  // of weights that share a scale (fp8); 0: not stated
    std::vector<std::string> plain;             // modules that were not converted

    bool readable() const { return method != Method::unreadable; }
    /// Returns whether a module is one of `plain`: by its name, by a beginning or an end of whole parts of
    /// it.
    bool keeps(const std::string& module) const;
};

}  // namespace headlight

// Reads the four bits of bitsandbytes (Dettmers et al. 2023): levels of a table, scaled by the largest
// magnitude of a block, which may be quantized in turn. Layout: QuantState of bitsandbytes' functional.py.
// Its eight bits are rows of integers with scales (scaled.cpp).
#include <cmath>
#include <cstring>

#include "io/json.h"
#include "model/loading/quantized/quantized_tensors.h"

namespace headlight {

namespace {

constexpr int64_t kLargestSide = int64_t{1} << 31, kLargestBlock = 1 << 20, kLargestState = 1 << 16;
constexpr int64_t kBlock = 64;  // values of the kernels' blocks

/// Describes one matrix, from the JSON beside it.
struct QuantState {
    int64_t rows = 0, columns = 0, block = 0, nested_block = 0;
    double offset = 0;  // added to the decoded scales
};

Result<QuantState> read_state(const QuantizedTensors& tensors, const std::string& name,
                              const StoredTensor& stored) {
    if (std::ssize(stored.bytes) > kLargestState) return tensors.damaged(name, "is not a short text");
    const std::string what = tensors.place() + ": " + name;
    TRY(const Json root,
        parse_json({reinterpret_cast<const char*>(stored.bytes.data()), stored.bytes.size()}, what));
    if (!root.is_object()) return tensors.damaged(name, "is not an object");
    TRY(const Json shape, json_list(root, "shape", what));
    if (shape.size() != 2) return tensors.damaged(name, "has a shape that is not a matrix's");
    QuantState out;
    TRY(out.rows, whole_number(shape[0], "shape", 1, kLargestSide, what));
    TRY(out.columns, whole_number(shape[1], "shape", 1, kLargestSide, what));
    TRY(out.block, json_integer(root, "blocksize", 64, 1, kLargestBlock, what));
    TRY(out.nested_block, json_integer(root, or_null("nested_blocksize"), 256, 1, kLargestBlock, what));
    TRY(out.offset, json_number(root, or_null("nested_offset"), 0, what));
    return out;
}

/// Returns the levels of the kernels' format.
std::vector<float> levels_of(const DType& type) {
    std::vector<std::byte> block(static_cast<size_t>(type.bytes));
    const float one = 1;
    std::memcpy(block.data(), &one, sizeof one);
    for (int i = 0; i < 16; ++i) block[sizeof one + i] = static_cast<std::byte>(i);
    std::vector<float> out(static_cast<size_t>(type.block));
    type.decode(block.data(), type.block, out.data());
    out.resize(16);
    return out;
}

/// Fails unless the file's table is the format's.
Status check_levels(const QuantizedTensors& tensors, const std::string& name, const DType& type) {
    TRY(const StoredTensor* map, tensors.beside(name + ".quant_map", name));
    TRY_STATUS(tensors.check(name + ".quant_map", *map, {16}, "F32"));
    TRY(const std::vector<float> stored, tensors.scales(name + ".quant_map", *map));
    const std::vector<float> known = levels_of(type);
    for (size_t i = 0; i < known.size(); ++i)
        if (std::abs(stored[i] - known[i]) > 1e-6f)
            return tensors.damaged(name + ".quant_map",
                                   "gives code " + std::to_string(i) + " another value than this format");
    return success();
}

/// Returns the scale of each block of values.
Result<std::vector<float>> block_scales(const QuantizedTensors& tensors, const std::string& name,
                                        const QuantState& state) {
    const std::string own = name + ".absmax", nested = name + ".nested_absmax",
                      table = name + ".nested_quant_map";
    const int64_t count = (state.rows * state.columns + state.block - 1) / state.block;
    TRY(const StoredTensor* stored, tensors.beside(own, name));
    const bool twice = tensors.find(nested) != nullptr;
    TRY_STATUS(tensors.check(own, *stored, {count}, twice ? "U8" : "F32"));
    if (!twice) return tensors.scales(own, *stored);
    TRY(const StoredTensor* map, tensors.beside(table, name));
    TRY_STATUS(tensors.check(table, *map, {256}, "F32"));
    TRY(const std::vector<float> levels, tensors.scales(table, *map));
    const StoredTensor* const scale = tensors.find(nested);
    TRY_STATUS(tensors.check(nested, *scale, {(count + state.nested_block - 1) / state.nested_block}, "F32"));
    TRY(const std::vector<float> scales, tensors.scales(nested, *scale));
    std::vector<float> out(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
        out[i] = levels[std::to_integer<size_t>(stored->bytes[i])] * scales[i / state.nested_block] +
                 static_cast<float>(state.offset);
    return out;
}

Status read_matrix(QuantizedTensors& tensors, const std::string& name, Coding coding,
                   const std::string& state_name) {
    TRY(const StoredTensor* weights, tensors.beside(name, state_name));
    TRY(const QuantState state, read_state(tensors, state_name, *tensors.find(state_name)));
    if (2 * std::ssize(weights->bytes) != state.rows * state.columns)  // 2^62 at most
        return tensors.damaged(name, "has " + std::to_string(weights->bytes.size()) +
                                         " bytes, but its state calls for " + std::to_string(state.rows) +
                                         " × " + std::to_string(state.columns) + " values of four bits");
    if (state.block % kBlock != 0 || state.columns % kBlock != 0)
        return tensors.damaged(name, "has rows of " + std::to_string(state.columns) +
                                         " values in blocks of " + std::to_string(state.block) +
                                         ", which are no multiples of " + std::to_string(kBlock));
    CodedMatrix coded{coding, state.rows, state.columns, kBlock, {}, {}};
    TRY_STATUS(check_levels(tensors, name, *layout_of(coded)));
    TRY(const std::vector<float> scales, block_scales(tensors, name, state));
    coded.codes = [&](int64_t first, int64_t count, uint8_t* to) {  // the first of two in the high bits
        const std::byte* from = weights->bytes.data() + first * state.columns / 2;
        for (int64_t i = 0; i < count * state.columns; i += 2, ++from) {
            to[i] = std::to_integer<uint8_t>(*from >> 4);
            to[i + 1] = std::to_integer<uint8_t>(*from & std::byte{15});
        }
    };
    coded.scale = [&](int64_t row, int64_t group) -> CodeScale {
        return {scales[(row * state.columns + group * kBlock) / state.block]};
    };
    TRY_STATUS(tensors.put(name, {state.rows, state.columns}, coded));
    for (const char* part : {".absmax", ".quant_map", ".nested_absmax", ".nested_quant_map"})
        tensors.drop(name + part);
    tensors.drop(state_name);
    return success();
}

}  // namespace

Status read_bitsandbytes(QuantizedTensors& tensors) {
    for (const auto& [ending, coding] : {std::pair(".quant_state.bitsandbytes__nf4", Coding::nf4),
                                         std::pair(".quant_state.bitsandbytes__fp4", Coding::fp4)})
        for (const std::string& name : tensors.with_ending(ending))
            TRY_STATUS(read_matrix(tensors, name, coding, name + ending));
    return success();
}

}  // namespace headlight

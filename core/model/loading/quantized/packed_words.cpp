// Reads compressed-tensors' pack-quantized integers and NVFP4, and MXFP4 as gpt-oss ships it. Layouts:
// pack_to_int32 of compressed_tensors/compressors/pack_quantized, pack_fp4_to_uint8 of its nvfp4;
// convert_moe_packed_tensors of transformers' mxfp4.py.
#include <algorithm>
#include <cstring>

#include "model/loading/quantized/quantized_tensors.h"

namespace headlight {

namespace {

/// Returns the integer of `bits` bits that begins at bit `at` of 32-bit words `step` words apart.
int packed_integer(const StoredTensor& tensor, int64_t first, int64_t step, int64_t at, int bits) {
    uint32_t words[2] = {};
    const int64_t word = at / 32, offset = at % 32;
    for (int64_t i = 0; i < (offset + bits > 32 ? 2 : 1); ++i)
        std::memcpy(&words[i], tensor.bytes.data() + (first + (word + i) * step) * 4, 4);
    const uint64_t both = words[0] | static_cast<uint64_t>(words[1]) << 32;
    return static_cast<int>(both >> offset & ((1u << bits) - 1));
}

/// Holds a module's tensors, with checked shapes.
struct PackedModule {
    const StoredTensor *weights = nullptr, *zeros = nullptr;
    std::vector<float> scales;  // [rows or 1, groups]
    int64_t rows = 0, columns = 0, groups = 1, scale_rows = 1;
    int bits = 4;
    /// Returns the code of 0 without zeros.
    int middle() const { return 1 << (bits - 1); }
};

/// Reads weight_shape, and the bits from the words that a row takes.
Status read_shape(const QuantizedTensors& tensors, const std::string& module, PackedModule& out) {
    const std::string name = module + "_shape", weights = module + "_packed";
    TRY(const StoredTensor* shape, tensors.beside(name, weights));
    TRY_STATUS(tensors.check(name, *shape, {2}));
    const std::string_view type = shape->dtype->name;
    int64_t sides[2] = {};
    for (int i = 0; i < 2; ++i) {
        int32_t narrow = 0;
        if (type == "I64") std::memcpy(&sides[i], shape->bytes.data() + i * 8, 8);
        if (type == "I32") std::memcpy(&narrow, shape->bytes.data() + i * 4, 4);
        if (type == "I32") sides[i] = narrow;
    }
    out.rows = sides[0];
    out.columns = sides[1];
    const bool usable = out.weights->shape.size() == 2 && out.rows >= 1 && out.columns >= 32 &&
                        out.columns % 32 == 0 && out.weights->shape[0] == out.rows;
    const int64_t words = usable ? out.weights->shape[1] : 0, groups = usable ? out.columns / 32 : 1;
    out.bits = words % groups == 0 && words / groups <= 8 ? static_cast<int>(words / groups) : 0;
    if (!usable || out.bits < 1)
        return tensors.damaged(weights, "has the shape " + shape_text(out.weights->shape) +
                                            ", which does not hold " + std::to_string(sides[0]) +
                                            " rows of " + std::to_string(sides[1]) +
                                            " integers (multiples of 32)");
    return tensors.check(weights, *out.weights, out.weights->shape, "I32");
}

Status read_scales(const QuantizedTensors& tensors, const std::string& module, PackedModule& out) {
    const std::string name = module + "_scale", zero = module + "_zero_point";
    TRY(const StoredTensor* scale, tensors.beside(name, module + "_packed"));
    std::vector<int64_t> shape = scale->shape;
    shape.resize(2, 1);
    out.scale_rows = shape[0];
    out.groups = shape[1];
    const bool usable = scale->shape.size() <= 2 && element_count(shape) > 0 &&
                        (out.scale_rows == out.rows || element_count(shape) == 1) &&
                        out.columns % out.groups == 0;
    if (!usable) return tensors.check(name, *scale, {out.rows, 1});
    TRY(out.scales, tensors.scales(name, *scale));
    out.zeros = tensors.find(zero);
    if (!out.zeros) return success();
    const bool bytes = out.zeros->dtype->name == std::string_view("I8");
    return tensors.check(zero, *out.zeros,
                         {bytes ? out.scale_rows : (out.rows * out.bits + 31) / 32, out.groups},
                         bytes ? "I8" : "I32");
}

/// Returns a zero as a code; words hold those of neighboring rows.
int zero_code(const PackedModule& m, int64_t row, int64_t group) {
    if (!m.zeros) return m.middle();
    if (m.zeros->dtype->bytes == 4) return packed_integer(*m.zeros, group, m.groups, row * m.bits, m.bits);
    const int64_t at = std::min(row, m.scale_rows - 1) * m.groups + group;
    return static_cast<int8_t>(std::to_integer<uint8_t>(m.zeros->bytes[at])) + m.middle();
}

/// Returns a weight's code; those that straddle no byte are read from one.
int code_of(const PackedModule& m, int64_t row, int64_t column) {
    const int64_t words = m.weights->shape[1], at = column * m.bits;
    if (8 % m.bits != 0) return packed_integer(*m.weights, row * words, 1, at, m.bits);
    const int byte = std::to_integer<int>(m.weights->bytes[row * words * 4 + at / 8]);
    return byte >> (at % 8) & ((1 << m.bits) - 1);
}

Status read_packed_module(QuantizedTensors& tensors, const std::string& module) {
    PackedModule m;
    m.weights = tensors.find(module + "_packed");
    TRY_STATUS(read_shape(tensors, module, m));
    TRY_STATUS(read_scales(tensors, module, m));
    const int64_t group = m.columns / m.groups;
    std::vector<int32_t> order;
    if (const StoredTensor* group_of = tensors.find(module + "_g_idx"); group_of && m.groups > 1) {
        TRY_STATUS(tensors.check(module + "_g_idx", *group_of, {m.columns}, "I32"));
        TRY(order, order_of_groups(tensors, module + "_g_idx", *group_of, group));
    }
    const bool wide = m.bits > 4;
    const int shift = wide ? -128 : 0;  // signed bytes hold the wider codes
    CodedMatrix coded{wide ? Coding::int8 : Coding::int4, m.rows, m.columns, group, {}, {}};
    coded.codes = [&](int64_t first, int64_t count, uint8_t* to) {
        for (int64_t row = first; row < first + count; ++row)
            for (int64_t c = 0; c < m.columns; ++c)
                *to++ = static_cast<uint8_t>(code_of(m, row, order.empty() ? c : order[c]) + shift);
    };
    coded.scale = [&](int64_t row, int64_t g) -> CodeScale {
        return {m.scales[std::min(row, m.scale_rows - 1) * m.groups + g], zero_code(m, row, g) + shift};
    };
    TRY_STATUS(tensors.put(module, {m.rows, m.columns}, coded, order));
    for (const char* part : {"_packed", "_scale", "_shape", "_zero_point", "_g_idx"})
        tensors.drop(module + part);
    return success();
}

/// Reads E2M1 in sixteens: w = code · scale ÷ the tensor's global scale, which made the scales fit E4M3.
Status read_nvfp4_module(QuantizedTensors& tensors, const std::string& module) {
    constexpr int64_t kGroup = 16;
    const std::string packed = module + "_packed", scale = module + "_scale",
                      global = module + "_global_scale";
    const StoredTensor& weights = *tensors.find(packed);
    if (weights.shape.size() != 2 || element_count(weights.shape) == 0)
        return tensors.damaged(packed,
                               "has the shape " + shape_text(weights.shape) + ", not that of a matrix");
    const int64_t rows = weights.shape[0], columns = 2 * weights.shape[1];
    TRY(const StoredTensor* scales, tensors.beside(scale, packed));
    TRY_STATUS(tensors.check(scale, *scales, {rows, columns / kGroup}));
    TRY(const std::vector<float> values, tensors.scales(scale, *scales));
    TRY(const StoredTensor* whole, tensors.beside(global, packed));
    TRY(const std::vector<float> divisor, tensors.scales(global, *whole));
    if (divisor.size() != 1 || !(divisor[0] > 0)) return tensors.damaged(global, "is not one number above 0");
    CodedMatrix coded{Coding::nvfp4, rows, columns, kGroup, {}, {}};
    coded.codes = [&](int64_t first, int64_t count, uint8_t* to) {
        const std::byte* from = weights.bytes.data() + first * columns / 2;
        for (int64_t i = 0; i < count * columns / 2; ++i, ++from) {
            to[2 * i] = std::to_integer<uint8_t>(*from & std::byte{15});
            to[2 * i + 1] = std::to_integer<uint8_t>(*from >> 4);
        }
    };
    coded.scale = [&](int64_t row, int64_t g) -> CodeScale {
        return {values[row * (columns / kGroup) + g] / divisor[0], 0};
    };
    TRY_STATUS(tensors.put(module, {rows, columns}, coded));
    for (const std::string& part : {packed, scale, global}) tensors.drop(part);
    return success();
}

Status read_mxfp4_tensor(QuantizedTensors& tensors, const std::string& name) {
    const std::string blocks_name = name + "_blocks", scales_name = name + "_scales";
    const StoredTensor& blocks = *tensors.find(blocks_name);
    constexpr int64_t kBytes = 16;  // of 32 codes, the even ones in the low bits
    if (blocks.shape.size() < 3 || blocks.shape.back() != kBytes || element_count(blocks.shape) == 0)
        return tensors.damaged(blocks_name,
                               "has the shape " + shape_text(blocks.shape) + ", not […, rows, groups, 16]");
    TRY_STATUS(tensors.check(blocks_name, blocks, blocks.shape, "U8"));
    TRY(const StoredTensor* scales, tensors.beside(scales_name, blocks_name));
    std::vector<int64_t> shape(blocks.shape.begin(), blocks.shape.end() - 1);
    TRY_STATUS(tensors.check(scales_name, *scales, shape, "U8"));
    if (std::find(scales->bytes.begin(), scales->bytes.end(), std::byte{255}) != scales->bytes.end())
        return tensors.damaged(scales_name, "holds a scale that is not a number (255)");
    const int64_t groups = shape.back();
    shape.back() = groups * 2 * kBytes;
    CodedMatrix coded{Coding::mxfp4, element_count(shape) / shape.back(), shape.back(), 2 * kBytes, {}, {}};
    coded.codes = [&](int64_t first, int64_t count, uint8_t* to) {
        const std::byte* from = blocks.bytes.data() + first * groups * kBytes;
        for (int64_t i = 0; i < count * groups * kBytes; ++i, ++from) {
            to[2 * i] = std::to_integer<uint8_t>(*from & std::byte{15});
            to[2 * i + 1] = std::to_integer<uint8_t>(*from >> 4);
        }
    };
    coded.scale = [&](int64_t row, int64_t g) -> CodeScale {
        return {1, std::to_integer<int>(scales->bytes[row * groups + g])};
    };
    TRY_STATUS(tensors.put(name, shape, coded));
    tensors.drop(blocks_name);
    tensors.drop(scales_name);
    return success();
}

}  // namespace

Status read_packed(QuantizedTensors& tensors) {
    for (const std::string& module : tensors.with_ending(".weight_packed")) {
        const bool floats = tensors.find(module + ".weight_packed")->dtype->name == std::string_view("U8");
        TRY_STATUS((floats ? read_nvfp4_module : read_packed_module)(tensors, module + ".weight"));
    }
    return success();
}

Status read_mxfp4(QuantizedTensors& tensors) {
    for (const std::string& name : tensors.with_ending("_blocks"))
        TRY_STATUS(read_mxfp4_tensor(tensors, name));
    return success();
}

}  // namespace headlight

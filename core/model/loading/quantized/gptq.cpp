// Reads GPTQ (Frantar et al. 2022) and AWQ (Lin et al. 2023): integers in 32-bit words, by input; GPTQ's of
// three bits lie across the border of two words. Layouts: AutoGPTQ's qlinear modules and gptqmodel (formats
// gptq and gptq_v2), AutoAWQ's gemm.
#include <cstring>
#include <numeric>

#include "model/loading/quantized/quantized_tensors.h"

namespace headlight {

namespace {

constexpr int kWord = 32;  // bits

uint32_t word_at(const StoredTensor& tensor, int64_t at) {
    uint32_t out = 0;
    std::memcpy(&out, tensor.bytes.data() + at * int64_t{sizeof out}, sizeof out);
    return out;
}

/// Returns integer i of those of `bits` bits, the first lowest, in words `step` apart from `first` on.
int integer_at(const StoredTensor& tensor, int64_t first, int64_t step, int64_t i, int bits) {
    const int64_t bit = i * bits, word = first + bit / kWord * step, offset = bit % kWord;
    uint64_t words = word_at(tensor, word);
    if (offset + bits > kWord) words |= static_cast<uint64_t>(word_at(tensor, word + step)) << kWord;
    return static_cast<int>(words >> offset & ((1u << bits) - 1));
}

/// Holds a module's tensors, with checked shapes.
struct GroupedModule {
    const StoredTensor *weights = nullptr, *zeros = nullptr;
    std::vector<float> scales;  // [groups, rows]
    int64_t rows = 0, columns = 0, group = 0;
    int bits = 4;
    /// Returns what to add to a code: signed bytes hold codes of eight bits.
    int shift() const { return bits == 8 ? -128 : 0; }
    CodedMatrix matrix() const {
        return {bits == 8 ? Coding::int8 : Coding::int4, rows, columns, group, {}, {}};
    }
};

/// Finds the tensors of a module. by_input: words hold neighboring inputs of one output (GPTQ), else
/// neighboring outputs of one input (AWQ).
Result<GroupedModule> grouped_module(const QuantizedTensors& tensors, const std::string& module,
                                     bool by_input) {
    GroupedModule out;
    const std::string weights = module + ".qweight", zeros = module + ".qzeros", scale = module + ".scales";
    out.weights = tensors.find(weights);
    out.bits = tensors.how().bits;
    if (out.weights->shape.size() != 2 || element_count(out.weights->shape) == 0)
        return tensors.damaged(weights,
                               "has the shape " + shape_text(out.weights->shape) + ", not that of a matrix");
    out.columns = by_input ? out.weights->shape[0] * kWord / out.bits : out.weights->shape[0];
    out.rows = by_input ? out.weights->shape[1] : out.weights->shape[1] * kWord / out.bits;
    out.group = tensors.how().group ? tensors.how().group : out.columns;
    const int64_t groups = (out.columns + out.group - 1) / out.group;
    TRY_STATUS(tensors.check(weights, *out.weights, out.weights->shape, "I32"));
    const int together = kWord / std::gcd(kWord, out.bits);  // codes that fill whole words
    if (out.rows % together != 0 || out.columns % together != 0)
        return tensors.damaged(weights, "has " + std::to_string(out.rows) + " outputs of " +
                                            std::to_string(out.columns) + " inputs, not multiples of " +
                                            std::to_string(together));
    TRY(out.zeros, tensors.beside(zeros, weights));
    TRY_STATUS(tensors.check(zeros, *out.zeros, {groups, out.rows * out.bits / kWord}, "I32"));
    TRY(const StoredTensor* scales, tensors.beside(scale, weights));
    TRY_STATUS(tensors.check(scale, *scales, {groups, out.rows}));
    TRY(out.scales, tensors.scales(scale, *scales));
    return out;
}

void drop_module(QuantizedTensors& tensors, const std::string& module) {
    for (const char* part : {".qweight", ".qzeros", ".scales", ".g_idx"}) tensors.drop(module + part);
}

/// Returns the order of a module's inputs by their groups, which GPTQ with act-order mixes.
Result<std::vector<int32_t>> input_order(const QuantizedTensors& tensors, const std::string& module,
                                         const GroupedModule& m) {
    const std::string name = module + ".g_idx";
    const StoredTensor* group_of = tensors.find(name);
    if (!group_of || m.group >= m.columns) return std::vector<int32_t>();
    TRY_STATUS(tensors.check(name, *group_of, {m.columns}, "I32"));
    return order_of_groups(tensors, name, *group_of, m.group);
}

Status read_gptq_module(QuantizedTensors& tensors, const std::string& module) {
    TRY(const GroupedModule m, grouped_module(tensors, module, true));
    TRY(std::vector<int32_t> order, input_order(tensors, module, m));
    std::vector<int64_t> place(static_cast<size_t>(m.columns));  // of each input
    for (int64_t i = 0; i < m.columns; ++i) place[order.empty() ? i : order[i]] = i;
    CodedMatrix coded = m.matrix();
    coded.codes = [&](int64_t first, int64_t count, uint8_t* to) {
        for (int64_t c = 0; c < m.columns; ++c)
            for (int64_t r = 0; r < count; ++r)
                to[r * m.columns + place[c]] =
                    static_cast<uint8_t>(integer_at(*m.weights, first + r, m.rows, c, m.bits) + m.shift());
    };
    coded.scale = [&](int64_t row, int64_t group) -> CodeScale {
        const int zero = integer_at(*m.zeros, group * m.rows * m.bits / kWord, 1, row, m.bits);
        return {m.scales[group * m.rows + row], zero + tensors.how().zeros_less_one + m.shift()};
    };
    const std::vector<int64_t> shape{m.rows, m.columns};
    TRY_STATUS(tensors.put(module + ".weight", shape, coded, std::move(order)));
    drop_module(tensors, module);
    return success();
}

/// Returns where a word holds output j of its eight: AWQ writes the even ones first.
int awq_place(int64_t j) { return static_cast<int>(j % 2 * 4 + j / 2); }

Status read_awq_module(QuantizedTensors& tensors, const std::string& module) {
    TRY(const GroupedModule m, grouped_module(tensors, module, false));
    const int64_t words = m.rows * m.bits / kWord;
    const auto value = [&](const StoredTensor& tensor, int64_t line, int64_t row) {
        return static_cast<uint8_t>(word_at(tensor, line * words + row / 8) >> (awq_place(row % 8) * 4) & 15);
    };
    CodedMatrix coded = m.matrix();
    coded.codes = [&](int64_t first, int64_t count, uint8_t* to) {
        for (int64_t c = 0; c < m.columns; ++c)
            for (int64_t r = 0; r < count; ++r) to[r * m.columns + c] = value(*m.weights, c, first + r);
    };
    coded.scale = [&](int64_t row, int64_t group) -> CodeScale {
        return {m.scales[group * m.rows + row], value(*m.zeros, group, row)};
    };
    TRY_STATUS(tensors.put(module + ".weight", {m.rows, m.columns}, coded));
    drop_module(tensors, module);
    return success();
}

}  // namespace

Status read_gptq(QuantizedTensors& tensors) {
    for (const std::string& module : tensors.with_ending(".qweight"))
        TRY_STATUS(read_gptq_module(tensors, module));
    return success();
}

Status read_awq(QuantizedTensors& tensors) {
    for (const std::string& module : tensors.with_ending(".qweight"))
        TRY_STATUS(read_awq_module(tensors, module));
    return success();
}

}  // namespace headlight

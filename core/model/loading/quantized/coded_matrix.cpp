// Lays quantized matrices out in the blocks of kernels/scaled.h.
#include "model/loading/quantized/coded_matrix.h"

#include <algorithm>
#include <cstring>

#include "base/cast.h"

namespace headlight {

namespace {

constexpr int64_t kTileRows = 64;

struct CodingRow {
    Coding coding;
    const char* formats[2];  // the larger blocks first; null: none
    int codes_at;            // bytes before the codes of a block
    bool nibbles, zero;      // whether codes are four bits, and whether a zero follows the scale
    int scales = 1;          // groups of a block, each with its scale
};
constexpr CodingRow kCodings[] = {
    {Coding::int4, {"INT4/128", "INT4/32"}, 6, true, true},
    {Coding::int8, {"INT8/128", "INT8/32"}, 6, false, true},
    {Coding::e4m3, {"F8_E4M3/128", "F8_E4M3/32"}, 4, false, false},
    {Coding::e5m2, {"F8_E5M2/32", nullptr}, 4, false, false},
    {Coding::nf4, {"NF4/64", nullptr}, 4, true, false},
    {Coding::fp4, {"FP4/64", nullptr}, 4, true, false},
    {Coding::mxfp4, {nullptr, nullptr}, 1, true, false},
    {Coding::nvfp4, {"NVFP4/16", nullptr}, 8, true, false, 2},
};
const CodingRow& row_of(Coding coding) {
    return *std::find_if(std::begin(kCodings), std::end(kCodings),
                         [=](const CodingRow& row) { return row.coding == coding; });
}
constexpr uint32_t kGgufMxfp4 = 39;

/// Writes sixteen bytes of 32 codes: the low nibbles are the first half.
void pack_nibbles(const uint8_t* codes, int64_t count, std::byte* to) {
    for (int64_t i = 0; i < count; i += 32)
        for (int64_t j = 0; j < 16; ++j)
            *to++ = static_cast<std::byte>((codes[i + j] & 15) | codes[i + j + 16] << 4);
}

/// Writes the scale of a group: of E2M1 in sixteens half of it, because the kernels double its values.
void write_scale(const CodingRow& row, const CodeScale& scale, std::byte* to) {
    const float value = row.coding == Coding::nvfp4 ? scale.scale / 2 : scale.scale;
    if (row.coding == Coding::mxfp4)
        *to = static_cast<std::byte>(scale.zero);
    else
        std::memcpy(to, &value, sizeof value);
}

/// Writes a block of a row after its scales.
void write_block(const CodingRow& row, const CodeScale& scale, const uint8_t* codes, int64_t count,
                 std::byte* to) {
    if (row.zero) {
        const auto zero = static_cast<int16_t>(scale.zero);
        std::memcpy(to + sizeof scale.scale, &zero, sizeof zero);
    }
    if (row.nibbles)
        pack_nibbles(codes, count, to + row.codes_at);
    else
        std::memcpy(to + row.codes_at, codes, static_cast<size_t>(count));
}

}  // namespace

const DType* layout_of(const CodedMatrix& m) {
    const CodingRow& row = row_of(m.coding);
    const auto fits = [&](const DType& type) {
        const int64_t group = m.group * row.scales;
        return m.columns % type.block == 0 && (group >= m.columns || group % type.block == 0);
    };
    if (m.coding == Coding::mxfp4) {
        const DType& type = *find_gguf_type(kGgufMxfp4);
        return fits(type) ? &type : nullptr;
    }
    for (const char* name : row.formats)
        if (name && fits(laid_out_type(name))) return &laid_out_type(name);
    return nullptr;
}

std::unique_ptr<std::byte[]> laid_out(const CodedMatrix& m, const DType& type, ThreadPool& pool) {
    const CodingRow& row = row_of(m.coding);
    const int64_t stride = type.size(m.columns);
    auto out = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(stride * m.rows));
    pool.run(narrow<int>((m.rows + kTileRows - 1) / kTileRows), [&](int tile) {
        static thread_local std::vector<uint8_t> codes;
        const int64_t first = tile * kTileRows, count = std::min(kTileRows, m.rows - first);
        codes.resize(static_cast<size_t>(count * m.columns));
        m.codes(first, count, codes.data());
        for (int64_t r = 0; r < count; ++r)
            for (int64_t at = 0; at < m.columns; at += type.block) {
                std::byte* const to = out.get() + (first + r) * stride + at / type.block * type.bytes;
                const CodeScale scale = m.scale(first + r, at / m.group);
                write_scale(row, scale, to);
                for (int i = 1; i < row.scales; ++i)
                    write_scale(row, m.scale(first + r, at / m.group + i), to + i * sizeof scale.scale);
                write_block(row, scale, codes.data() + r * m.columns + at, type.block, to);
            }
    });
    return out;
}

}  // namespace headlight

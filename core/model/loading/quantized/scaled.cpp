// Reads floats and integers of eight bits with scales beside them: of a tensor, of rows, of groups of a row,
// or of blocks (DeepSeek-V3's FP8, compressed-tensors, fbgemm, modelopt), and bitsandbytes' eight bits.
#include <algorithm>

#include "model/loading/quantized/quantized_tensors.h"

namespace headlight {

namespace {

/// Finds the coding of a type; null: it is none of these.
const Coding* coding_of(std::string_view type) {
    static constexpr std::pair<std::string_view, Coding> kTypes[] = {
        {"F8_E4M3", Coding::e4m3}, {"F8_E5M2", Coding::e5m2}, {"I8", Coding::int8}};
    for (const auto& [name, coding] : kTypes)
        if (name == type) return &coding;
    return nullptr;
}

/// Names the scales of a tensor; "": it has none.
std::string scale_name(const QuantizedTensors& tensors, const std::string& name) {
    for (const char* ending : {"_scale_inv", "_scale"})
        if (tensors.find(name + ending)) return name + ending;
    const std::string scb = name.substr(0, name.rfind('.') + 1) + "SCB";
    return name.ends_with(".weight") && tensors.find(scb) ? scb : "";
}

/// Says which rows and columns of a matrix share a scale.
struct ScaleGrid {
    int64_t rows = 1, columns = 1;            // scales
    int64_t row_block = 1, column_block = 1;  // weights of each
};

/// Returns how many weights of a side share a scale; 0: these numbers do not go together.
int64_t side_block(int64_t weights, int64_t scales, int64_t stated) {
    if (scales == 1) return weights;
    if (stated > 0 && scales == (weights + stated - 1) / stated) return stated;
    return scales > 0 && weights % scales == 0 ? weights / scales : 0;
}

Result<ScaleGrid> scale_grid(const QuantizedTensors& tensors, const std::string& name,
                             std::vector<int64_t> weights, const std::string& of,
                             std::vector<int64_t> scales) {
    const Error wrong = tensors.damaged(of, "has the shape " + shape_text(scales) + ", which does not fit " +
                                                shape_text(weights) + " of " + name);
    const bool one = element_count(scales) == 1;
    if (!one && weights.size() == 3) {  // experts
        if (scales.size() < 2 || scales[0] != weights[0]) return wrong;
        scales.erase(scales.begin());
    }
    if (!one && scales.size() > 2) return wrong;
    ScaleGrid out;
    if (!one && !scales.empty()) out.rows = scales[0];
    if (!one && scales.size() == 2) out.columns = scales[1];
    out.row_block = side_block(weights[weights.size() - 2], out.rows, tensors.how().block_rows);
    out.column_block = side_block(weights.back(), out.columns, tensors.how().block_columns);
    if (out.row_block == 0 || out.column_block == 0) return wrong;
    return out;
}

/// Returns the zeros beside a tensor, one for each scale; empty: none.
Result<std::vector<int>> zero_points(const QuantizedTensors& tensors, const std::string& name,
                                     const StoredTensor& scales) {
    const std::string zero = name + "_zero_point";
    const StoredTensor* stored = tensors.find(zero);
    std::vector<int> out;
    if (!stored) return out;
    TRY_STATUS(tensors.check(zero, *stored, scales.shape));
    if (const std::string_view type = stored->dtype->name; type != "I8") {  // of floats: zeros
        TRY(const std::vector<float> values, tensors.scales(zero, *stored));
        if (std::any_of(values.begin(), values.end(), [](float z) { return z != 0; }))
            return tensors.damaged(zero, "is not zero");
        return out;
    }
    for (const std::byte b : stored->bytes) out.push_back(static_cast<int8_t>(std::to_integer<uint8_t>(b)));
    return out;
}

/// Returns the inputs by their groups, if a tensor beside assigns them.
Result<std::vector<int32_t>> scaled_order(const QuantizedTensors& tensors, const std::string& name,
                                          int64_t columns, const ScaleGrid& grid) {
    const StoredTensor* group_of = tensors.find(name + "_g_idx");
    if (!group_of || grid.columns == 1) return std::vector<int32_t>();
    TRY_STATUS(tensors.check(name + "_g_idx", *group_of, {columns}, "I32"));
    return order_of_groups(tensors, name + "_g_idx", *group_of, grid.column_block);
}

Status read_scaled_tensor(QuantizedTensors& tensors, const std::string& name, const std::string& scale_at) {
    const StoredTensor &weights = *tensors.find(name), &stored = *tensors.find(scale_at);
    const std::vector<int64_t> shape = weights.shape;
    if (shape.size() < 2 || shape.size() > 3 || element_count(shape) == 0)
        return tensors.damaged(name, "has the shape " + shape_text(shape) + ", not that of a matrix");
    TRY(const ScaleGrid grid, scale_grid(tensors, name, shape, scale_at, stored.shape));
    TRY(const std::vector<float> scales, tensors.scales(scale_at, stored));
    TRY(const std::vector<int> zeros, zero_points(tensors, name, stored));
    const int64_t columns = shape.back(), rows_of_one = shape[shape.size() - 2],
                  grid_size =
                      stored.shape.size() > 0 && std::ssize(scales) > 1 ? grid.rows * grid.columns : 0;
    TRY(const std::vector<int32_t> order, scaled_order(tensors, name, columns, grid));
    const float unit = scale_at.ends_with("SCB") ? 1.0f / 127 : 1;  // SCB: the largest magnitude of a row
    CodedMatrix coded{
        *coding_of(weights.dtype->name), element_count(shape) / columns, columns, grid.column_block, {}, {}};
    coded.codes = [&](int64_t first, int64_t count, uint8_t* to) {
        const auto* from = reinterpret_cast<const uint8_t*>(weights.bytes.data()) + first * columns;
        for (int64_t r = 0; r < count; ++r, from += columns, to += columns)
            for (int64_t c = 0; c < columns; ++c) to[c] = from[order.empty() ? c : order[c]];
    };
    coded.scale = [&](int64_t row, int64_t group) -> CodeScale {
        const int64_t at =
            row / rows_of_one * grid_size + row % rows_of_one / grid.row_block * grid.columns + group;
        return {scales[at] * unit, zeros.empty() ? 0 : zeros[at]};
    };
    TRY_STATUS(tensors.put(name, shape, coded, order));
    tensors.drop(scale_at);
    tensors.drop(name + "_zero_point");
    tensors.drop(name + "_g_idx");
    return success();
}

/// Returns whether a tensor without scales is as its configuration says.
bool may_lack_scales(const QuantizedTensors& tensors, const std::string& name) {
    if (tensors.how().method == Quantization::Method::none || !name.ends_with(".weight")) return true;
    return tensors.how().keeps(name.substr(0, name.rfind('.')));
}

}  // namespace

Status read_scaled(QuantizedTensors& tensors) {
    for (const std::string& name : tensors.names()) {
        const StoredTensor* tensor = tensors.find(name);
        if (!tensor || !coding_of(tensor->dtype->name) || name.ends_with("_zero_point")) continue;
        const std::string scale = scale_name(tensors, name);
        if (scale.empty() && tensor->shape.size() == 2 && !may_lack_scales(tensors, name))
            return tensors.beside(name + "_scale", name).error();
        if (!scale.empty()) TRY_STATUS(read_scaled_tensor(tensors, name, scale));
    }
    return success();
}

}  // namespace headlight

// Finds quantized tensors, checks them, and puts matrices in their place.
#include "model/loading/quantized/quantized_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/quoted.h"

namespace headlight {

const StoredTensor* QuantizedTensors::find(const std::string& name) const {
    for (const TensorFile& file : files_)
        if (const auto it = file.tensors.find(name); it != file.tensors.end()) return &it->second;
    return nullptr;
}

Result<const StoredTensor*> QuantizedTensors::beside(const std::string& name, const std::string& of) const {
    if (const StoredTensor* tensor = find(name)) return tensor;
    return Error{place_ + " has no tensor " + shortened(name) + ", which " + shortened(of) +
                 " needs to be read (" + how_.name +
                 "); use the quantizer's own files, or the unquantized model."};
}

std::vector<std::string> QuantizedTensors::with_ending(std::string_view ending) const {
    std::set<std::string> out;
    for (const TensorFile& file : files_)
        for (const auto& [name, tensor] : file.tensors)
            if (name.ends_with(ending)) out.insert(name.substr(0, name.size() - ending.size()));
    return {out.begin(), out.end()};
}

Error QuantizedTensors::damaged(const std::string& name, const std::string& what) const {
    return Error{place_ + ": tensor " + shortened(name) + " " + what +
                 "; use the quantizer's own files, or the unquantized model."};
}

Status QuantizedTensors::check(const std::string& name, const StoredTensor& tensor,
                               const std::vector<int64_t>& shape, std::string_view type) const {
    if (tensor.shape != shape)
        return damaged(name, "has the shape " + shape_text(tensor.shape) + ", but the tensors beside it (" +
                                 how_.name + ") call for " + shape_text(shape));
    if (!type.empty() && type != tensor.dtype->name)
        return damaged(name, std::string("has dtype ") + tensor.dtype->name + ", but " + how_.name +
                                 " stores " + std::string(type));
    return success();
}

Result<std::vector<float>> QuantizedTensors::scales(const std::string& name,
                                                    const StoredTensor& tensor) const {
    std::vector<float> out(static_cast<size_t>(element_count(tensor.shape)));
    const std::string_view type = tensor.dtype->name;
    if (type == "F8_E8M0" || type == "U8") {  // exponents of MX formats
        for (size_t i = 0; i < out.size(); ++i)
            out[i] = std::ldexp(1.0f, std::to_integer<int>(tensor.bytes[i]) - 127);
    } else if (tensor.dtype->holds_weights() && tensor.dtype->block == 1) {
        const std::vector<std::byte> aligned(tensor.bytes.begin(), tensor.bytes.end());
        tensor.dtype->decode(aligned.data(), std::ssize(out), out.data());
    } else {
        return damaged(name, std::string("has dtype ") + tensor.dtype->name + ", not one of scales");
    }
    if (!std::all_of(out.begin(), out.end(), [](float s) { return std::isfinite(s); }))
        return damaged(name, "holds a scale that is not a finite number");
    return out;
}

void QuantizedTensors::drop(const std::string& name) {
    for (TensorFile& file : files_) file.tensors.erase(name);
}

Status QuantizedTensors::put(const std::string& name, const std::vector<int64_t>& shape,
                             const CodedMatrix& matrix, std::vector<int32_t> order) {
    pool_.stop_point();
    const DType* type = layout_of(matrix);
    if (!type)
        return Error{place_ + ": the rows of " + shortened(name) + " have " + std::to_string(matrix.columns) +
                     " weights in groups of " + std::to_string(matrix.group) +
                     ", which Headlight does not read quantized (" + how_.name +
                     "): both must be multiples of 32; use the model's unquantized weights."};
    auto block = laid_out(matrix, *type, pool_);
    StoredTensor made{
        type, shape, {block.get(), static_cast<size_t>(type->size(matrix.columns) * matrix.rows)}};
    if (!order.empty()) {
        out_.orders.push_back(std::make_unique<std::vector<int32_t>>(std::move(order)));
        made.order = out_.orders.back()->data();
    }
    drop(name);
    out_.blocks.push_back(std::move(block));
    out_.tensors.tensors[name] = made;
    return success();
}

Result<std::vector<int32_t>> order_of_groups(const QuantizedTensors& tensors, const std::string& name,
                                             const StoredTensor& group_of, int64_t size) {
    const int64_t count = element_count(group_of.shape), groups = (count + size - 1) / size;
    std::vector<int32_t> of(static_cast<size_t>(count)), order(of.size());
    std::memcpy(of.data(), group_of.bytes.data(), of.size() * sizeof(int32_t));
    if (std::all_of(of.begin(), of.end(), [](int32_t group) { return group == -1; }))
        return std::vector<int32_t>();  // how compressed-tensors says that there is no order
    std::vector<int64_t> counts(static_cast<size_t>(groups));
    for (size_t i = 0; i < of.size(); ++i) {
        order[i] = static_cast<int32_t>(i);
        if (of[i] < 0 || of[i] >= groups)
            return tensors.damaged(
                name, "puts an input in group " + std::to_string(of[i]) + " of " + std::to_string(groups));
        ++counts[static_cast<size_t>(of[i])];
    }
    for (int64_t g = 0; g < groups; ++g)
        if (counts[static_cast<size_t>(g)] != std::min(size, count - g * size))
            return tensors.damaged(name, "puts " + std::to_string(counts[static_cast<size_t>(g)]) +
                                             " inputs in group " + std::to_string(g) + ", which has " +
                                             std::to_string(std::min(size, count - g * size)));
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return of[a] < of[b]; });
    if (std::is_sorted(order.begin(), order.end())) order.clear();
    return order;
}

namespace {

/// Lists what scales activations or caches of keys and values, which Headlight computes as floats.
constexpr std::string_view kOfActivations[] = {
    ".input_scale", ".input_zero_point", ".input_global_scale", ".activation_scale", ".output_scale",
    ".k_scale",     ".v_scale",          ".weight_format",
};

void drop_scales_of_activations(QuantizedTensors& tensors) {
    for (const std::string_view ending : kOfActivations)
        for (const std::string& module : tensors.with_ending(ending))
            tensors.drop(module + std::string(ending));
}

}  // namespace

Result<LaidOut> lay_out_quantized(std::vector<TensorFile>& files, const Quantization& how,
                                  const std::string& place, const CancelFlag* cancel) {
    using Method = Quantization::Method;
    constexpr std::pair<Method, Status (*)(QuantizedTensors&)> kReaders[] = {
        {Method::gptq, read_gptq},     {Method::awq, read_awq},     {Method::bitsandbytes, read_bitsandbytes},
        {Method::packed, read_packed}, {Method::mxfp4, read_mxfp4},
    };
    ThreadPool pool(how.method == Method::none ? 1 : default_thread_count());
    const CancelScope scope(pool, cancel);
    LaidOut out;
    QuantizedTensors tensors(files, how, place, pool, out);
    for (const auto& [method, read] : kReaders)
        if (method == how.method) TRY_STATUS(read(tensors));
    TRY_STATUS(read_scaled(tensors));
    if (how.method != Method::none) drop_scales_of_activations(tensors);
    return out;
}

}  // namespace headlight

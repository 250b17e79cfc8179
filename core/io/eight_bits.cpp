#include "io/eight_bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/cast.h"
#include "io/json.h"
#include "io/safetensors.h"

namespace headlight {

namespace {

constexpr int64_t kGroup = 64;     // weights that share a scale
constexpr float kLargest = 127;    // code
constexpr int64_t kFew = 1 << 12;  // weights that are not worth it
constexpr const char* kScale = ":scale";

struct Part {
    std::string name, dtype;
    std::vector<int64_t> shape;
    std::string bytes;
};

/// Lays a file out; its header is padded so that the numbers are aligned.
std::string laid_out(const std::vector<Part>& parts) {
    constexpr size_t kAlignment = 8;
    nlohmann::ordered_json header;
    size_t end = 0;
    for (const Part& p : parts) {
        header[p.name] = {
            {"dtype", p.dtype}, {"shape", p.shape}, {"data_offsets", {end, end + p.bytes.size()}}};
        end += p.bytes.size();
    }
    std::string text = json_text(header);
    text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
    const uint64_t length = text.size();
    std::string out(reinterpret_cast<const char*>(&length), sizeof length);
    out += text;
    for (const Part& p : parts) out += p.bytes;
    return out;
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::vector<float> floats_of(const StoredTensor& tensor) {
    std::vector<float> out(size_t(element_count(tensor.shape)));
    tensor.dtype->decode(tensor.bytes.data(), isize(out), out.data());
    return out;
}

Part as_it_is(const std::string& name, const StoredTensor& t) {
    return {name, t.dtype->name, t.shape, {reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size()}};
}

bool is_worth_it(const StoredTensor& t) {
    return t.dtype->holds_weights() && t.shape.size() >= 2 && t.shape.back() % kGroup == 0 &&
           element_count(t.shape) >= kFew;
}

/// Adds codes and scales. The scale maps the group's largest weight to the largest code.
void add_coded(const std::string& name, const StoredTensor& tensor, std::vector<Part>& parts) {
    const std::vector<float> weights = floats_of(tensor);
    std::vector<int8_t> codes(weights.size());
    std::vector<float> scales(weights.size() / kGroup);
    for (size_t g = 0; g < scales.size(); ++g) {
        const float* w = weights.data() + g * kGroup;
        float largest = 0;
        for (int64_t i = 0; i < kGroup; ++i) largest = std::max(largest, std::abs(w[i]));
        scales[g] = largest / kLargest;
        for (int64_t i = 0; i < kGroup; ++i)
            codes[g * kGroup + i] = largest > 0 ? int8_t(std::lround(w[i] / scales[g])) : int8_t(0);
    }
    std::vector<int64_t> groups = tensor.shape;
    groups.back() /= kGroup;
    parts.push_back({name, "I8", tensor.shape, bytes_of(codes)});
    parts.push_back({name + kScale, "F32", groups, bytes_of(scales)});
}

std::string decoded(const StoredTensor& codes, const StoredTensor& scales) {
    std::vector<float> weights(codes.bytes.size()), unit = floats_of(scales);
    for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = unit[i / kGroup] * float(static_cast<int8_t>(codes.bytes[i]));
    return bytes_of(weights);
}

/// Returns the scales of a tensor of codes; null: it is none.
const StoredTensor* scales_of(const Safetensors& file, const std::string& name, const StoredTensor& tensor) {
    const auto found = file.tensors.find(name + kScale);
    const bool coded = found != file.tensors.end() && std::string_view(tensor.dtype->name) == "I8" &&
                       std::string_view(found->second.dtype->name) == "F32" &&
                       element_count(found->second.shape) * kGroup == element_count(tensor.shape);
    return coded ? &found->second : nullptr;
}

}  // namespace

Result<std::string> in_eight_bits(std::span<const std::byte> file, const std::string& name) {
    TRY(const Safetensors read, parse_safetensors(file, name));
    std::vector<Part> parts;
    for (const auto& [key, tensor] : read.tensors) {
        if (is_worth_it(tensor))
            add_coded(key, tensor, parts);
        else
            parts.push_back(as_it_is(key, tensor));
    }
    return laid_out(parts);
}

Result<std::string> from_eight_bits(std::string file, const std::string& name) {
    TRY(const Safetensors read, parse_safetensors(std::as_bytes(std::span(file)), name));
    std::vector<Part> parts;
    bool any = false;
    for (const auto& [key, tensor] : read.tensors) {
        const StoredTensor* scales = scales_of(read, key, tensor);
        any |= scales != nullptr;
        if (scales)
            parts.push_back({key, "F32", tensor.shape, decoded(tensor, *scales)});
        else if (!key.ends_with(kScale))
            parts.push_back(as_it_is(key, tensor));
    }
    if (!any) return file;
    return laid_out(parts);
}

}  // namespace headlight

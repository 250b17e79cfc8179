// Parses safetensors. Bounds every number of the header before using it.
#include "io/safetensors.h"

#include <algorithm>
#include <cstring>

#include "base/quoted.h"
#include "io/heap_tensors.h"
#include "io/json.h"
#include "io/output_file.h"

namespace headlight {

namespace {

constexpr uint64_t kMaxHeader = 64u << 20;
constexpr int64_t kLargestTensor = int64_t{1} << 48;

Result<std::vector<int64_t>> read_shape(const Json& entry, const std::string& what) {
    const auto it = entry.find("shape");
    if (it == entry.end() || !it->is_array() || it->size() > 8)
        return Error{what + " has no usable shape; save the model with a current safetensors."};
    std::vector<int64_t> shape;
    int64_t count = 1;
    for (const Json& d : *it) {
        if (!d.is_number_integer() ||
            (d.is_number_unsigned() && d.get<uint64_t>() > static_cast<uint64_t>(kLargestTensor)) ||
            d.get<int64_t>() < 0)
            return Error{what +
                         " has a dimension that is not a size; save the model with a current safetensors."};
        const int64_t size = d.get<int64_t>();
        if (size > 0 && count > kLargestTensor / size)
            return Error{
                what + " has more elements than any file holds; save the model with a current safetensors."};
        count *= size;
        shape.push_back(size);
    }
    return shape;
}

Result<StoredTensor> read_header_entry(const Json& entry, std::span<const std::byte> data,
                                       const std::string& what, uint64_t& begin, uint64_t& end) {
    if (!entry.is_object())
        return Error{what + " is not described by an object; save the model with a current safetensors."};
    StoredTensor tensor;
    TRY(const std::string type, json_string(entry, "dtype", "", what));
    tensor.dtype = find_dtype(type);
    if (!tensor.dtype)
        return Error{what + " has the unknown dtype " + in_quotes(type) + "; save it as F32, F16 or BF16."};
    TRY(tensor.shape, read_shape(entry, what));
    const auto offsets = entry.find("data_offsets");
    const bool usable = offsets != entry.end() && offsets->is_array() && offsets->size() == 2 &&
                        (*offsets)[0].is_number_unsigned() && (*offsets)[1].is_number_unsigned();
    if (!usable)
        return Error{what + " has no usable data_offsets, so the file is damaged; download it again."};
    begin = (*offsets)[0].get<uint64_t>();
    end = (*offsets)[1].get<uint64_t>();
    if (begin > end)
        return Error{what + " ends before it begins, so the file is damaged; download it again."};
    if (end > data.size())
        return Error{what + " ends at byte " + std::to_string(end) +
                     " of the data, but the file holds only " + std::to_string(data.size()) +
                     "; the download stopped early, so download this file again."};
    const auto needed = static_cast<uint64_t>(tensor.dtype->size(element_count(tensor.shape)));
    if (end - begin != needed)
        return Error{what + " of shape " + shape_text(tensor.shape) + " needs " + std::to_string(needed) +
                     " bytes, but its data_offsets give " + std::to_string(end - begin) +
                     "; the file is damaged, so download it again."};
    tensor.bytes = data.subspan(begin, end - begin);
    return tensor;
}

}  // namespace

std::string shape_text(std::span<const int64_t> shape) {
    std::string out = "[";
    for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
    return out + "]";
}

int64_t element_count(std::span<const int64_t> shape) {
    int64_t count = 1;
    for (const int64_t d : shape) count *= d;
    return count;
}

Status check_apart(std::vector<ByteRange> ranges, const std::string& name) {
    std::erase_if(ranges, [](const ByteRange& r) { return r.first == r.second; });
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i)
        if (ranges[i].first < ranges[i - 1].second)
            return Error{name +
                         ": two tensors share the same bytes, so the file is damaged; download it again."};
    return success();
}

Result<Safetensors> parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
    if (bytes.size() < 8)
        return Error{name + " is " + std::to_string(bytes.size()) +
                     " bytes long, too short for a safetensors file; download it again."};
    uint64_t length;
    std::memcpy(&length, bytes.data(), 8);
    if (length > kMaxHeader)
        return Error{name + " is not a safetensors file: its header claims " + std::to_string(length) +
                     " bytes; check that it is the right file."};
    if (length > bytes.size() - 8)
        return Error{name + " ends inside its header (" + std::to_string(bytes.size() - 8) + " of " +
                     std::to_string(length) +
                     " bytes); the download stopped early, so download this file again."};
    TRY(const Json header, parse_json({reinterpret_cast<const char*>(bytes.data()) + 8, size_t(length)},
                                      "The header of " + name));
    if (!header.is_object())
        return Error{"The header of " + name +
                     " is not a JSON object; save the model with a current safetensors."};
    const auto data = bytes.subspan(8 + length);

    Safetensors out;
    std::vector<ByteRange> ranges;
    for (const auto& [key, entry] : header.items()) {
        if (key == "__metadata__") {
            if (!entry.is_object()) continue;
            for (const auto& [k, v] : entry.items())
                if (v.is_string()) out.metadata[k] = v.get<std::string>();
            continue;
        }
        uint64_t begin = 0, end = 0;
        TRY(out.tensors[key],
            read_header_entry(entry, data, name + ": tensor " + shortened(key), begin, end));
        ranges.emplace_back(begin, end);
    }
    TRY_STATUS(check_apart(std::move(ranges), name));
    return out;
}

Result<Safetensors> open_safetensors(const std::filesystem::path& path) {
    TRY(auto file, MappedFile::open(path));
    TRY(Safetensors out, parse_safetensors(file->bytes(), display_path(path)));
    out.file = tensor_owner(std::move(file), out.tensors);
    return out;
}

namespace {

/// Returns the bytes of a number of a type that is written: F32, F64, I64, F16.
uint64_t bytes_of_dtype(std::string_view name) {
    return name.ends_with("64") ? 8 : name.ends_with("16") ? 2 : 4;
}

}  // namespace

Status write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors,
                         const std::map<std::string, std::string>& metadata,
                         const std::function<Status()>& last_word) {
    nlohmann::ordered_json header;
    if (!metadata.empty()) header["__metadata__"] = metadata;
    uint64_t offset = 0;
    for (const auto& t : tensors) {
        const uint64_t size = static_cast<uint64_t>(element_count(t.shape)) * bytes_of_dtype(t.dtype);
        header[t.name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"data_offsets", {offset, offset + size}}};
        offset += size;
    }
    std::string text = json_text(header);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const uint64_t length = text.size();
    TRY(auto out, OutputFile::create(path));
    out->write(&length, 8);
    out->write(text.data(), text.size());
    for (const auto& t : tensors) t.write([&](const void* data, size_t size) { out->write(data, size); });
    if (last_word) TRY_STATUS(last_word());
    return out->commit();
}

}  // namespace headlight

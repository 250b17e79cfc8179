// Parses frames: every length is checked before anything of that length is read.
#include "engine/frame.h"

#include <cstring>

#include "base/cast.h"
#include "base/masked.h"
#include "base/quoted.h"

namespace headlight {

namespace {

constexpr std::string_view kMagic = "HLE1";
constexpr uint64_t kMaxHeader = 64 << 20, kMaxBody = uint64_t{1} << 36;
constexpr size_t kMaxTensors = 4096, kMaxRank = 4, kMaxName = 256, kAlignment = 64;
constexpr std::string_view kTypes[] = {"F32", "F16", "BF16", "I64", "I32", "U8"};
constexpr int64_t kMaxSize = int64_t{1} << 40;
constexpr const char* kOfFrame = "A frame of the server";

Error misplaced() { return of_other_version("A tensor that the server sent is not where its frame says"); }

/// Reads a tensor's sizes; their product may not pass kMaxSize.
Result<std::vector<int64_t>> read_sizes(const Json& entry) {
    TRY(const Json list, json_list(entry, "shape", kOfFrame));
    if (list.size() > kMaxRank) return misplaced();
    std::vector<int64_t> out;
    int64_t count = 1;
    for (const Json& size : list) {
        TRY(const int64_t n, whole_number(size, "shape", 0, kMaxSize, kOfFrame));
        if (n > 0 && count > kMaxSize / n) return misplaced();
        count *= n;
        out.push_back(n);
    }
    return out;
}

Result<StoredTensor> read_tensor(const Json& entry, std::span<const std::byte> body) {
    StoredTensor out;
    TRY(const std::string type, json_string(entry, "dtype", "", kOfFrame));
    if (!contains(kTypes, type)) return misplaced();
    out.dtype = find_dtype(type);
    TRY(out.shape, read_sizes(entry));
    TRY(const int64_t offset, json_integer(entry, "offset", -1, 0, kMaxSize, kOfFrame));
    const int64_t bytes = out.dtype->size(element_count(out.shape));
    if (offset < 0 || offset % out.dtype->bytes || offset + bytes > std::ssize(body)) return misplaced();
    out.bytes = body.subspan(static_cast<size_t>(offset), static_cast<size_t>(bytes));
    return out;
}

template <class T>
std::string little_endian(T value) {
    std::string out(sizeof value, '\0');
    std::memcpy(out.data(), &value, sizeof value);
    return out;
}

}  // namespace

Error of_other_version(const std::string& what) {
    return Error{what + "; start it with the same version of Headlight's Python package."};
}

const StoredTensor* Frame::find(const std::string& name) const {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : &found->second;
}

Result<FrameSizes> read_preface(std::span<const std::byte, kPrefaceBytes> bytes) {
    if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
        return of_other_version("What answers there is no engine of Headlight, version 1");
    uint32_t header = 0;
    FrameSizes out;
    std::memcpy(&header, bytes.data() + 4, sizeof header);
    std::memcpy(&out.body, bytes.data() + 8, sizeof out.body);
    out.header = header;
    if (out.header > kMaxHeader || out.body > kMaxBody)
        return Error{"The server sends " + std::to_string(out.header) + " + " + std::to_string(out.body) +
                     " bytes at once, which is more than a frame may hold; give a shorter text."};
    return out;
}

Result<Json> parse_frame_header(std::string_view text) {
    TRY(Json header, parse_json(text, kOfFrame));
    if (!header.is_object()) return of_other_version(std::string(kOfFrame) + " is not a JSON object");
    return header;
}

Result<std::map<std::string, StoredTensor>> frame_tensors(const Json& header,
                                                          std::span<const std::byte> body) {
    std::map<std::string, StoredTensor> out;
    TRY(const Json list, json_list(header, "tensors", kOfFrame));
    if (list.size() > kMaxTensors) return misplaced();
    for (const Json& entry : list) {
        if (!entry.is_object()) return misplaced();
        TRY(std::string name, json_string(entry, "name", "", kOfFrame));
        if (name.empty() || name.size() > kMaxName || out.count(name)) return misplaced();
        TRY(out[std::move(name)], read_tensor(entry, body));
    }
    return out;
}

Result<Frame> parse_frame(std::span<const std::byte> bytes) {
    if (bytes.size() < kPrefaceBytes) return misplaced();
    TRY(const FrameSizes sizes, read_preface(bytes.first<kPrefaceBytes>()));
    bytes = bytes.subspan(kPrefaceBytes);
    if (sizes.header > bytes.size() || sizes.body > bytes.size() - sizes.header) return misplaced();
    Frame out;
    TRY(out.header, parse_frame_header({reinterpret_cast<const char*>(bytes.data()), sizes.header}));
    const auto body = bytes.subspan(sizes.header, sizes.body);
    const auto held = std::make_shared<const std::vector<std::byte>>(body.begin(), body.end());
    TRY(out.tensors, frame_tensors(out.header, *held));
    out.body = held;
    return out;
}

std::string frame_bytes(Json header, const std::vector<SentTensor>& tensors) {
    std::string body;
    for (const SentTensor& t : tensors) {
        header["tensors"].push_back(
            {{"name", t.name}, {"dtype", t.dtype}, {"shape", t.shape}, {"offset", body.size()}});
        body += t.bytes;
        body.resize((body.size() + kAlignment - 1) / kAlignment * kAlignment);
    }
    const std::string text = json_text(header);
    return std::string(kMagic) + little_endian(narrow<uint32_t>(text.size())) +
           little_endian(uint64_t{body.size()}) + text + body;
}

Result<Matrix> frame_matrix(const Frame& frame, const std::string& name, int64_t rows, int64_t columns) {
    const StoredTensor* t = frame.find(name);
    if (!t) return of_other_version("The server does not send " + name);
    if (!t->dtype->holds_weights() || t->shape.empty() || t->shape[0] != rows ||
        element_count(t->shape) != rows * columns)
        return of_other_version("The server sends " + name + " of the shape " + shape_text(t->shape) +
                                " where " + std::to_string(rows) + " rows of " + std::to_string(columns) +
                                " are expected");
    Matrix out(rows, columns);
    if (out.size() > 0) t->dtype->decode(t->bytes.data(), out.size(), out.data());
    if (!all_finite(out))
        return Error{"What the model computes holds NaN or infinity (" + name +
                     "); load it in another dtype, float32 for example."};
    return out;
}

}  // namespace headlight

// Parses GGUF. Bounds every count by the bytes left before reading or allocating for it.
#include "io/gguf.h"

#include <cstring>

#include "base/quoted.h"
#include "base/utf8.h"
#include "io/heap_tensors.h"
#include "io/regular_file.h"

namespace headlight {

namespace {

constexpr uint64_t kMaxTensors = 1u << 20, kMaxEntries = 1u << 20, kMaxElements = 8u << 20,
                   kLongestName = 1u << 16;
constexpr int64_t kMaxValues = int64_t{1} << 44;
constexpr int kDeepest = 3;

enum ValueType : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

/// Reads from the front; remembers the first failure.
class GgufReader {
public:
    GgufReader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

    template <class T>
    T number() {
        T out{};
        if (!take(sizeof(T))) return out;
        std::memcpy(&out, bytes_.data() + at_ - sizeof(T), sizeof(T));
        return out;
    }

    std::string text(uint64_t max) {
        const auto size = number<uint64_t>();
        if (size > max) fail("a text of " + std::to_string(size) + " bytes");
        if (failed() || !take(size)) return {};
        return valid_utf8({reinterpret_cast<const char*>(bytes_.data()) + at_ - size, size_t(size)});
    }

    Json value(uint32_t type, int depth) {
        switch (type) {
            case u8:
                return number<uint8_t>();
            case i8:
                return number<int8_t>();
            case u16:
                return number<uint16_t>();
            case i16:
                return number<int16_t>();
            case u32:
                return number<uint32_t>();
            case i32:
                return number<int32_t>();
            case f32:
                return number<float>();
            case boolean:
                return number<uint8_t>() != 0;
            case string:
                return text(left());
            case u64:
                return number<uint64_t>();
            case i64:
                return number<int64_t>();
            case f64:
                return number<double>();
            case array:
                return list(depth);
            default:
                fail("a value of the unknown type " + std::to_string(type));
                return {};
        }
    }

    size_t left() const { return bytes_.size() - at_; }
    size_t at() const { return at_; }
    bool failed() const { return !error_.empty(); }
    void fail(const std::string& what) {
        refuse(" is damaged (" + what + "); download the damaged file again.");
    }
    void refuse(const std::string& what) {
        if (error_.empty()) error_ = what;
    }
    Error error() const { return Error{name_ + error_}; }

private:
    bool take(uint64_t size) {
        if (failed()) return false;
        if (size > left()) {
            fail("it ends inside its header");
            return false;
        }
        at_ += size;
        return true;
    }

    Json list(int depth) {
        const auto type = number<uint32_t>();
        const auto count = number<uint64_t>();
        elements_ += std::min<uint64_t>(count, kMaxElements + 1);
        if (depth >= kDeepest)
            fail("lists inside lists inside lists");
        else if (count > left() || elements_ > kMaxElements)
            fail("a list of " + std::to_string(count) + " entries");
        Json out = Json::array();
        for (uint64_t i = 0; i < count && !failed(); ++i) out.push_back(value(type, depth + 1));
        return out;
    }

    std::span<const std::byte> bytes_;
    const std::string& name_;
    std::string error_;
    size_t at_ = 0;
    uint64_t elements_ = 0;
};

struct Entry {
    std::string name;
    StoredTensor tensor;
    uint64_t offset = 0;
};

Entry read_tensor_entry(GgufReader& r) {
    Entry e;
    e.name = r.text(kLongestName);
    const auto dimensions = r.number<uint32_t>();
    if (dimensions > 4)
        r.fail("tensor " + shortened(e.name) + " has " + std::to_string(dimensions) + " dimensions");
    int64_t count = 1;
    for (uint32_t d = 0; d < dimensions && !r.failed(); ++d) {
        const auto size = r.number<uint64_t>();
        if (size > static_cast<uint64_t>(kMaxValues) ||
            (size > 0 && count > kMaxValues / static_cast<int64_t>(size)))
            r.fail("tensor " + shortened(e.name) + " has more elements than any file holds");
        if (r.failed()) break;
        count *= static_cast<int64_t>(size);
        // stored fastest-varying first
        e.tensor.shape.insert(e.tensor.shape.begin(), static_cast<int64_t>(size));
    }
    const auto type = r.number<uint32_t>();
    e.tensor.dtype = find_gguf_type(type);
    if (!r.failed() && !e.tensor.dtype)
        r.refuse(": tensor " + shortened(e.name) + " is stored in the format " + std::to_string(type) +
                 ", which Headlight does not read; use a file in one of " + weight_formats() + ".");
    e.offset = r.number<uint64_t>();
    if (!r.failed() && !e.tensor.shape.empty() && e.tensor.shape.back() % e.tensor.dtype->block != 0)
        r.fail("the rows of tensor " + shortened(e.name) + " are not a multiple of the block size of " +
               e.tensor.dtype->name);
    return e;
}

Status place(Entry& e, std::span<const std::byte> data, uint64_t alignment, const std::string& name) {
    const auto size = static_cast<uint64_t>(e.tensor.dtype->size(element_count(e.tensor.shape)));
    if (e.offset % alignment != 0)
        return Error{name + ": tensor " + shortened(e.name) + " does not begin at a multiple of " +
                     std::to_string(alignment) + "; the file is damaged, so download it again."};
    if (e.offset > data.size() || size > data.size() - e.offset)
        return Error{
            name + ": tensor " + shortened(e.name) +
            " ends past the end of the file; the download stopped early, so download this file again."};
    e.tensor.bytes = data.subspan(e.offset, size);
    return success();
}

/// Of the tensors' bytes.
Result<uint64_t> alignment_of(const Gguf& file, const std::string& name) {
    const Json& wanted = file.value("general.alignment");
    const uint64_t alignment = wanted.is_null()              ? 32
                               : wanted.is_number_unsigned() ? wanted.get<uint64_t>()
                                                             : 0;
    if (alignment == 0 || alignment > (1u << 20) || (alignment & (alignment - 1)) != 0)
        return Error{name + ": general.alignment is " + shortened(json_text(wanted)) +
                     ", which is not a power of two; convert the model with a current converter."};
    return alignment;
}

}  // namespace

const Json& Gguf::value(const std::string& key) const {
    static const Json none;
    const auto it = metadata.find(key);
    return it == metadata.end() ? none : it->second;
}

Result<Gguf> parse_gguf(std::span<const std::byte> bytes, const std::string& name) {
    if (bytes.size() < 24 || std::memcmp(bytes.data(), "GGUF", 4) != 0)
        return Error{name + " is not a GGUF file; check that it is the right file."};
    GgufReader r(bytes.subspan(4), name);
    const auto version = r.number<uint32_t>();
    if (version != 2 && version != 3)
        return Error{name + " has the GGUF version " + std::to_string(version) +
                     "; Headlight reads 2 and 3, so convert the model with a current converter."};
    const auto tensors = r.number<uint64_t>(), entries = r.number<uint64_t>();
    if (tensors > kMaxTensors || entries > kMaxEntries)
        r.fail("it claims " + std::to_string(tensors) + " tensors and " + std::to_string(entries) +
               " entries");
    Gguf out;
    for (uint64_t i = 0; i < entries && !r.failed(); ++i) {
        const std::string key = r.text(kLongestName);
        const auto type = r.number<uint32_t>();
        Json value = r.value(type, 0);
        if (!r.failed()) out.metadata[key] = std::move(value);
    }
    std::vector<Entry> table;
    for (uint64_t i = 0; i < tensors && !r.failed(); ++i) table.push_back(read_tensor_entry(r));
    if (r.failed()) return r.error();
    TRY(const uint64_t alignment, alignment_of(out, name));
    const size_t header = 4 + r.at(),
                 start = std::min<size_t>(bytes.size(), (header + alignment - 1) / alignment * alignment);
    std::vector<ByteRange> ranges;
    for (Entry& e : table) {
        TRY_STATUS(place(e, bytes.subspan(start), alignment, name));
        ranges.emplace_back(e.offset, e.offset + e.tensor.bytes.size());
        if (!out.tensors.emplace(e.name, std::move(e.tensor)).second)
            return Error{name + ": two tensors are called " + shortened(e.name) +
                         "; convert the model with a current converter."};
    }
    TRY_STATUS(check_apart(std::move(ranges), name));
    return out;
}

Result<Gguf> open_gguf(const std::filesystem::path& path) {
    TRY(auto file, MappedFile::open(path));
    TRY(Gguf out, parse_gguf(file->bytes(), display_path(path)));
    out.file = tensor_owner(std::move(file), out.tensors);
    return out;
}

bool is_gguf(const std::filesystem::path& path) { return beginning_of(path, 4) == "GGUF"; }

}  // namespace headlight

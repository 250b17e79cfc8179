// Opens weight files and finds tensors in them.
#include "model/loading/weights.h"

#include <algorithm>
#include <set>

#include "base/quoted.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "model/loading/foreign_prefix.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

bool is_aligned(const StoredTensor& t) {
    return t.dtype->block > 1 ||
           reinterpret_cast<uintptr_t>(t.bytes.data()) % static_cast<uintptr_t>(t.dtype->bytes) == 0;
}

/// Drops axes of 1, which GGUF files may add or leave out.
std::vector<int64_t> without_ones(std::vector<int64_t> shape) {
    std::erase(shape, 1);
    return shape;
}

/// Explains a folder without readable weights by what it holds instead.
Error no_weights(const fs::path& folder) {
    std::error_code ignored;
    for (const char* pickle : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
        if (fs::exists(folder / pickle, ignored))
            return Error{display_path(folder) +
                         " holds its weights as a Python pickle, which Headlight does not read; in Python, "
                         "AutoModel.from_pretrained(folder).save_pretrained(folder) writes safetensors."};
    std::string other;
    for (auto at = fs::directory_iterator(folder, ignored); !ignored && at != fs::directory_iterator();
         at.increment(ignored))
        if (const std::string name = at->path().filename().string();
            name.ends_with(".safetensors") && (other.empty() || name < other))
            other = name;
    const std::string none =
        display_path(folder) + " has no model.safetensors (or model.safetensors.index.json)";
    if (other.starts_with("adapter_"))
        return Error{none + ", but " + in_quotes(other) +
                     ", which changes another model; in Python, merge_and_unload() makes one model of both."};
    if (!other.empty())
        return Error{none + ", but " + in_quotes(shortened(other)) +
                     "; use the folder of the whole model, or give the file that name."};
    return Error{none + "; get the weights in safetensors form."};
}

}  // namespace

Result<std::vector<std::string>> shard_names(std::string_view index, const std::string& name) {
    TRY(const Json root, parse_json(index, name));
    const auto map = root.is_object() ? root.find("weight_map") : root.end();
    if (!root.is_object() || map == root.end() || !map->is_object() || map->empty())
        return Error{name +
                     " has no weight_map, which says where each tensor lies; save the model with a current "
                     "safetensors."};
    std::set<std::string> names;
    for (const auto& [tensor, file] : map->items()) {
        if (!file.is_string())
            return Error{name + ": the file of tensor " + shortened(tensor) +
                         " is not a name; save the model with a current safetensors."};
        const fs::path shard(file.get<std::string>());
        if (shard.empty() || shard.is_absolute() || shard.has_parent_path() || shard == "..")
            return Error{name + ": the shard " + in_quotes(shard.string()) +
                         " lies outside the model's folder; use only files of that folder."};
        names.insert(shard.string());
    }
    if (names.size() > 10'000)
        return Error{name + " lists more than 10,000 shards, which no model has; use the model's own index."};
    return std::vector<std::string>(names.begin(), names.end());
}

Status WeightStore::add_file(const fs::path& path) {
    TRY(Safetensors file, open_safetensors(path));
    files_.push_back(std::move(file));
    return success();
}

Result<WeightStore> WeightStore::open(const fs::path& folder) {
    WeightStore store;
    store.place_ = display_path(folder);
    std::error_code ignored;
    if (fs::exists(folder / "model.safetensors", ignored)) {
        TRY_STATUS(store.add_file(folder / "model.safetensors"));
        return store;
    }
    const fs::path index = folder / "model.safetensors.index.json";
    if (fs::exists(index, ignored)) {
        TRY(const auto text, MappedFile::open(index));
        TRY(const auto names, shard_names(text->text(), display_path(index)));
        for (const auto& name : names) {
            if (!fs::exists(folder / name, ignored))
                return Error{display_path(folder / name) +
                             " is missing, but the index names it; download that shard."};
            TRY_STATUS(store.add_file(folder / name));
        }
        return store;
    }
    return no_weights(folder);
}

Status WeightStore::lay_out(const Quantization& how) {
    TRY(laid_out_, lay_out_quantized(files_, how, place_, cancel_));
    if (!laid_out_.tensors.tensors.empty()) files_.push_back(laid_out_.tensors);
    return success();
}

WeightStore WeightStore::of_files(std::vector<TensorFile> files, const std::string& name, bool gguf) {
    WeightStore store;
    store.place_ = name;
    store.files_ = std::move(files);
    store.gguf_ = gguf;
    return store;
}

const StoredTensor* WeightStore::find(const std::string& name) const {
    for (const auto& prefix : prefixes_)
        for (const auto& file : files_) {
            if (const auto it = file.tensors.find(prefix + name); it != file.tensors.end())
                return &it->second;
        }
    return nullptr;
}

std::vector<std::pair<std::string, const StoredTensor*>> WeightStore::all() const {
    std::vector<std::pair<std::string, const StoredTensor*>> out;
    for (const auto& file : files_)
        for (const auto& [name, tensor] : file.tensors) out.emplace_back(name, &tensor);
    return out;
}

std::string WeightStore::without_prefix(const std::string& name) const {
    size_t longest = 0;
    for (const auto& prefix : prefixes_)
        if (name.starts_with(prefix)) longest = std::max(longest, prefix.size());
    return name.substr(longest);
}

Error WeightStore::missing_tensor(const std::string& name) const {
    const std::string missing = prefixes_[0] + name;
    std::vector<std::string> held, asked;
    for (const auto& [stored, tensor] : all()) held.push_back(stored);
    for (const auto& prefix : prefixes_) asked.push_back(prefix + name);
    if (const std::string prefix = foreign_prefix(held, asked); !prefix.empty() && !is_gguf())
        return Error{place_ + " has no tensor " + missing + ": " + wrapped_names(held, prefix)};
    std::string some;
    for (size_t i = 0; i < std::min<size_t>(held.size(), 3); ++i)
        some += (i ? ", " : "") + shortened(held[i], 60);
    return Error{place_ + " has no tensor " + missing + ", which its configuration calls for (" +
                 (held.empty() ? "it holds none" : "it holds " + some + (held.size() > 3 ? " …" : "")) +
                 "); use the configuration and weights of one model."};
}

Result<const StoredTensor*> WeightStore::checked(const std::string& name,
                                                 const std::vector<int64_t>& shape) const {
    if (stopped(cancel_)) return cancelled();
    const StoredTensor* t = find(name);
    const std::string asked = prefixes_[0] + name;
    if (!t) return missing_tensor(name);
    if (t->shape != shape && !(gguf_ && without_ones(t->shape) == without_ones(shape)))
        return Error{place_ + ": tensor " + asked + " has the shape " + shape_text(t->shape) +
                     ", but the configuration calls for " + shape_text(shape) +
                     "; use the configuration and weights of one model."};
    if (!t->dtype->holds_weights()) {
        const std::string_view type = t->dtype->name;
        const bool integer = type.starts_with('I') || type.starts_with('U');
        return Error{place_ + ": tensor " + asked + " has dtype " + t->dtype->name + ", which is " +
                     (integer ? "an integer type" : "not read as weights") +
                     "; save it as F32, F16, BF16 or F64."};
    }
    return t;
}

/// Refuses rows that are no whole blocks of their format: a vector stored as a matrix.
Error WeightStore::cut_block(const std::string& name) const {
    return Error{place_ + ": rows of the tensor " + prefixes_[0] + name +
                 " are not whole blocks of its format; convert the model again."};
}

bool WeightStore::is_laid_out(const std::string& name) const {
    const StoredTensor* t = find(name);
    return t && laid_out_.tensors.tensors.size() > 0 && t->dtype->meets_kernels() && t->dtype->block > 1;
}

float* WeightStore::make(int64_t count) {
    owned_.push_back(std::make_unique<float[]>(count));
    return owned_.back().get();
}

namespace {
/// Puts the decoded columns of each row where their inputs are.
void put_in_order(const StoredTensor& t, float* values) {
    const int64_t columns = t.shape.back();
    std::vector<float> row(static_cast<size_t>(columns));
    for (int64_t at = 0; at < element_count(t.shape); at += columns) {
        std::copy_n(values + at, columns, row.begin());
        for (int64_t c = 0; c < columns; ++c) values[at + t.order[c]] = row[c];
    }
}
}  // namespace

const float* WeightStore::decode(const StoredTensor& t) {
    const int64_t count = element_count(t.shape);
    if (t.dtype == &float32() && is_aligned(t)) return reinterpret_cast<const float*>(t.bytes.data());
    owned_.push_back(std::make_unique_for_overwrite<float[]>(count));
    std::vector<std::byte> aligned;
    if (!is_aligned(t)) aligned.assign(t.bytes.begin(), t.bytes.end());
    t.dtype->decode(aligned.empty() ? t.bytes.data() : aligned.data(), count, owned_.back().get());
    if (t.order) put_in_order(t, owned_.back().get());
    return owned_.back().get();
}

Result<const float*> WeightStore::tensor(const std::string& name, const std::vector<int64_t>& shape) {
    TRY(const StoredTensor* t, checked(name, shape));
    return decode(*t);
}

void WeightStore::adapt(std::shared_ptr<Adapter> adapter) {
    TensorFile replacing{adapter->file(), adapter->take_replacing()};
    for (const auto& [name, tensor] : replacing.tensors)
        for (TensorFile& file : files_) file.tensors.erase(name);
    files_.push_back(std::move(replacing));
    adapter_ = std::move(adapter);
}

Result<Linear> WeightStore::matrix(const std::string& name, int64_t in, int64_t out, WeightLayout layout) {
    TRY(Linear w, stored_matrix(name, in, out, layout));
    TRY_STATUS(attach(name.substr(0, name.rfind(".weight")), w));
    return w;
}

Status WeightStore::attach(const std::string& name, Linear& w) {
    if (!adapter_) return success();
    for (const std::string& prefix : prefixes_) TRY_STATUS(adapter_->attach(prefix + name, w));
    return success();
}

Result<Linear> WeightStore::stored_matrix(const std::string& name, int64_t in, int64_t out,
                                          WeightLayout layout) {
    if (gguf_ || is_laid_out(name)) layout = WeightLayout::out_in;
    const bool rows_are_outputs = layout == WeightLayout::out_in;
    TRY(const StoredTensor* t, checked(name, rows_are_outputs ? std::vector{out, in} : std::vector{in, out}));
    if (!is_aligned(*t) || !t->dtype->meets_kernels())
        return Linear::of_floats(decode(*t), nullptr, in, out, layout);
    const int64_t columns = rows_are_outputs ? in : out, stride = t->dtype->size(columns);
    if (columns % t->dtype->block != 0) return cut_block(name);
    Linear w{t->bytes.data(), nullptr, in, out, stride, layout, t->dtype};
    w.order = t->order;
    return w;
}

Result<Linear> WeightStore::slice(const std::string& name, int64_t count, int64_t index, int64_t in,
                                  int64_t out, WeightLayout layout) {
    if (gguf_ || is_laid_out(name)) layout = WeightLayout::out_in;
    const bool rows_are_outputs = layout == WeightLayout::out_in;
    const int64_t rows = rows_are_outputs ? out : in, columns = rows_are_outputs ? in : out;
    TRY(const StoredTensor* t, checked(name, {count, rows, columns}));
    if (columns % t->dtype->block != 0) return cut_block(name);
    const int64_t stride = t->dtype->size(columns);
    if (!is_aligned(*t) || !t->dtype->meets_kernels()) {
        float* values = make(rows * columns);
        std::vector<std::byte> aligned(t->bytes.data() + index * rows * stride,
                                       t->bytes.data() + (index + 1) * rows * stride);
        t->dtype->decode(aligned.data(), rows * columns, values);
        return Linear::of_floats(values, nullptr, in, out, layout);
    }
    return Linear{t->bytes.data() + index * rows * stride, nullptr, in, out, stride, layout, t->dtype};
}

int64_t WeightStore::bytes_in_use() const {
    int64_t bytes = 0;
    for (const auto& f : files_)
        for (const auto& [name, t] : f.tensors) bytes += std::ssize(t.bytes);
    return bytes;
}

Status WeightStore::check_unchanged() const {
    for (const auto& f : files_)
        if (f.file) TRY_STATUS(f.file->check_unchanged());
    return success();
}

std::vector<WeightStore::InFormat> WeightStore::formats() const {
    std::vector<InFormat> out;
    for (const auto& [name, t] : all()) {
        const DType* const format = t->dtype;  // clang binds no structured binding in a lambda
        if (!format->holds_weights()) continue;
        auto at = std::find_if(out.begin(), out.end(),
                               [&](const InFormat& known) { return known.format == format; });
        if (at == out.end()) at = out.insert(at, {format});
        ++at->tensors;
        at->bytes += std::ssize(t->bytes);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const InFormat& a, const InFormat& b) { return a.bytes > b.bytes; });
    return out;
}

int64_t WeightStore::parameters() const {
    int64_t count = 0;
    for (const auto& f : files_)
        for (const auto& [name, t] : f.tensors)
            if (t.dtype->holds_weights()) count += element_count(t.shape);
    return count;
}

}  // namespace headlight

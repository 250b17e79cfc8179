#include "model/weights.h"

#include <set>

#include "io/json.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

/// Shard names of an index file. A name that leaves the folder is refused: an index may come from anywhere.
Result<std::set<std::string>> shard_names(const fs::path& index) {
    TRY(const Json root, read_json(index));
    const auto map = root.is_object() ? root.find("weight_map") : root.end();
    if (map == root.end() || !map->is_object() || map->empty()) return Error{display_path(index) + " has no weight_map; download it again."};
    std::set<std::string> names;
    for (const auto& [tensor, file] : map->items()) {
        if (!file.is_string()) return Error{display_path(index) + ": the file of tensor " + tensor.substr(0, 100) + " is no name; download it again."};
        const fs::path shard(file.get<std::string>());
        if (shard.empty() || shard.is_absolute() || shard.has_parent_path() || shard == "..")
            return Error{display_path(index) + ": the shard \"" + shard.string().substr(0, 100) + "\" lies outside the model's folder; use only files of that folder."};
        names.insert(shard.string());
    }
    if (names.size() > 10'000) return Error{display_path(index) + " lists more than 10,000 shards; download it again."};
    return names;
}

bool is_float(DType type) { return type == DType::f32 || type == DType::f16 || type == DType::bf16; }

}  // namespace

Status WeightStore::add_file(const fs::path& path) {
    TRY(Safetensors file, open_safetensors(path));
    files_.push_back(std::move(file));
    return success();
}

Result<WeightStore> WeightStore::open(const fs::path& folder) {
    WeightStore store;
    store.folder_ = display_path(folder);
    std::error_code ignored;
    if (fs::exists(folder / "model.safetensors", ignored)) {
        TRY_STATUS(store.add_file(folder / "model.safetensors"));
        return store;
    }
    const fs::path index = folder / "model.safetensors.index.json";
    if (fs::exists(index, ignored)) {
        TRY(const auto names, shard_names(index));
        for (const auto& name : names) {
            if (!fs::exists(folder / name, ignored)) return Error{display_path(folder / name) + " is missing, but the index names it; download that shard."};
            TRY_STATUS(store.add_file(folder / name));
        }
        return store;
    }
    if (fs::exists(folder / "pytorch_model.bin", ignored))
        return Error{display_path(folder) + " holds its weights as a Python pickle, which Headlight does not read; in Python, "
                     "AutoModel.from_pretrained(folder).save_pretrained(folder) writes safetensors."};
    return Error{display_path(folder) + " has no model.safetensors (or model.safetensors.index.json); download the weights in safetensors form."};
}

const StoredTensor* WeightStore::find(const std::string& name) const {
    for (const auto& prefix : prefixes_)
        for (const auto& file : files_)
            if (const auto it = file.tensors.find(prefix + name); it != file.tensors.end()) return &it->second;
    return nullptr;
}

Result<const float*> WeightStore::tensor(const std::string& name, const std::vector<int64_t>& shape) {
    const StoredTensor* t = find(name);
    if (!t) return Error{folder_ + " has no tensor " + prefixes_[0] + name + ", which its config.json calls for; download the weights again."};
    if (t->shape != shape)
        return Error{folder_ + ": tensor " + prefixes_[0] + name + " has the shape " + shape_text(t->shape) + ", but config.json calls for " + shape_text(shape) +
                     "; use the config and weights of one model."};
    if (!is_float(t->dtype))
        return Error{folder_ + ": tensor " + prefixes_[0] + name + " has dtype " + t->dtype_name + "; save the weights as F32, F16 or BF16."};
    const bool aligned = reinterpret_cast<uintptr_t>(t->bytes.data()) % alignof(float) == 0;
    if (t->dtype == DType::f32 && aligned) return reinterpret_cast<const float*>(t->bytes.data());
    decoded_.push_back(std::make_unique_for_overwrite<float[]>(static_cast<size_t>(element_count(shape))));
    decode_floats(*t, decoded_.back().get());
    return static_cast<const float*>(decoded_.back().get());
}

int64_t WeightStore::file_bytes() const {
    int64_t bytes = 0;
    for (const auto& f : files_) bytes += static_cast<int64_t>(f.file->bytes().size());
    return bytes;
}

int64_t WeightStore::parameters() const {
    int64_t count = 0;
    for (const auto& f : files_)
        for (const auto& [name, t] : f.tensors)
            if (is_float(t.dtype)) count += element_count(t.shape);
    return count;
}

}  // namespace headlight

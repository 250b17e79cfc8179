// The tensors of a model's files: asked for by name and expected shape.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/tensor.h"
#include "model/linear.h"

namespace headlight {

/// The shards that the text of an index file names, each once and in order. A name that leaves the folder is
/// refused: an index may come from anywhere.
Result<std::vector<std::string>> shard_names(std::string_view index, const std::string& name);

/// All tensors of a folder or of a GGUF file. Whole matrices stay as they are mapped and are decoded where
/// they are used; vectors and tables that must change are decoded to float32 when first asked for. Not for
/// use by several threads; a model binds everything when it opens.
class WeightStore {
public:
    /// Opens model.safetensors, or the shards of model.safetensors.index.json.
    static Result<WeightStore> open(const std::filesystem::path& folder);

    /// Takes over open files. `stored_name` turns the name asked for into the files' ("" where they have
    /// none).
    static WeightStore of_files(std::vector<TensorFile> files, const std::string& name,
                                std::function<std::string(const std::string&)> stored_name);

    /// Prefixes to try in front of names ("transformer." in head models, "" in base models).
    void set_prefixes(std::vector<std::string> prefixes) { prefixes_ = std::move(prefixes); }

    /// No tensor is handed out once `cancel` is set; null: nothing stops it.
    void stop_on(const CancelFlag* cancel) { cancel_ = cancel; }

    bool has(const std::string& name) const { return find(name) != nullptr; }
    /// The tensor of this name, with one of the prefixes in front; null where there is none.
    const StoredTensor* find(const std::string& name) const;
    /// Every tensor with the name that it has in its file, in the order of files and names.
    std::vector<std::pair<std::string, const StoredTensor*>> all() const;
    /// A name of a file without the longest of the prefixes that it begins with.
    std::string without_prefix(const std::string& name) const;
    /// Whether the files are GGUF, whose tensors have names of their own.
    bool is_gguf() const { return static_cast<bool>(stored_name_); }
    /// The folder or file, for messages.
    const std::string& place() const { return place_; }

    /// The tensor's values as float32, row-major. A missing name or another shape is an error that says both.
    Result<const float*> tensor(const std::string& name, const std::vector<int64_t>& shape);

    /// A matrix as it is stored: [out, in], or [in, out]. GGUF stores every matrix [out, in].
    Result<Linear> matrix(const std::string& name, int64_t in, int64_t out,
                          WeightLayout layout = WeightLayout::out_in);

    /// Zeroed floats that live as long as the store.
    float* make(int64_t count);

    /// Bytes that a pass reads: the mapped tensors.
    int64_t bytes_in_use() const;
    /// Fails where one of the files was cut or overwritten since it was opened. Costs one stat per file.
    Status check_unchanged() const;
    /// The number of parameters in the files.
    int64_t parameters() const;

private:
    Status add_file(const std::filesystem::path& path);
    Error missing_tensor(const std::string& name) const;
    Result<const StoredTensor*> checked(const std::string& name, const std::vector<int64_t>& shape) const;
    const float* decode(const StoredTensor& tensor);

    const CancelFlag* cancel_ = nullptr;
    std::string place_;
    std::vector<std::string> prefixes_{""};
    std::vector<TensorFile> files_;
    std::function<std::string(const std::string&)> stored_name_;
    std::vector<std::unique_ptr<float[]>> owned_;
};

}  // namespace headlight

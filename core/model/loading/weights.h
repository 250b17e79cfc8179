// Holds the tensors of a model's files, by name and expected shape.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/tensor.h"
#include "model/linear.h"
#include "model/loading/adapter.h"
#include "model/loading/quantized/quantized_tensors.h"

namespace headlight {

/// Lists the shards that an (untrusted) index file names, once, in order. Refuses names outside the folder.
Result<std::vector<std::string>> shard_names(std::string_view index, const std::string& name);

/// Holds all tensors of a folder or of a GGUF file. Whole matrices stay mapped and are decoded where they are
/// used; vectors and tables that must change are decoded to float32 on first use. Not thread-safe: a model
/// binds everything when it opens.
class WeightStore {
public:
    /// Opens model.safetensors, or the shards of model.safetensors.index.json.
    static Result<WeightStore> open(const std::filesystem::path& folder);

    /// Lays quantized matrices out for the kernels, in place of the tensors that hold their codes and scales.
    Status lay_out(const Quantization& how);

    /// Takes over open files.
    static WeightStore of_files(std::vector<TensorFile> files, const std::string& name, bool gguf);

    /// Sets prefixes to try before names ("transformer." in head models, "" in base models).
    void set_prefixes(std::vector<std::string> prefixes) { prefixes_ = std::move(prefixes); }

    /// Stops handing out tensors once `cancel` is set; null: never.
    void stop_on(const CancelFlag* cancel) { cancel_ = cancel; }

    /// Adds an adapter to the matrices that are asked for from now on; its tensors take the place of those of
    /// the same names. Outlives the matrices.
    void adapt(std::shared_ptr<Adapter> adapter);

    /// Adds what the adapter has for the matrix NAME.weight under one of the prefixes, or for an expert's.
    Status attach(const std::string& name, Linear& w);
    Status attach_expert(const ExpertParameter& of, Linear& w) {
        return adapter_ ? adapter_->attach_expert(of, w) : success();
    }

    bool has(const std::string& name) const { return find(name) != nullptr; }
    /// Returns the tensor of this name, under one of the prefixes; null if there is none.
    const StoredTensor* find(const std::string& name) const;
    /// Returns every tensor with its name in the file, in the order of files and names.
    std::vector<std::pair<std::string, const StoredTensor*>> all() const;
    /// Removes the longest of the prefixes from a stored name.
    std::string without_prefix(const std::string& name) const;
    /// Returns whether the files are GGUF, whose tensors have their own names.
    bool is_gguf() const { return gguf_; }
    /// Returns the folder or file, for messages.
    const std::string& place() const { return place_; }

    /// Returns the tensor's values as float32, row-major. Fails if it is missing or of another shape.
    Result<const float*> tensor(const std::string& name, const std::vector<int64_t>& shape);

    /// Returns a matrix as stored: [out, in], or [in, out]. GGUF stores every matrix [out, in].
    Result<Linear> matrix(const std::string& name, int64_t in, int64_t out,
                          WeightLayout layout = WeightLayout::out_in);

    /// Returns one of several matrices in one tensor [count, …].
    Result<Linear> slice(const std::string& name, int64_t count, int64_t index, int64_t in, int64_t out,
                         WeightLayout layout);

    /// Allocates zeroed floats that live as long as the store.
    float* make(int64_t count);

    /// Counts the bytes that a pass reads: the mapped tensors.
    int64_t bytes_in_use() const;
    /// Fails if a file was truncated or overwritten since it was opened. Costs one stat per file.
    Status check_unchanged() const;
    int64_t parameters() const;
    /// Counts the tensors and bytes of each format that holds weights, in the order of their bytes.
    struct InFormat {
        const DType* format = nullptr;
        int64_t tensors = 0, bytes = 0;
    };
    std::vector<InFormat> formats() const;

private:
    Result<Linear> stored_matrix(const std::string& name, int64_t in, int64_t out, WeightLayout layout);
    Status add_file(const std::filesystem::path& path);
    /// Returns whether a tensor was made by lay_out(): such matrices are [out, in].
    bool is_laid_out(const std::string& name) const;
    Error cut_block(const std::string& name) const;
    Error missing_tensor(const std::string& name) const;
    Result<const StoredTensor*> checked(const std::string& name, const std::vector<int64_t>& shape) const;
    const float* decode(const StoredTensor& tensor);

    const CancelFlag* cancel_ = nullptr;
    std::string place_;
    std::vector<std::string> prefixes_{""};
    std::vector<TensorFile> files_;
    bool gguf_ = false;
    std::shared_ptr<Adapter> adapter_;
    std::vector<std::unique_ptr<float[]>> owned_;
    LaidOut laid_out_;  // its tensors are among the files'
};

}  // namespace headlight

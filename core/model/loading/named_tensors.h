// Reads the tensors of a checkpoint by the slots that they are for, under the names that a family gives them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/loading/binder.h"

namespace headlight {

/// Returns whether two tables hold the same values, at one place or as copies.
bool same_values(const Linear& a, const Linear& b);

/// Returns the axes of a vector, or of a table of vectors, as stored in a layer.
std::vector<int64_t> axes_of(const TensorShape& shape, Stored stored, const LayerSpec& layer);

/// Asks a store for tensors, keeps the first error, and remembers what was read.
class NamedTensors {
public:
    NamedTensors(WeightStore& store, const ModelConfig& config, const TensorNames& names);

    /// Lists the rows of a slot, and their names; those that may be stored first.
    std::vector<const TensorRow*> rows(Slot slot, SlotPlace at) const;
    std::vector<std::string> names(Slot slot, SlotPlace at) const;
    std::string expanded(const TensorRow& row, SlotPlace at) const;
    /// Returns the first row of a slot whose tensor is stored, else the first; null: the slot has none.
    const TensorRow* stored_row(Slot slot, SlotPlace at) const;
    bool has(const std::string& name) const { return store_.has(name); }
    bool has(Slot slot, SlotPlace at, const char* ending) const;

    /// Returns the first of these names, with this ending, that is stored, else the first; marks all as read.
    std::string stored_of(const std::vector<std::string>& names, const char* ending);
    Norm norm(const std::vector<std::string>& names, const TensorShape& shape);
    Norm norm_without_weight(const TensorShape& shape);
    const float* vector(const std::string& name, const std::vector<int64_t>& shape);
    Linear linear(const TensorRow& row, const std::vector<std::string>& names, const TensorShape& shape);
    /// Reads one expert's matrix: under its own name, or out of a tensor that holds those of all.
    Linear expert_matrix(const TensorRow& row, const std::vector<std::string>& names,
                         const TensorShape& shape, SlotPlace at);
    /// Reads the first of these tables that is stored.
    Linear tied_table(const std::vector<std::string>& names, int64_t rows, int64_t width);

    /// Fails with the first error, or if the files hold a tensor that was not read.
    Status finish() const;

protected:
    /// Keeps the first error.
    void note(const Status& status) {
        if (!status && error_.empty()) error_ = status.error().message;
    }
    void mark(const std::string& name);
    Norm norm_of_rows(const std::string& name, const TensorShape& shape);
    Linear matrix(const std::string& name, int64_t in, int64_t out, WeightLayout layout);
    /// Reads one of the matrices that a tensor [count, …] holds.
    Linear slice(const std::string& name, int64_t count, int64_t index, int64_t in, int64_t out,
                 WeightLayout layout);
    Linear squares(const std::vector<std::string>& names, const TensorShape& shape);
    Linear grouped(const std::string& name, int64_t in, int64_t out);
    Linear convolution(const std::string& name);

    WeightStore& store_;
    const ModelConfig& c_;
    const TensorNames& names_;
    std::string error_;
    std::set<const StoredTensor*> read_;
    std::map<const StoredTensor*, Linear> matrices_;       // decodes tied matrices once,
    std::map<const StoredTensor*, const float*> vectors_;  // and vectors that layers share
};

}  // namespace headlight

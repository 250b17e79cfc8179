// Replaces the quantized tensors of a folder, codes and scales beside them, by matrices that the kernels
// read.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "io/tensor.h"
#include "model/loading/quantized/coded_matrix.h"
#include "model/quantization.h"

namespace headlight {

/// Holds memory of the matrices that were made.
struct LaidOut {
    TensorFile tensors;
    std::vector<std::unique_ptr<std::byte[]>> blocks;
    std::vector<std::unique_ptr<std::vector<int32_t>>> orders;
};

/// Gives the tensors of all files by name, and takes what they are replaced by.
class QuantizedTensors {
public:
    QuantizedTensors(std::vector<TensorFile>& files, const Quantization& how, std::string place,
                     ThreadPool& pool, LaidOut& out)
        : how_(how), files_(files), place_(std::move(place)), pool_(pool), out_(out) {}

    const Quantization& how() const { return how_; }
    const std::string& place() const { return place_; }
    /// Returns a tensor; null if there is none.
    const StoredTensor* find(const std::string& name) const;
    /// Returns a tensor, or an error that names the one that needs it.
    Result<const StoredTensor*> beside(const std::string& name, const std::string& of) const;
    /// Lists the beginnings of the names with this ending, in order.
    std::vector<std::string> with_ending(std::string_view ending) const;
    std::vector<std::string> names() const { return with_ending(""); }

    /// Puts a matrix of this shape, [rows, columns] or [count, rows, columns], in the place of `name`.
    /// `order`: the input of each column, if they are stored in another order.
    Status put(const std::string& name, const std::vector<int64_t>& shape, const CodedMatrix& matrix,
               std::vector<int32_t> order = {});
    /// Removes a tensor that was read, if it is there.
    void drop(const std::string& name);

    /// Fails unless a tensor has this shape and its bytes are those of `type`, if that is named.
    Status check(const std::string& name, const StoredTensor& tensor, const std::vector<int64_t>& shape,
                 std::string_view type = "") const;
    /// Returns the values of scales, finite ones; F8_E8M0 and U8 are powers of two.
    Result<std::vector<float>> scales(const std::string& name, const StoredTensor& tensor) const;
    /// Explains what is wrong with a tensor.
    Error damaged(const std::string& name, const std::string& what) const;

private:
    const Quantization& how_;
    std::vector<TensorFile>& files_;
    std::string place_;
    ThreadPool& pool_;
    LaidOut& out_;
};

/// Read the tensors of one way of storing them. All do nothing where a folder has none.
Status read_gptq(QuantizedTensors& tensors);
Status read_awq(QuantizedTensors& tensors);
Status read_bitsandbytes(QuantizedTensors& tensors);
Status read_packed(QuantizedTensors& tensors);
Status read_mxfp4(QuantizedTensors& tensors);
Status read_scaled(QuantizedTensors& tensors);

/// Reads the quantized tensors of all files, and takes them out of there.
Result<LaidOut> lay_out_quantized(std::vector<TensorFile>& files, const Quantization& how,
                                  const std::string& place, const CancelFlag* cancel);

/// Returns the inputs in the order of the groups that `group_of` assigns them to, so that each group's are
/// neighbors; empty: they are already. Fails if a group does not exist, or has more or fewer than `size`.
Result<std::vector<int32_t>> order_of_groups(const QuantizedTensors& tensors, const std::string& name,
                                             const StoredTensor& group_of, int64_t size);

}  // namespace headlight

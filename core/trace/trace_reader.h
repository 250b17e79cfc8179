// What a trace file says of its model and its tokens.
#pragma once

#include <string>

#include "io/json.h"
#include "io/safetensors.h"
#include "trace/trace.h"

namespace headlight {

/// The file while it is read.
struct TraceReader {
    const Safetensors& file;
    const std::string& name;
    const CancelFlag* cancel = nullptr;

    Error error(const std::string& what) const { return Error{name + ": " + what}; }
    const StoredTensor* find(const std::string& tensor) const;
    Result<Json> metadata(const char* key) const;
    /// object[key] from 1 to `max`; it must be there.
    Result<int64_t> count(const Json& object, const char* key, int max) const;
    /// [rows, columns] of floats, empty where the tensor is not there.
    Result<Matrix> matrix(const std::string& tensor, int64_t rows, int64_t columns) const;

    /// What the metadata say of the model.
    Result<ModelConfig> config() const;
    /// The tokens of a stack; `prefix` stands before what names them.
    Result<Sequence> sequence(const std::string& prefix) const;
};

}  // namespace headlight

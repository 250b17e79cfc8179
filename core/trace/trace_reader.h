// Reads what a trace file says about its model and its tokens.
#pragma once

#include <string>

#include "io/json.h"
#include "io/safetensors.h"
#include "trace/trace.h"

namespace headlight {

/// Holds the file while it is read.
struct TraceReader {
    const Safetensors& file;
    const std::string& name;
    const CancelFlag* cancel = nullptr;

    Error error(const std::string& what) const { return Error{name + ": " + what}; }
    const StoredTensor* find(const std::string& tensor) const;
    Result<Json> metadata(const char* key) const;
    /// Reads object[key], required, from 1 to `max`.
    Result<int64_t> count(const Json& object, const char* key, int max) const;
    /// Reads [rows, columns] of floats, empty if there is no such tensor.
    Result<Matrix> matrix(const std::string& tensor, int64_t rows, int64_t columns) const;

    /// Reads the model's description from the metadata.
    Result<ModelConfig> config() const;
    /// Reads the tokens of a stack; `prefix` precedes the names of their entries.
    Result<Sequence> sequence(const std::string& prefix) const;
};

}  // namespace headlight

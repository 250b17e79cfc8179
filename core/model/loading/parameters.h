// How many numbers a model holds, from its config alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace headlight {

/// What a tensor belongs to.
enum class ModelPart { embedding, positions, attention, mlp, norm, unembedding };

struct ParameterRow {
    std::string block;  // "token embedding"
    std::string shape;  // "50257 × 768"
    int64_t each = 0;
    int count = 1;  // layers that hold one
    ModelPart part = ModelPart::embedding;
    int64_t weights = 0;  // … of each that stand in matrices; the rest are biases and norms
};

/// One row per kind of tensor; a tied unembedding counts nothing.
std::vector<ParameterRow> parameter_table(const ModelConfig& config);

int64_t parameter_count(const ModelConfig& config);

/// "4.27 M", "124 M", "1.5 B".
std::string short_count(int64_t count);
/// "603,979,776".
std::string with_commas(int64_t count);

}  // namespace headlight

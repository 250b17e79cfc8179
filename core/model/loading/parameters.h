// Counts a model's parameters from its config alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace headlight {

/// Names the part of the model that a tensor belongs to.
enum class ModelPart { embedding, positions, attention, mlp, norm, unembedding };

struct ParameterRow {
    std::string block;  // "token embedding"
    std::string shape;  // "50257 × 768"
    int64_t each = 0;
    int count = 1;  // layers that have one
    ModelPart part = ModelPart::embedding;
    int64_t weights = 0;  // of these, in matrices; the rest are biases and norms
};

/// Lists one row per kind of tensor; a tied unembedding counts 0.
std::vector<ParameterRow> parameter_table(const ModelConfig& config);

int64_t parameter_count(const ModelConfig& config);

/// Returns "4.27 M", "124 M", "1.5 B".
std::string short_count(int64_t count);
/// Returns "603,979,776".
std::string with_commas(int64_t count);

}  // namespace headlight

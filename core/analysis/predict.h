// What the model says next.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct Prediction {
    int id;
    float probability;
};

/// Softmax of one row of logits.
Vector probabilities(const Vector& logits);

/// The `count` most probable tokens after position `query`, most probable first.
std::vector<Prediction> next_tokens(const Trace& trace, int query, int count, ThreadPool& pool);

/// How to choose the next token. Temperature 0 is greedy.
struct Sampling {
    float temperature = 0.0f;
    int top_k = 0;      // 0: all
    float top_p = 1.0f; // nucleus sampling (Holtzman et al. 2020)
    uint64_t seed = 0;
};

/// Continues ids by up to `count` tokens, or until the context is full; returns the new ids.
Result<std::vector<int>> generate(std::shared_ptr<const Model> model, std::vector<int> ids, int count, const Sampling& sampling, ThreadPool& pool);

/// How a token is shown to a person: its text, "Byte" for part of a character, "↵" for a line break.
std::string token_label(const Model& model, int id);

}  // namespace headlight

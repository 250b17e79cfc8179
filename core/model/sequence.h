// Holds what a model reads, and the proof that it can.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cast.h"
#include "model/model.h"
#include "model/picture.h"

namespace headlight {

/// Holds the input of one stack: tokens, or an image's patches after a class token.
struct Sequence {
    std::vector<int> ids;                    // patches: numbered from 0, the class token
    std::vector<std::string> tokens;         // as spelled in the vocabulary
    std::vector<int> types;                  // token types; empty: all 0
    std::shared_ptr<const Picture> picture;  // vision models only

    int size() const { return isize(ids); }
    bool operator==(const Sequence& o) const {
        return ids == o.ids && types == o.types && picture == o.picture;
    }
};

/// Holds sequences that one model can read; only check_sequences makes them, and a forward pass takes nothing
/// else. References them: they must outlive this unchanged.
class CheckedSequences {
public:
    const Sequence& operator[](size_t stack) const { return sequences_[stack]; }
    size_t size() const { return sequences_.size(); }
    const Model& model() const { return *model_; }

private:
    friend Result<CheckedSequences> check_sequences(const Model& model, std::span<const Sequence> sequences);
    CheckedSequences(const Model& model, std::span<const Sequence> sequences)
        : model_(&model), sequences_(sequences) {}

    const Model* model_;
    std::span<const Sequence> sequences_;
};

/// Checks one sequence for each stack: 1 … context tokens, ids within the stack's vocabulary, no token types
/// or one per id within the model's; or an image at the model's size. Guards all indexing of weights by ids,
/// whether they come from text, options, files or a model's output.
Result<CheckedSequences> check_sequences(const Model& model, std::span<const Sequence> sequences);

/// Returns what each token's embedding is multiplied by.
std::vector<float> embedding_scales(const ModelConfig& config, const Sequence& text);

}  // namespace headlight

// What a model reads, and the proof that it can.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cast.h"
#include "model/model.h"
#include "model/picture.h"

namespace headlight {

/// What one stack of layers reads: tokens, or the patches of a picture behind a class token.
struct Sequence {
    std::vector<int> ids;                    // patches: their numbers, from 0 for the class token
    std::vector<std::string> tokens;         // as the vocabulary spells them
    std::vector<int> types;                  // token types; empty: all 0
    std::shared_ptr<const Picture> picture;  // vision models only

    int size() const { return isize(ids); }
    bool operator==(const Sequence& o) const {
        return ids == o.ids && types == o.types && picture == o.picture;
    }
};

/// Sequences that one model can read; check_sequences alone makes them, and a forward pass takes nothing
/// else. They are seen, not copied: what was checked must outlive this and stay as it is.
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

/// One sequence for each stack, each of 1 … context tokens, ids within the stack's vocabulary, one token type
/// for each id or none, types within the model's; or a picture cut as the model reads it. Wherever ids come
/// from (text, options, files, what a model wrote), this is the gate before the weights are indexed by them.
Result<CheckedSequences> check_sequences(const Model& model, std::span<const Sequence> sequences);

}  // namespace headlight

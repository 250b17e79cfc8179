// Turns the user's input into the sequences that a model's stacks read.
#pragma once

#include <string>
#include <vector>

#include "model/forward.h"

namespace headlight {

/// Holds the typed text, or ids in its place.
struct TextInput {
    std::string text;
    std::string pair;                         // BERT-like models: the second sentence
    std::string target;                       // encoder–decoder models: the decoder's text
    std::vector<int> ids, target_ids, types;  // types: of the ids
    std::shared_ptr<const RgbImage> image;
};

struct ModelInput {
    std::vector<Sequence> sequences;  // one per stack; the first is empty if no text was typed
    std::vector<Span>
        offsets;  // of the first sequence, in code points of `text` (or of `pair`, after the first separator)
    size_t tokens_in_all = 0;  // of the first sequence, before truncation to the context
};

/// Encodes text to tokens within the vocabulary, truncated to the context. A decoder reads the model's start
/// token and then the target. Fails if the model has no tokenizer, cannot read the input (check_sequences),
/// or needs an image and gets none. Without text the first sequence is empty.
Result<ModelInput> encode_input(const Model& model, const TextInput& typed, bool special = true);

}  // namespace headlight

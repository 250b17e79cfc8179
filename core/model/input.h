// From what a person typed to what the stacks of a model read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/forward.h"

namespace headlight {

/// What was typed, or ids in its place.
struct TextInput {
    std::string text;
    std::string pair;                         // BERT-like models: a second sentence
    std::string target;                       // encoder–decoder models: what the decoder reads
    std::vector<int> ids, target_ids, types;  // types: of the ids
    std::shared_ptr<const RgbImage> image;
};

struct ModelInput {
    std::vector<Sequence> sequences;  // one per stack; the first is empty where nothing was typed
    std::vector<Span>
        offsets;  // of the first sequence, in code points of `text` (or of `pair`, after the first separator)
    size_t tokens_in_all = 0;  // of the first sequence, before the context's cut
};

/// Tokens within the vocabulary, cut at the context. A decoder reads the model's start token and then the
/// target. Fails when the model has no tokenizer, when it cannot read what was typed (check_sequences), or
/// when a picture is asked for and missing. Where nothing was typed, the first sequence is empty.
Result<ModelInput> encode_input(const Model& model, const TextInput& typed, bool special = true);

}  // namespace headlight

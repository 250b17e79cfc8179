// An open model: config, weights and tokenizer, immutable once open and shared between threads.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "model/config.h"
#include "model/weights.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

struct Model {
    std::string name;            // for people: the folder's name
    std::filesystem::path path;
    ModelConfig config;
    WeightStore store;           // owns what `weights` points to
    ModelWeights weights;
    Result<std::shared_ptr<const Tokenizer>> tokenizer = Error{"No tokenizer was opened."};

    /// Opens a Hugging Face folder. A missing or broken tokenizer is not an error yet: ids still work without one.
    static Result<std::shared_ptr<const Model>> open(const std::filesystem::path& path);
};

/// A text as the model reads it: tokenized, within the vocabulary, cut at the context.
struct ModelInput {
    Encoding encoding;
    size_t tokens_in_all = 0;  // before cutting
};

/// Fails when the model has no tokenizer, or when the tokenizer knows ids that the embedding lacks.
Result<ModelInput> encode_for(const Model& model, std::string_view text, bool special = true);

/// Ids typed by hand: 1 … context of them, each within the vocabulary.
Status check_ids(const Model& model, const std::vector<int>& ids);

/// The folder of a model by path or built-in name ("stories"): beside the program, in the source tree, under the prefix.
Result<std::filesystem::path> find_model(const std::string& path_or_name);

}  // namespace headlight

// An open model: config, weights and tokenizer, immutable once open and shared between threads.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/threads.h"
#include "model/config.h"
#include "model/picture.h"
#include "model/weights.h"
#include "tokenizer/tokenizer.h"

namespace headlight {

/// What opening does at the moment; read by the window while it waits.
struct OpeningProgress {
    std::atomic<const char*> step{"reading the configuration"};
};

struct Model {
    std::string name;  // for people: the folder's name
    std::filesystem::path path;
    ModelConfig config;
    WeightStore store;  // owns what `weights` points to
    ModelWeights weights;
    Result<std::shared_ptr<const Tokenizer>> tokenizer = Error{"No tokenizer was opened."};

    /// Opens a Hugging Face folder (or a sentence-transformers folder, or a snapshot of the cache) or a GGUF
    /// file. A missing or broken tokenizer is not an error yet: ids still work without one. `cancel` is read
    /// between steps.
    static Result<std::shared_ptr<const Model>> open(const std::filesystem::path& path,
                                                     const CancelFlag* cancel = nullptr,
                                                     OpeningProgress* progress = nullptr);

    Result<std::shared_ptr<const Tokenizer>> separate_target =
        Error{""};  // Marian has one of its own for the target

    /// The tokenizer of the decoder's side; only where `tokenizer` was opened.
    const std::shared_ptr<const Tokenizer>& target_tokenizer() const {
        return separate_target ? *separate_target : *tokenizer;
    }

    /// Whether it has a head that gives logits; base models and sentence encoders have none.
    bool has_logits() const { return static_cast<bool>(weights.unembedding); }
};

/// The tokenizer of a model folder, of a folder with tokenizer files alone, or of a GGUF file.
Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const std::filesystem::path& path);

/// The configuration alone; a folder needs no more than its config.json.
Result<ModelConfig> open_config(const std::filesystem::path& path);

}  // namespace headlight

// Reads the text part of models that also see or hear.
#pragma once

#include <string>
#include <vector>

#include "model/families/llama_like.h"

namespace headlight {

/// Lists the types that a model's text part may have, the usual one first, and whether its head is tied where
/// the file does not say it of the whole; that the text part's own class ties none does not count.
struct TextPart {
    std::vector<std::string> types;
    bool tied = false;
};

/// Reads "text_config" as the family that it names.
Result<ModelConfig> read_text_part(const Json& root, const std::string& file, const TextPart& part);

inline constexpr const char* kTextPrefixes[] = {"model.language_model.", "language_model.model.",
                                                "language_model.", "model.", ""};

}  // namespace headlight

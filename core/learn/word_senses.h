// Shows how attention moves one word to another sense in each sentence.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace headlight {

struct WordSense {
    std::string sentence;             // ends with the word
    std::vector<std::string> raised;  // whole words that the sum of all ΔE at the word raises most
};

/// Runs sentences that end with the same word; none if the model does not continue text, or its stream has no
/// direct path to the logits.
Result<std::optional<std::vector<WordSense>>> word_senses(const std::shared_ptr<const Model>& model,
                                                          const std::vector<std::string>& sentences,
                                                          ThreadPool& pool, const CancelFlag* cancel);

}  // namespace headlight

// The space of embeddings: the nearest neighbors of some words in the open model's table.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// A plane with the words and their neighbors, and a table of the cosines; a Words block where the model has
/// no table of tokens, or no tokenizer. `words` are separated by commas.
std::vector<Block> embedding_space(const Model& model, const std::string& words, ThreadPool& pool);

}  // namespace headlight::learn

// Shows the nearest neighbors of some words in the open model's embedding table.
#pragma once

#include "learn/station.h"

namespace headlight::learn {

/// Returns a plane with the words and their neighbors, and a table of the cosines; a Words block if the model
/// has no token table or no tokenizer. `words` are separated by commas.
std::vector<Block> embedding_space(const Model& model, const std::string& words, ThreadPool& pool);

}  // namespace headlight::learn

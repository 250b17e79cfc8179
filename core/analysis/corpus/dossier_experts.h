// Writes and reads what a dossier says of experts.
#pragma once

#include <string>
#include <vector>

#include "analysis/corpus/dossier.h"
#include "io/json.h"

namespace headlight {

/// `sums`: adds what shares and mean weights are computed from, to add up parts of a corpus; or null.
nlohmann::ordered_json experts_json(const Dossier& dossier, const Corpus* sums);

/// Parses the list of layers; fails if it is of other experts than the model's. A file without it has none.
Result<std::vector<LayerExperts>> experts_from(const Json& root, const std::string& name,
                                               const ModelConfig& config);

/// Lists the share of tokens of each expert, and its mean weight; nothing without experts.
std::vector<NumberTable> expert_numbers_of(const Dossier& dossier);

}  // namespace headlight

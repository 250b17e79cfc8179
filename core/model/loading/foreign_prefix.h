// Recognizes prefixes that a program which wrapped a model added to its tensors' names.
#pragma once

#include <string>
#include <vector>

namespace headlight {

/// Returns the prefix of the stored name that ends with one of `asked`, the longest first: "module." if
/// {"transformer.wte.weight", "wte.weight"} is stored as module.transformer.wte.weight. Empty: none.
std::string foreign_prefix(const std::vector<std::string>& stored, const std::vector<std::string>& asked);

/// Ends a sentence with the prefix and a remedy: "; every tensor's name begins with …".
std::string wrapped_names(const std::vector<std::string>& stored, const std::string& prefix);

}  // namespace headlight

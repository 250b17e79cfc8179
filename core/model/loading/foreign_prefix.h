// What a program that wrapped a model put in front of the names of its tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headlight {

/// What stands in the file in front of the tensor that is asked for by these names, the longest first:
/// "module." where {"transformer.wte.weight", "wte.weight"} is there as module.transformer.wte.weight. Empty:
/// nothing.
std::string foreign_prefix(const std::vector<std::string>& stored, const std::vector<std::string>& asked);

/// A sentence's end that names it and says what helps: "; every tensor's name begins with …".
std::string wrapped_names(const std::vector<std::string>& stored, const std::string& prefix);

}  // namespace headlight

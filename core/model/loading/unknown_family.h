// Says what a model of a family that Headlight does not know would need.
#pragma once

#include <string>

#include "io/json.h"

namespace headlight {

/// Returns the sentence that refuses a model_type: the structures that its configuration mentions and no
/// layer here computes, by the keys that only they have, and what helps. `name`: the file.
Error unknown_family(const Json& root, const std::string& type, const std::string& name);

}  // namespace headlight

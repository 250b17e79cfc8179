// The version of the files that Headlight writes.
#pragma once

#include "io/json.h"

namespace headlight {

/// Of every kind of file, under "version".
constexpr int kFileVersion = 1;

/// An error where a newer version of Headlight wrote the file.
Status check_version(const Json& object, const std::string& name);

}  // namespace headlight

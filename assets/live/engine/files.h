// Holds the files of a page.
#pragma once

#include <map>
#include <string>

namespace headlight {

/// Maps paths ("/model/config.json") to bytes, which stay where they are.
using MemoryFiles = std::map<std::string, std::string>;
MemoryFiles& memory_files();

}  // namespace headlight

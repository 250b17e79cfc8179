// Folders and paths, without the exceptions of std::filesystem.
#pragma once

#include <filesystem>
#include <vector>

namespace headlight {

/// The paths of a folder's entries in the order of their names, at most `max`; none where it cannot be read.
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder, size_t max = 10'000);

/// A path that begins with "~" or "~/" under the home folder, as shells expand it; any other as it is.
std::filesystem::path expand_home(const std::filesystem::path& typed);

/// The path from the root, without "." and ".."; links are not followed. The path itself where the working
/// folder is gone.
std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace headlight

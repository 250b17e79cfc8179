// Reads folders and paths without the exceptions of std::filesystem.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace headlight {

/// Returns the paths of a folder's entries by name, at most `max`; none if it cannot be read.
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder, size_t max = 10'000);

/// Returns an environment variable, "" if unset.
std::string environment_text(const char* name);

/// Returns XDG_CONFIG_HOME, else ~/.config.
std::filesystem::path config_folder();

/// Returns XDG_CACHE_HOME, else ~/.cache.
std::filesystem::path cache_folder();

/// Replaces a leading "~" or "~/" by the home folder, as shells do.
std::filesystem::path expand_home(const std::filesystem::path& typed);

/// Makes a path absolute, without "." and ".."; follows no links. Without a working folder: the path itself.
std::filesystem::path absolute_path(const std::filesystem::path& path);

}  // namespace headlight

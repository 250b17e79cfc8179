// Chooses where to save: never over another file silently, never to a hidden place.
#pragma once

#include <filesystem>
#include <string>

namespace headlight {

/// The user's folder for pictures or documents: as the desktop names it (user-dirs.dirs), else ~/Pictures or
/// ~/Documents if present, else home, else the current folder.
std::filesystem::path pictures_folder();
std::filesystem::path documents_folder();

/// The folder for `name` ("PICTURES") in the text of user-dirs.dirs; empty if missing.
std::filesystem::path named_folder(const std::string& user_dirs, const std::string& name,
                                   const std::filesystem::path& home);

/// The folder that relative paths of commands refer to, as for options.
std::filesystem::path current_folder();

/// Makes a typed path absolute: "~" is home, relative paths are in `folder`. Empty stays empty.
std::filesystem::path full_path(const std::string& typed, const std::filesystem::path& folder);

/// The path itself if free, else the first free one of a-2.png, a-3.png, … (a-2.headlight.json).
std::filesystem::path next_free(const std::filesystem::path& path);

}  // namespace headlight

// Where a file is saved: never over another one without a word, never somewhere that is not shown.
#pragma once

#include <filesystem>
#include <string>

namespace headlight {

/// The person's folder for pictures or for documents: as the desktop names it (user-dirs.dirs), else
/// ~/Pictures or ~/Documents where there is one, else their home, else the current folder.
std::filesystem::path pictures_folder();
std::filesystem::path documents_folder();

/// From the text of user-dirs.dirs: the folder that `name` ("PICTURES") stands for; empty where it names
/// none.
std::filesystem::path named_folder(const std::string& user_dirs, const std::string& name,
                                   const std::filesystem::path& home);

/// The folder that commands name files from, as options do.
std::filesystem::path current_folder();

/// What was typed as a full path: "~" is the home, and what is relative lies in `folder`. Empty stays empty.
std::filesystem::path full_path(const std::string& typed, const std::filesystem::path& folder);

/// The path itself where nothing is there yet, else the first free one of a-2.png, a-3.png, …
/// (a-2.headlight.json).
std::filesystem::path next_free(const std::filesystem::path& path);

}  // namespace headlight

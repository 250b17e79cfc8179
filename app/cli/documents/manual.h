// Lists the declared options, for the manual page, completions and documents.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headlight {

/// Returns the options that --help shows.
std::vector<const CLI::Option*> options_of(const CLI::App& app);
std::vector<const CLI::App*> verbs_of(const CLI::App& root);
/// Returns the names that a user types: "--name", "-o".
std::vector<std::string> spellings(const CLI::Option& option);

/// Returns the words that an option accepts; empty if it accepts any text.
std::vector<std::string> words_of(const CLI::Option& option);

/// Lists all options and formats as JSON.
std::string option_list(const CLI::App& root);

/// Writes the generated pages of docs/, and the generated parts of README.md and other pages, in a folder.
Status write_markdown(const CLI::App& root, const std::filesystem::path& folder);

}  // namespace headlight

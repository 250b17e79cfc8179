// A dossier of heads as a page, and as a file of any kind.
#pragma once

#include <filesystem>
#include <string>

#include "analysis/corpus/dossier.h"

namespace headlight {

/// The endings of files that write_dossier writes.
bool is_dossier_path(const std::filesystem::path& path);

/// A self-contained page: the statistics of all heads, and a sheet of each.
std::string dossier_html(const Model& model, const Dossier& dossier);

/// Written as the ending says: .html, .json or .csv. The file appears whole or not at all.
Status write_dossier(const std::filesystem::path& path, const Model& model, const Dossier& dossier);

}  // namespace headlight

// Writes a dossier of heads as a page, or as a file of any kind.
#pragma once

#include <filesystem>
#include <string>

#include "analysis/corpus/dossier.h"

namespace headlight {

/// Extensions that write_dossier writes.
bool is_dossier_path(const std::filesystem::path& path);

/// Makes a self-contained page: the statistics of all heads, and a section for each.
std::string dossier_html(const Model& model, const Dossier& dossier);

/// Writes by extension: .html, .json or .csv. The file appears whole or not at all.
Status write_dossier(const std::filesystem::path& path, const Model& model, const Dossier& dossier);

}  // namespace headlight

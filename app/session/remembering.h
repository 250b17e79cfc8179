// Saves settings and head labels, the latter in their own file. Each file appears whole, is merged under the
// folder's lock with what is on disk, and keeps what this version does not know.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>

#include "io/json.h"

namespace headlight {

/// A JSON object as read, empty if there is no file, and a notice for the user.
struct FoundFile {
    Json root = Json::object();
    std::string notice;
};

/// Reads one of our files. Renames it to NAME.broken if it is no JSON object and not the user's (`own`).
FoundFile find_remembered(const std::filesystem::path& path, bool own);

/// Merges the changes from `before` to `now` into the file's fields. Fields in `together` describe one thing:
/// a change of one writes them all, except values of unknown kinds.
Json merged(Json file, const Json& before, const Json& now, const std::set<std::string>& together);

/// Merges changes into the settings file, which another window may have written meanwhile.
Status remember_settings(const std::filesystem::path& path, const Json& before, const Json& now,
                         const std::set<std::string>& together);

/// Head labels: model → head ("3.5") → label.
using HeadLabels = std::map<std::string, std::map<std::string, std::string>>;

struct LabelEdit {
    std::string model, head, label;  // an empty label removes it
};

/// Parses labels of that shape; skips others.
HeadLabels labels_in(const Json& object);

std::filesystem::path labels_path(const std::filesystem::path& settings);

/// Reads the labels. Labels in an old settings file move to the label file once.
HeadLabels find_labels(const std::filesystem::path& settings, std::string& notice);

/// Applies edits to the label file and returns its content.
Result<HeadLabels> remember_labels(const std::filesystem::path& settings, std::span<const LabelEdit> edits);

}  // namespace headlight

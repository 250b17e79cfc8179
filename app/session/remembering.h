// What is remembered between starts: settings, and labels of heads in a file of their own. Each file appears
// whole, is written under the folder's lock over what stands there by then, and keeps what this version does
// not know.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "io/json.h"

namespace headlight {

/// A JSON object as it was found, empty where there is no file, and what a person should know of it.
struct FoundFile {
    Json root = Json::object();
    std::string notice;
};

/// Reads a file of ours. One that holds no JSON object is moved beside itself as NAME.broken where it is our
/// `own`; a file that was given by a person stays as it is.
FoundFile find_remembered(const std::filesystem::path& path, bool own);

/// The file's fields, with what changed from `before` to `now`. Fields that stand in `together` describe one
/// thing: a change of one writes them all, but for those whose kind of value we do not know.
Json merged(Json file, const Json& before, const Json& now, const std::set<std::string>& together);

/// Writes what changed into the settings file, which another window may have written meanwhile.
Status remember_settings(const std::filesystem::path& path, const Json& before, const Json& now,
                         const std::set<std::string>& together);

/// Labels given by hand: model → head ("3.5") → label.
using HeadLabels = std::map<std::string, std::map<std::string, std::string>>;

struct LabelEdit {
    std::string model, head, label;  // an empty label takes it away
};

/// Labels in a JSON object of that shape; what has another one is left out.
HeadLabels labels_in(const Json& object);

/// The file of labels that belongs to a settings file.
std::filesystem::path labels_path(const std::filesystem::path& settings);

/// The labels that are remembered.
HeadLabels find_labels(const std::filesystem::path& settings, std::string& notice);

/// Applies edits to the file of labels and returns all that it holds then.
Result<HeadLabels> remember_labels(const std::filesystem::path& settings, std::span<const LabelEdit> edits);

}  // namespace headlight

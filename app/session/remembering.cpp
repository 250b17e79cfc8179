#include "session/remembering.h"

#include <algorithm>

#include "io/file_version.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "session/file_lock.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

constexpr uintmax_t kLargestFile = 64 << 20;
constexpr size_t kMaxLabels = 20'000, kLongestLabel = 200;
constexpr double kPatience = 1;  // seconds to wait for another window that writes

/// Null if there is no file; an error if it is not a JSON object.
Result<Json> read_object(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return Json();
    if (fs::file_size(path, ignored) > kLargestFile)
        return Error{display_path(path) +
                     " is larger than 64 MB, so it is not a file of Headlight; remove it."};
    TRY(Json root, read_json(path));
    if (!root.is_object()) return Error{display_path(path) + " is not a JSON object; correct or remove it."};
    return root;
}

/// The first free name: settings.json.broken, .broken-2, …
fs::path set_aside(const fs::path& path) {
    std::error_code ignored;
    fs::path aside = path.string() + ".broken";
    for (int i = 2; i < 100 && fs::exists(aside, ignored); ++i)
        aside = path.string() + ".broken-" + std::to_string(i);
    fs::rename(path, aside, ignored);
    return ignored ? fs::path() : aside;
}

Result<Json> of_this_version(Result<Json> root, const fs::path& path) {
    if (root && root->is_object()) TRY_STATUS(check_version(*root, display_path(path)));
    return root;
}

/// A file that cannot be read, or of a newer version, is not broken: it is never moved or overwritten.
Result<Json> read_or_set_aside(const fs::path& path, std::string& notice) {
    std::error_code missing;
    if (!fs::exists(path, missing)) return Json::object();
    TRY_STATUS(MappedFile::open(path));
    auto root = read_object(path);
    if (root) return of_this_version(std::move(root), path);
    const fs::path aside = set_aside(path);
    if (aside.empty()) return root.error();
    notice = display_path(path) + " could not be read and was renamed to " + aside.filename().string() + ".";
    return Json::object();
}

Result<FileLock> lock_folder_of(const fs::path& path) {
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    return FileLock::take(path.parent_path() / ".lock", kPatience);
}

Status write_object(const fs::path& path, Json root) {
    root["version"] = kFileVersion;
    return write_file(path, json_text(root, 2) + "\n");
}

bool same_kind(const Json& a, const Json& b) {
    return a.type() == b.type() || (a.is_number() && b.is_number());
}

Json& child(Json& object, const std::string& key) {
    Json& found = object[key];
    if (!found.is_object()) found = Json::object();
    return found;
}

}  // namespace

FoundFile find_remembered(const fs::path& path, bool own) {
    FoundFile found;
    auto root = of_this_version(own ? read_or_set_aside(path, found.notice) : read_object(path), path);
    if (!root)
        found.notice = root.error().message;
    else if (root->is_object())
        found.root = *std::move(root);
    return found;
}

Json merged(Json file, const Json& before, const Json& now, const std::set<std::string>& together) {
    const auto changed = [&](const std::string& key) {
        return now.contains(key) && (!before.contains(key) || before.at(key) != now.at(key));
    };
    const bool moved = std::any_of(together.begin(), together.end(), changed);
    for (const auto& [key, value] : now.items()) {
        const auto there = file.find(key);
        const bool goes_along =
            moved && together.count(key) && there != file.end() && same_kind(*there, value);
        if (there == file.end() || changed(key) || goes_along) file[key] = value;
    }
    return file;
}

Status remember_settings(const fs::path& path, const Json& before, const Json& now,
                         const std::set<std::string>& together) {
    TRY(const FileLock lock, lock_folder_of(path));
    std::string ignored;
    TRY(Json file, read_or_set_aside(path, ignored));
    return write_object(path, merged(std::move(file), before, now, together));
}

HeadLabels labels_in(const Json& object) {
    HeadLabels out;
    size_t count = 0;
    if (!object.is_object()) return out;
    for (const auto& [model, heads] : object.items()) {
        if (!heads.is_object()) continue;
        for (const auto& [head, label] : heads.items())
            if (label.is_string() && label.get_ref<const std::string&>().size() <= kLongestLabel &&
                ++count <= kMaxLabels)
                out[model][head] = label.get<std::string>();
    }
    return out;
}

fs::path labels_path(const fs::path& settings) { return settings.parent_path() / "labels.json"; }

HeadLabels find_labels(const fs::path& settings, std::string& notice) {
    const FoundFile found = find_remembered(labels_path(settings), true);
    if (!found.notice.empty()) notice = found.notice;
    return labels_in(found.root.value("labels", Json()));
}

Result<HeadLabels> remember_labels(const fs::path& settings, std::span<const LabelEdit> edits) {
    TRY(const FileLock lock, lock_folder_of(settings));
    std::string notice;
    TRY(Json root, read_or_set_aside(labels_path(settings), notice));
    Json& labels = child(root, "labels");
    for (const LabelEdit& edit : edits) {
        if (edit.label.empty())
            child(labels, edit.model).erase(edit.head);
        else
            child(labels, edit.model)[edit.head] = edit.label;
    }
    TRY_STATUS(write_object(labels_path(settings), root));
    return labels_in(labels);
}

}  // namespace headlight

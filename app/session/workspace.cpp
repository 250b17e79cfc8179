#include "session/workspace.h"

#include <utility>

#include "base/utf8.h"
#include "hub/library.h"
#include "io/file_version.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "session/adopt.h"
#include "session/conversation.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {
constexpr const char* kFormat = "headlight-workspace";
constexpr std::string_view kEnding = ".headlight.json";

/// Unknown fields that a newer version wrote, as JSON; "" if none.
std::string unknown_fields(Json root, std::span<const StateVisit> visits) {
    for (const std::string& key : workspace_fields(visits)) root.erase(key);
    root.erase("format");
    root.erase("version");
    return root.empty() ? "" : json_text(root);
}

/// Resolves relative paths against the workspace's folder.
std::string spelled_model(const std::string& model, const fs::path& folder) {
    std::error_code ignored;
    if (model.empty() || fs::path(model).is_absolute()) return model_key(model);
    const fs::path there = fs::absolute(folder / model, ignored);
    return model_key(!folder.empty() && fs::exists(there, ignored) ? there.string() : model);
}

}  // namespace

void spell_models(Document& d, const fs::path& folder) {
    auto all = std::exchange(d.changes_of, {});
    auto own = all.extract(d.wanted.path);
    d.wanted.path = spelled_model(d.wanted.path, folder);
    d.comparison.model = spelled_model(d.comparison.model, folder);
    if (own) d.changes_of.emplace(d.wanted.path, std::move(own.mapped()));
    for (auto& [model, changes] : all) d.changes_of.emplace(spelled_model(model, folder), std::move(changes));
}

bool is_workspace(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.size() > kEnding.size() &&
           std::string_view(name).substr(name.size() - kEnding.size()) == kEnding;
}

Result<Session> parse_workspace(std::string_view text, const std::string& name, Session session) {
    TRY(const Json root, parse_json(text, name));
    const Error foreign{name +
                        " is not a Headlight workspace; choose a .headlight.json file that Headlight saved."};
    if (!root.is_object()) return foreign;
    TRY(const std::string format, json_string(root, "format", "", name));
    if (format != kFormat) return foreign;
    TRY_STATUS(check_version(root, name));
    session = without_document(std::move(session));
    FieldReader reader(root, name);
    visit_workspace(session, reader);
    TRY_STATUS(reader.status());
    TRY_STATUS(check_conversation(session.document.conversation, name));
    const std::string_view known = find_colormap(session.preferences.colormap);
    session.preferences.colormap = known.empty() ? "beam" : std::string(known);
    session.selection.choose_head = !root.contains("layer");
    session.document.unknown_fields = unknown_fields(root, session.visits);
    return session;
}

Result<Session> open_workspace(const fs::path& path, Session session) {
    TRY(const auto file, MappedFile::open(path));
    TRY(Session opened, parse_workspace(file->text(), display_path(path), std::move(session)));
    spell_models(opened.document, path.parent_path());
    opened.document.workspace = path.string();
    return opened;
}

Result<Json> workspace_document(Session session) {
    note_changes(session.document);
    Json root = Json::object();
    if (const std::string& unknown = session.document.unknown_fields; !unknown.empty()) {
        TRY(root, parse_json(unknown, session.document.workspace));
    }
    FieldWriter writer(root);
    visit_workspace(session, writer);
    TRY_STATUS(writer.status());
    root["format"] = kFormat;
    root["version"] = kFileVersion;
    return root;
}

Status save_workspace(const Session& session, const fs::path& path) {
    TRY(const Json document, workspace_document(session));
    return write_file(path, json_text(document, 2) + "\n");
}

}  // namespace headlight

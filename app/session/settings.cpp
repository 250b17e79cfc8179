#include "session/settings.h"

#include "io/folder.h"
#include "io/mapped_file.h"
#include "session/adopt.h"
#include "session/workspace.h"

namespace headlight {

namespace fs = std::filesystem;

fs::path settings_path() { return config_folder() / "headlight" / "settings.json"; }

fs::path recovery_folder() { return settings_path().parent_path() / "recovery"; }

Session read_settings(const Json& root, const std::string& name, std::span<const StateVisit> visits) {
    Session s;
    s.visits = visits;
    FieldReader reader(root, name, true);
    visit_preferences(s, reader);
    visit_workspace(s, reader);
    spell_models(s.document);
    const std::string_view known = find_colormap(s.preferences.colormap);
    s.preferences.colormap = known.empty() ? "beam" : std::string(known);
    s.selection.choose_head = !root.contains("layer");
    return s;
}

Session load_settings(const fs::path& path, bool own, bool whole, std::span<const StateVisit> visits) {
    FoundFile found = find_remembered(path, own);
    if (!whole)
        for (const std::string& field : workspace_fields(visits)) found.root.erase(field);
    Session s = read_settings(found.root, display_path(path), visits);
    s.notice = std::move(found.notice);
    if (own) s.document.head_labels = find_labels(path, s.notice);
    return s;
}

std::vector<std::string> recent_models(const fs::path& path) {
    return read_settings(find_remembered(path, false).root, display_path(path)).preferences.recent_models;
}

Result<Json> settings_fields(Session session) {
    note_changes(session.document);
    Json root = Json::object();
    FieldWriter writer(root);
    visit_preferences(session, writer);
    visit_workspace(session, writer);
    TRY_STATUS(writer.status());
    return root;
}

std::set<std::string> workspace_fields(std::span<const StateVisit> visits) {
    Session session;
    session.visits = visits;
    Json root = Json::object();
    FieldWriter writer(root);
    visit_workspace(session, writer);
    std::set<std::string> out;
    for (const auto& [key, value] : root.items()) out.insert(key);
    return out;
}

}  // namespace headlight

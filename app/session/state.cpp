#include "session/state.h"

#include <algorithm>
#include <cstdlib>

#include "base/quoted.h"
#include "base/utf8.h"
#include "io/mapped_file.h"
#include "session/remembered.h"

namespace headlight {

namespace fs = std::filesystem;

void note_changes(ViewState& s, const ModelConfig& config) {
    s.mask = s.intervention.mask.name();
    s.changes.clear();
    for (const Change& change : s.intervention.changes) s.changes.push_back(change_name(config, change));
}

void restore_changes(ViewState& s, const ModelConfig& config) {
    Intervention wanted;
    std::string refused;
    if (auto mask = Mask::parse(s.mask))
        wanted.mask = *std::move(mask);
    else
        refused = "mask " + s.mask;
    for (const std::string& text : s.changes) {
        if (auto change = parse_change(config, text))
            wanted.changes.push_back(*std::move(change));
        else
            refused = text;
    }
    s.intervention = std::move(wanted);
    s.changes_wait = false;
    if (!refused.empty())
        s.notice =
            "A remembered intervention does not fit this model and was left out: " + shortened(refused);
}

fs::path settings_path() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    const fs::path base =
        config && *config ? fs::path(config) : fs::path(home && *home ? home : ".") / ".config";
    return base / "headlight" / "settings.json";
}

fs::path recovery_folder() { return settings_path().parent_path() / "recovery"; }

ViewState read_settings(const Json& root, const std::string& name) {
    ViewState s;
    const Reader reader{root, name, true};
    [[maybe_unused]] const Status person = visit_preferences(s, reader),
                                  looked_at = visit_workspace(s, reader);
    s.changes_wait = true;
    const std::string_view known = find_colormap(s.colormap);
    s.colormap = known.empty() ? "beam" : std::string(known);
    s.choose_head = !root.contains("layer");
    return s;
}

ViewState load_settings(const fs::path& path, bool own, bool whole) {
    FoundFile found = find_remembered(path, own);
    if (!whole)
        for (const std::string& field : workspace_fields()) found.root.erase(field);
    ViewState s = read_settings(found.root, display_path(path));
    s.notice = std::move(found.notice);
    if (own)
        s.head_labels = find_labels(path, s.notice);
    else if (found.root.contains("head_labels"))
        s.head_labels = labels_in(found.root["head_labels"]);
    return s;
}

std::vector<std::string> recent_models(const fs::path& path) {
    return read_settings(find_remembered(path, false).root, display_path(path)).recent_models;
}

Result<Json> settings_fields(const ViewState& s) {
    Writer writer;
    ViewState copy = s;
    TRY_STATUS(visit_preferences(copy, writer));
    TRY_STATUS(visit_workspace(copy, writer));
    return writer.root;
}

const std::set<std::string>& workspace_fields() {
    static const std::set<std::string> fields = [] {
        Writer writer;
        ViewState s;
        [[maybe_unused]] const Status written = visit_workspace(s, writer);
        std::set<std::string> out;
        for (const auto& [key, value] : writer.root.items()) out.insert(key);
        return out;
    }();
    return fields;
}

}  // namespace headlight

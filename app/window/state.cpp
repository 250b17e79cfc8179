#include "window/state.h"

#include <algorithm>
#include <cstdlib>

#include "base/quoted.h"
#include "base/utf8.h"
#include "io/output_file.h"
#include "window/remembered.h"

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
    if (auto mask = Mask::parse(s.mask)) wanted.mask = *std::move(mask);
    else refused = "mask " + s.mask;
    for (const std::string& text : s.changes) {
        if (auto change = parse_change(config, text)) wanted.changes.push_back(*std::move(change));
        else refused = text;
    }
    s.intervention = std::move(wanted);
    s.changes_wait = false;
    if (!refused.empty()) s.notice = "A remembered change does not fit this model and was left out: " + shortened(refused);
}

fs::path settings_path() {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    const char* home = std::getenv("HOME");
    const fs::path base = config && *config ? fs::path(config) : fs::path(home && *home ? home : ".") / ".config";
    return base / "headlight" / "settings.json";
}

Result<ViewState> parse_settings(std::string_view text, const std::string& name) {
    TRY(const Json root, parse_json(text, name));
    if (!root.is_object()) return Error{name + " is no object."};
    ViewState s;
    TRY_STATUS(visit_preferences(s, Reader{root, name}));
    TRY_STATUS(visit_workspace(s, Reader{root, name}));
    s.changes_wait = true;
    if (!is_colormap(s.colormap)) s.colormap = "beam";
    s.choose_head = !root.contains("layer");
    return s;
}

ViewState load_settings(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return {};
    const auto file = MappedFile::open(path);
    auto settings = file ? parse_settings((*file)->text(), display_path(path)) : Result<ViewState>(file.error());
    if (settings) return *std::move(settings);
    ViewState fresh;
    fs::rename(path, path.string() + ".broken", ignored);
    fresh.notice = "The settings could not be read and were set aside as " + path.filename().string() + ".broken.";
    return fresh;
}

std::vector<std::string> recent_models(const fs::path& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return {};
    const auto file = MappedFile::open(path);
    const auto settings = file ? parse_settings((*file)->text(), display_path(path)) : Result<ViewState>(file.error());
    return settings ? settings->recent_models : std::vector<std::string>();
}

Status save_settings(const ViewState& s, const fs::path& path) {
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    Writer writer;
    ViewState copy = s;
    TRY_STATUS(visit_preferences(copy, writer));
    TRY_STATUS(visit_workspace(copy, writer));
    return write_file(path, writer.root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace headlight

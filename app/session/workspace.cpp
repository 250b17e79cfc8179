#include "session/workspace.h"

#include "base/utf8.h"
#include "io/mapped_file.h"
#include "io/output_file.h"
#include "session/remembered.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {
constexpr const char* kFormat = "headlight-workspace";
constexpr int kVersion = 1;
constexpr std::string_view kEnding = ".headlight.json";

/// A path beside the file, where there is something.
void find_beside(const fs::path& file, std::string& model) {
    std::error_code ignored;
    if (model.empty() || fs::path(model).is_absolute()) return;
    const fs::path beside = file.parent_path() / model;
    if (fs::exists(beside, ignored)) model = fs::absolute(beside, ignored).lexically_normal().string();
}

/// Paths that do not depend on where the program was started; names stay.
void make_absolute(std::string& model) {
    std::error_code ignored;
    if (!model.empty() && fs::exists(model, ignored))
        model = fs::absolute(model, ignored).lexically_normal().string();
}
}  // namespace

bool is_workspace(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.size() > kEnding.size() &&
           std::string_view(name).substr(name.size() - kEnding.size()) == kEnding;
}

Result<ViewState> parse_workspace(std::string_view text, const std::string& name, ViewState state) {
    TRY(const Json root, parse_json(text, name));
    const Error foreign{name +
                        " is not a Headlight workspace; choose a .headlight.json file that Headlight saved."};
    if (!root.is_object()) return foreign;
    TRY(const std::string format, json_string(root, "format", "", name));
    if (format != kFormat) return foreign;
    TRY(const int64_t version, json_integer(root, "version", 0, 0, 1 << 20, name));
    if (version > kVersion)
        return Error{name + " was saved by a newer version of Headlight; open it with that one."};
    state.mask = "own";
    state.changes.clear();
    state.locked.reset();
    state.alignment = {};
    TRY_STATUS(visit_workspace(state, Reader{root, name}));
    const std::string_view known = find_colormap(state.colormap);
    state.colormap = known.empty() ? "beam" : std::string(known);
    state.choose_head = !root.contains("layer");
    state.changes_wait = true;
    state.hovered.reset();
    return state;
}

Result<ViewState> open_workspace(const fs::path& path, ViewState state) {
    TRY(const auto file, MappedFile::open(path));
    TRY(ViewState opened, parse_workspace(file->text(), display_path(path), std::move(state)));
    find_beside(path, opened.model_path);
    find_beside(path, opened.other_model);
    opened.workspace = path.string();
    return opened;
}

Result<Json> workspace_document(const ViewState& state) {
    Writer writer;
    ViewState copy = state;
    make_absolute(copy.model_path);
    make_absolute(copy.other_model);
    TRY_STATUS(visit_workspace(copy, writer));
    writer.root["format"] = kFormat;
    writer.root["version"] = kVersion;
    return writer.root;
}

Status save_workspace(const ViewState& state, const fs::path& path) {
    TRY(const Json document, workspace_document(state));
    return write_file(path, document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace headlight

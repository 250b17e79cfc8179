#include "window/state.h"

#include <algorithm>
#include <cstdlib>

#include "base/utf8.h"
#include "io/json.h"
#include "io/output_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {
constexpr size_t kMostRecent = 8, kLongestText = 20'000, kMostLabels = 20'000;

/// The table of what is remembered: one row a field, read and written by the two visitors below.
template <class Visitor>
Status visit_fields(ViewState& s, Visitor&& v) {
    TRY_STATUS(v.text("model", s.model_path));
    TRY_STATUS(v.text("text", s.text));
    TRY_STATUS(v.text("second", s.second));
    TRY_STATUS(v.list("recent_models", s.recent_models));
    TRY_STATUS(v.list("recent_texts", s.recent_texts));
    TRY_STATUS(v.flag("dark", s.dark));
    TRY_STATUS(v.number("text_size", s.text_size, 0.75f, 2));
    TRY_STATUS(v.text("colormap", s.colormap));
    TRY_STATUS(v.integer("scale", s.scale, 0, 2));
    TRY_STATUS(v.integer("queries", s.queries, 0, 1));
    TRY_STATUS(v.integer("marks", s.marks, 0, 1));
    TRY_STATUS(v.integer("rank", s.rank, kRankByCell, static_cast<int>(kStatistics) - 1));
    TRY_STATUS(v.flag("hints_seen", s.hints_seen));
    TRY_STATUS(v.integer("width", s.window_width, 320, 30000));
    TRY_STATUS(v.integer("height", s.window_height, 240, 30000));
    TRY_STATUS(v.integer("layer", s.site, 0, 100000));
    TRY_STATUS(v.integer("head", s.head, 0, 100000));
    TRY_STATUS(v.labels("head_labels", s.head_labels));
    TRY_STATUS(v.number("link_share", s.link_share, 0.01f, 1));
    TRY_STATUS(v.integer("delta_show", s.delta_show, 0, 2));
    TRY_STATUS(v.flag("delta_per_layer", s.delta_per_layer));
    TRY_STATUS(v.integer("delta_split", s.delta_split, 0, 2));
    TRY_STATUS(v.flag("delta_paths", s.delta_paths));
    TRY_STATUS(v.number("graph_share", s.graph_share, 0.01f, 1));
    TRY_STATUS(v.flag("graph_flow", s.graph_flow));
    TRY_STATUS(v.integer("heads_layout", s.heads_layout, 0, 3));
    TRY_STATUS(v.integer("heads_sort", s.heads_sort, 0, 100));
    TRY_STATUS(v.integer("heads_scale", s.heads_scale, 0, 2));
    TRY_STATUS(v.number("heads_kept", s.heads_kept, 0, 1));
    TRY_STATUS(v.number("heads_zoom", s.heads_zoom, 0.25f, 12));
    return success();
}

/// Takes what the file has and leaves the rest as it is.
struct Reader {
    const Json& root;
    const std::string& name;

    Status text(const char* key, std::string& out) const {
        TRY(out, json_string(root, key, out, name));
        return success();
    }
    Status flag(const char* key, bool& out) const {
        TRY(out, json_boolean(root, key, out, name));
        return success();
    }
    Status number(const char* key, float& out, float low, float high) const {
        TRY(const double value, json_number(root, key, out, name));
        out = std::clamp(static_cast<float>(value), low, high);
        return success();
    }
    template <class T>
    Status integer(const char* key, T& out, int low, int high) const {
        TRY(const int64_t value, json_integer(root, key, static_cast<int64_t>(out), low, high, name));
        out = static_cast<T>(value);
        return success();
    }
    Status list(const char* key, std::vector<std::string>& out) const {
        const auto it = root.find(key);
        if (it == root.end() || !it->is_array()) return success();
        for (const Json& s : *it)
            if (s.is_string() && out.size() < kMostRecent && s.get_ref<const std::string&>().size() <= kLongestText) out.push_back(s.get<std::string>());
        return success();
    }
    Status labels(const char* key, std::map<std::string, std::map<std::string, std::string>>& out) const {
        const auto it = root.find(key);
        if (it == root.end() || !it->is_object()) return success();
        size_t count = 0;
        for (const auto& [model, heads] : it->items()) {
            if (!heads.is_object()) continue;
            for (const auto& [head, label] : heads.items())
                if (label.is_string() && label.get_ref<const std::string&>().size() <= 200 && ++count <= kMostLabels) out[model][head] = label.get<std::string>();
        }
        return success();
    }
};

struct Writer {
    nlohmann::ordered_json root = nlohmann::ordered_json::object();

    Status text(const char* key, const std::string& value) {
        root[key] = value.size() <= kLongestText ? value : "";
        return success();
    }
    Status flag(const char* key, bool value) {
        root[key] = value;
        return success();
    }
    Status number(const char* key, float value, float, float) {
        root[key] = value;
        return success();
    }
    template <class T>
    Status integer(const char* key, T value, int, int) {
        root[key] = static_cast<int>(value);
        return success();
    }
    Status list(const char* key, const std::vector<std::string>& value) {
        root[key] = value;
        return success();
    }
    Status labels(const char* key, const std::map<std::string, std::map<std::string, std::string>>& value) {
        root[key] = value;
        return success();
    }
};

}  // namespace

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
    TRY_STATUS(visit_fields(s, Reader{root, name}));
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
    TRY_STATUS(visit_fields(copy, writer));
    TRY(const auto out, OutputFile::create(path));
    out->write(writer.root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return out->commit();
}

}  // namespace headlight

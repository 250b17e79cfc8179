#include "window/state.h"

#include <cstdlib>

#include "base/utf8.h"
#include "io/json.h"
#include "io/output_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {
constexpr size_t kMostRecent = 8, kLongestText = 20'000;

Result<std::vector<std::string>> string_list(const Json& root, const char* key) {
    std::vector<std::string> out;
    const auto it = root.find(key);
    if (it == root.end() || !it->is_array()) return out;
    for (const Json& s : *it)
        if (s.is_string() && out.size() < kMostRecent && s.get_ref<const std::string&>().size() <= kLongestText) out.push_back(s.get<std::string>());
    return out;
}
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
    const auto integer = [&](const char* key, int64_t low, int64_t high, int& out) -> Status {
        TRY(const int64_t value, json_integer(root, key, out, low, high, name));
        out = static_cast<int>(value);
        return success();
    };
    TRY(s.model_path, json_string(root, "model", s.model_path, name));
    TRY(s.text, json_string(root, "text", "", name));
    TRY(s.second, json_string(root, "second", "", name));
    TRY(s.recent_models, string_list(root, "recent_models"));
    TRY(s.recent_texts, string_list(root, "recent_texts"));
    TRY(s.dark, json_boolean(root, "dark", true, name));
    TRY(const double text_size, json_number(root, "text_size", 1.0, name));
    s.text_size = static_cast<float>(std::clamp(text_size, 0.75, 2.0));
    TRY(s.colormap, json_string(root, "colormap", "beam", name));
    if (!is_colormap(s.colormap)) s.colormap = "beam";
    int scale = 0, queries = 0;
    TRY_STATUS(integer("scale", 0, 2, scale));
    TRY_STATUS(integer("queries", 0, 1, queries));
    s.scale = static_cast<Scale>(scale);
    s.queries = static_cast<Axis>(queries);
    TRY_STATUS(integer("rank", kRankByCell, static_cast<int>(kStatistics) - 1, s.rank));
    TRY(s.hints_seen, json_boolean(root, "hints_seen", false, name));
    TRY_STATUS(integer("width", 320, 30000, s.window_width));
    TRY_STATUS(integer("height", 240, 30000, s.window_height));
    TRY_STATUS(integer("layer", 0, 100000, s.site));
    TRY_STATUS(integer("head", 0, 100000, s.head));
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
    const nlohmann::ordered_json root{{"model", s.model_path}, {"text", s.text.size() <= kLongestText ? s.text : ""}, {"second", s.second.size() <= kLongestText ? s.second : ""}, {"recent_models", s.recent_models},
                                      {"recent_texts", s.recent_texts}, {"dark", s.dark}, {"text_size", s.text_size}, {"colormap", s.colormap},
                                      {"scale", static_cast<int>(s.scale)}, {"queries", static_cast<int>(s.queries)}, {"rank", s.rank},
                                      {"hints_seen", s.hints_seen}, {"width", s.window_width}, {"height", s.window_height}, {"layer", s.site}, {"head", s.head}};
    TRY(const auto out, OutputFile::create(path));
    out->write(root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    return out->commit();
}

}  // namespace headlight

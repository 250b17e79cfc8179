// Lists folders and resolves paths.
#include "io/folder.h"

#include <algorithm>
#include <cstdlib>

namespace headlight {

namespace fs = std::filesystem;

std::vector<fs::path> folder_entries(const fs::path& folder, size_t max) {
    std::vector<fs::path> out;
    std::error_code error;
    for (auto it = fs::directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
         !error && it != fs::directory_iterator() && out.size() < max; it.increment(error))
        out.push_back(it->path());
    std::sort(out.begin(), out.end());
    return out;
}

std::string environment_text(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

fs::path config_folder() {
    const std::string config = environment_text("XDG_CONFIG_HOME"), home = environment_text("HOME");
    return config.empty() ? fs::path(home.empty() ? "." : home) / ".config" : fs::path(config);
}

fs::path cache_folder() {
    const std::string cache = environment_text("XDG_CACHE_HOME");
    return cache.empty() ? fs::path(environment_text("HOME")) / ".cache" : fs::path(cache);
}

fs::path expand_home(const fs::path& typed) {
    const std::string home = environment_text("HOME"), text = typed.string();
    if (home.empty() || (text != "~" && text.rfind("~/", 0) != 0)) return typed;
    return fs::path(home) / text.substr(std::min<size_t>(2, text.size()));
}

fs::path absolute_path(const fs::path& path) {
    std::error_code error;
    const fs::path whole = fs::absolute(path, error);
    return (error ? path : whole).lexically_normal();
}

}  // namespace headlight

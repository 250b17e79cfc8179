#include "session/save_path.h"

#include <sstream>

#include "io/folder.h"
#include "io/regular_file.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

bool is_folder(const fs::path& path) {
    std::error_code ignored;
    return !path.empty() && fs::is_directory(path, ignored);
}

fs::path desktop_folder(const std::string& name, const char* usual) {
    const fs::path home = environment_text("HOME");
    const std::string text = beginning_of(config_folder() / "user-dirs.dirs", 64 << 10);
    for (const fs::path& folder : {named_folder(text, name, home), home.empty() ? home : home / usual, home})
        if (is_folder(folder)) return folder;
    return current_folder();
}

}  // namespace

fs::path current_folder() {
    std::error_code ignored;
    return fs::current_path(ignored);
}

fs::path pictures_folder() { return desktop_folder("PICTURES", "Pictures"); }
fs::path documents_folder() { return desktop_folder("DOCUMENTS", "Documents"); }

fs::path named_folder(const std::string& user_dirs, const std::string& name, const fs::path& home) {
    const std::string key = "XDG_" + name + "_DIR=\"", in_home = "$HOME/";
    std::istringstream lines(user_dirs);
    for (std::string line; std::getline(lines, line);) {
        const size_t end = line.rfind('"');
        if (line.rfind(key, 0) != 0 || end < key.size()) continue;
        const std::string value = line.substr(key.size(), end - key.size());
        if (value.rfind(in_home, 0) == 0 && !home.empty()) return home / value.substr(in_home.size());
        if (!value.empty() && value[0] == '/') return value;
    }
    return {};
}

fs::path full_path(const std::string& typed, const fs::path& folder) {
    if (typed.empty()) return {};
    return (folder / expand_home(typed)).lexically_normal();
}

fs::path next_free(const fs::path& path) {
    std::error_code ignored;
    const std::string name = path.filename().string();
    const size_t dot = name.find('.', 1);
    const std::string stem = name.substr(0, dot), ending = dot == std::string::npos ? "" : name.substr(dot);
    fs::path out = path;
    for (int i = 2; fs::exists(fs::symlink_status(out, ignored)) && i < 10'000; ++i)
        out = path.parent_path() / (stem + "-" + std::to_string(i) + ending);
    return out;
}

}  // namespace headlight

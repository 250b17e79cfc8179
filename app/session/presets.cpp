#include "session/presets.h"

#include <algorithm>

#include "base/quoted.h"
#include "io/folder.h"
#include "session/settings.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

fs::path folder() { return settings_path().parent_path() / "figures"; }

bool is_name(const std::string& name) {
    const auto fits = [](unsigned char c) {
        return std::isalnum(c) || c >= 128 || c == ' ' || c == '-' || c == '_';
    };
    return !name.empty() && name.size() <= 60 && std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

std::vector<FigurePreset> all_presets() {
    std::vector<FigurePreset> out(built_in_presets().begin(), built_in_presets().end());
    const size_t built_in = out.size();
    for (const fs::path& file : folder_entries(folder())) {
        auto preset = file.extension() == ".json" ? open_preset(file) : Result<FigurePreset>(Error{""});
        if (preset) out.push_back(*std::move(preset));
    }
    std::sort(out.begin() + built_in, out.end(),
              [](const FigurePreset& a, const FigurePreset& b) { return a.name < b.name; });
    return out;
}

Result<FigurePreset> find_preset(const std::string& wanted) {
    std::string names;
    for (FigurePreset& preset : all_presets()) {
        if (preset.name == wanted) return std::move(preset);
        names += (names.empty() ? "" : ", ") + preset.name;
    }
    std::error_code ignored;
    if (fs::exists(wanted, ignored)) return open_preset(wanted);
    return Error{"There is no preset " + in_quotes(wanted) + "; choose from " + names +
                 ", or give the path of a preset file."};
}

bool is_built_in_preset(const std::string& name) {
    const auto presets = built_in_presets();
    return std::any_of(presets.begin(), presets.end(), [&](const FigurePreset& p) { return p.name == name; });
}

Status save_preset(const FigurePreset& preset) {
    if (!is_name(preset.name)) return Error{"Name the preset with letters, digits and spaces."};
    if (is_built_in_preset(preset.name))
        return Error{"The name " + in_quotes(preset.name) + " belongs to a built-in preset; choose another."};
    std::error_code ignored;
    fs::create_directories(folder(), ignored);
    return save_preset(folder() / (preset.name + ".json"), preset);
}

}  // namespace headlight

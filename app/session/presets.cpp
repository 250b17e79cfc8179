#include "session/presets.h"

#include <algorithm>

#include "base/quoted.h"
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

std::vector<FigurePreset> known_presets() {
    std::vector<FigurePreset> out(built_in_presets().begin(), built_in_presets().end());
    const size_t built_in = out.size();
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder(), ignored)) {
        auto preset =
            entry.path().extension() == ".json" ? open_preset(entry.path()) : Result<FigurePreset>(Error{""});
        if (preset) out.push_back(*std::move(preset));
    }
    std::sort(out.begin() + built_in, out.end(),
              [](const FigurePreset& a, const FigurePreset& b) { return a.name < b.name; });
    return out;
}

Result<FigurePreset> find_preset(const std::string& wanted) {
    std::string names;
    for (FigurePreset& preset : known_presets()) {
        if (preset.name == wanted) return std::move(preset);
        names += (names.empty() ? "" : ", ") + preset.name;
    }
    std::error_code ignored;
    if (fs::exists(wanted, ignored)) return open_preset(wanted);
    return Error{"There is no preset " + in_quotes(wanted) + ": there are " + names +
                 "; or give the path of a preset file."};
}

Status keep_preset(const FigurePreset& preset) {
    if (!is_name(preset.name)) return Error{"The preset needs a name of letters, digits and blanks."};
    const auto presets = built_in_presets();
    if (std::any_of(presets.begin(), presets.end(),
                    [&](const FigurePreset& p) { return p.name == preset.name; }))
        return Error{"The name " + in_quotes(preset.name) + " belongs to a built-in preset; choose another."};
    std::error_code ignored;
    fs::create_directories(folder(), ignored);
    return save_preset(folder() / (preset.name + ".json"), preset);
}

}  // namespace headlight

// Figure presets that you save, one small file each beside the settings.
#pragma once

#include <string>
#include <vector>

#include "figure/style.h"

namespace headlight {

/// Built-in presets, then saved ones, by name; skips unreadable files.
std::vector<FigurePreset> all_presets();

/// A preset by name, or a preset file by path.
Result<FigurePreset> find_preset(const std::string& name_or_path);

bool is_built_in_preset(const std::string& name);

/// Saves a preset under its name, replacing an older one; names are letters, digits, spaces, - and _.
Status save_preset(const FigurePreset& preset);

}  // namespace headlight

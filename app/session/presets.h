// Figure presets that a person keeps, one small file each beside the settings.
#pragma once

#include <string>
#include <vector>

#include "figure/style.h"

namespace headlight {

/// Those built in, then those kept, by name; files that cannot be read are left out.
std::vector<FigurePreset> known_presets();

/// A preset by name, or a preset file by path.
Result<FigurePreset> find_preset(const std::string& name_or_path);

bool is_built_in_preset(const std::string& name);

/// Keeps a preset under its name, over an older one of that name; names are letters, digits, blanks, - and _.
Status keep_preset(const FigurePreset& preset);

}  // namespace headlight

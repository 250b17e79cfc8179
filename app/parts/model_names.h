// The models on this computer, and how they are called wherever their paths are listed.
#pragma once

#include <string>
#include <vector>

#include "hub/library.h"
#include "parts/scene.h"

namespace headlight {

struct ModelMenu {
    std::string path;               // as typed
    std::vector<FoundModel> found;  // models on this computer, once they were looked for
    bool found_all = false;
    float scroll = 0;
};

/// The name of the model at a path, as it was opened or found; the disk is not asked for it.
std::string shown_model_name(const Scene& scene, const std::string& path);

}  // namespace headlight

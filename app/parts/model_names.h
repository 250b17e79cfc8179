// Names the models on this computer.
#pragma once

#include <string>
#include <vector>

#include "hub/library.h"
#include "parts/scene.h"

namespace headlight {

struct ModelMenu {
    std::string path;               // as typed
    std::vector<FoundModel> found;  // models on this computer, once searched
    bool found_all = false;
    float scroll = 0;
};

/// The name of an opened or found model; never reads the disk.
std::string shown_model_name(const Scene& scene, const std::string& path);

}  // namespace headlight

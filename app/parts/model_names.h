// How models are called, wherever their paths are listed.
#pragma once

#include <string>

#include "parts/scene.h"

namespace headlight {

/// The name of the model at a path, which the disk is asked for once.
const std::string& shown_model_name(Scene& scene, const std::string& path);

}  // namespace headlight

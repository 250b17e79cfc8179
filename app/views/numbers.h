// What a view shows, as tables.
#pragma once

#include "io/numbers.h"
#include "views/scene.h"

namespace headlight {

/// Those of the view that is shown.
std::vector<NumberTable> shown_numbers(const Scene& scene);

}  // namespace headlight

// Reports what the window shows as JSON, for tests.
#pragma once

#include "io/json.h"
#include "window/window_state.h"

namespace headlight {

Json window_report(WindowState& state);

}  // namespace headlight

// The menu of the metric: its kind, its tokens by click or typed, its position.
#pragma once

#include "parts/metric.h"

namespace headlight {

/// Chooses the first token that goes with what was typed.
void accept_typed_token(CommandContext& context);
void draw_metric_menu(Scene& scene, Rect window);

}  // namespace headlight

// The metric menu: kind, tokens by click or typing, position.
#pragma once

#include "parts/metric.h"

namespace headlight {

/// Selects the first token that matches the typed text.
void accept_typed_token(CommandContext& context);
void draw_metric_menu(Scene& scene, Rect window);

}  // namespace headlight
